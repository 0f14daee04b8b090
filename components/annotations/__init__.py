"""Notes, maintenance and corrections: on charts, as a list, and their form."""
