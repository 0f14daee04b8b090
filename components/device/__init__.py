"""One device's page: what it says beside its chart. Numbers and words are pure; asking is apart."""
