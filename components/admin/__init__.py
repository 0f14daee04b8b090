"""What administrators look at: the audit log."""
