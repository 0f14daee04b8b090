"""The compare page: up to twelve devices or groups side by side."""
