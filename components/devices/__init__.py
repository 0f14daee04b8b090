"""The list of devices: queries, rows and layout."""
