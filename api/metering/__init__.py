"""What readings mean: the pure rules of meters, each defined once. No store, no HTTP, no
drawing."""
