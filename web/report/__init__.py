"""Reports as PDF, by address and from the command line."""
