"""Files in formats of other systems: their mapping is guessed, shown, corrected and then used.

`guess_mapping` derives a `Mapping` from a file's first rows; `convert` reads a whole file by a
mapping. Both are used by the command line and by the service.
"""
