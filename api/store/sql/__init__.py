"""Every statement once, for both dialects, as pure functions that return a `Query`.

Values are always parameters; the names in the texts come from `api.store.tables`, which takes
them from the catalog. Whole numbers only in arithmetic: buckets are ``ts / length * length``.
"""
