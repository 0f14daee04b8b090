"""Device statuses and findings: the service side of metering."""
