"""Every statement once, for both dialects, as pure functions that return a `Query`.

Values are always parameters. Names of tables and columns come from `api.store.tables`, which takes
them from the catalog. Arithmetic uses whole numbers only: buckets are ``ts / length * length``.
"""
