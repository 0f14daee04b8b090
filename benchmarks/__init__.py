"""How fast Weir responds, as ratios to the fastest conceivable way of responding: `make bench`."""
