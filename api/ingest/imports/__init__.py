"""Imports started in the browser, each in its own folder: `instance/imports/ID/`.

`folder` reads and writes its file and state, `service` has the service's operations on imports,
`job` is the process that reads the file, and `import_spans` decides which readings an undo may
delete.
"""
