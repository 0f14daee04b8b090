"""Dash components: what pages share, and one folder for each page."""
