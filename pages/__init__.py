"""One file a page. Pages are islands: none imports another."""
