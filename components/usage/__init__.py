"""Usage: volume, cost, flow and uptime of chosen devices, by device and by local day."""
