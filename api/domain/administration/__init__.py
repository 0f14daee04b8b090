"""What administrators change, for the service and the command line alike: devices, groups, the
organization. Each change is recorded in its transaction."""
