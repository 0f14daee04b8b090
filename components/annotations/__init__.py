"""Notes, maintenance and corrections: on charts, as a list, and the deeds of their form."""
