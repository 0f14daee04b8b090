"""Alerts: firing ones and the history; rules, receivers, billing and their forms."""
