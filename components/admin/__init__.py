"""The administration pages and the audit log."""
