"""Imports begun in the browser: a folder each, `instance/imports/ID/`, with the file and its state.

`folder` is what lies there, `service` what the service does with it, `job` what the process does
that reads the file, `spans` which readings an undo may delete.
"""
