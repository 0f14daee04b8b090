"""The device page except for its chart. KPIs and texts are pure; `queries.py` uses the client."""
