"""Imports that were started in the browser, each in a folder of its own: `instance/imports/ID/`.

`folder` reads and writes its file and state, `service` has the service's operations on imports,
`job` is the process that reads the file, `import_spans` decides which readings an undo may delete.
"""
