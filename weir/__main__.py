"""`python -m weir`."""

from weir.cli import main

main()
