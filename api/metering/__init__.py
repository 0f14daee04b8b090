"""What readings mean: the pure rules of meters, each said once. No store, no HTTP, no drawing."""
