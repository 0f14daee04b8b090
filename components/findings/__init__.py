"""The inbox of findings: what is wrong, worst first, each with its evidence."""
