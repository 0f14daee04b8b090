"""Authentication: from credentials to a principal and the devices it may see."""
