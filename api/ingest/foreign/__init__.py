"""Files that nobody shaped for Weir: what they mean is guessed, shown, corrected and then read.

`guess` makes a `Mapping` of a file's first rows; `convert` reads a whole file by a mapping. Both
are used by the command line and by the service.
"""
