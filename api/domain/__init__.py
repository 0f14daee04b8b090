"""Rules of the interface, one per file, without HTTP."""
