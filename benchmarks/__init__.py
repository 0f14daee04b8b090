"""How fast Weir answers, as ratios against the cheapest conceivable answer: `make bench`."""
