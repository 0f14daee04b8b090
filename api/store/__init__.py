"""The store: readings, their rollups and the directory of devices, on SQLite or Postgres."""
