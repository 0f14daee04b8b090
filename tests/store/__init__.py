"""The store's contract, tested on every database."""
