"""The inbox of findings: problems, worst first, each with its evidence."""
