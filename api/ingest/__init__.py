"""Ingest: payloads, files and the demo fleet, all through one pipeline."""
