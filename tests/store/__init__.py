"""The store's contract, each promise held to every dialect."""
