"""Files in forms of other systems: their meaning is guessed, shown, corrected and then read.

`guess_mapping` makes a `Mapping` of a file's first rows; `convert` reads a whole file by a mapping.
Both are used by the command line and by the service.
"""
