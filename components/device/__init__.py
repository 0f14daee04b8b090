"""The device page beside its chart. Numbers and texts are pure; `queries.py` asks the client."""
