"""What the readings mean: findings, and what is told of them. The service side of metering."""
