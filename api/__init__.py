"""The service: readings in, and what they mean out. Draws nothing."""
