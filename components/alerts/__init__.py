"""Alerts: what fires, its history; rules, receivers and their forms."""
