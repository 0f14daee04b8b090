"""The ways in: payloads, files and the demo fleet, all by one pipeline."""
