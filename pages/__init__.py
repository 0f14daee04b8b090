"""One file for each page. No page imports another."""
