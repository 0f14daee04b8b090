"""Every released schema, as its database dumped it, with some rows.

A file never changes once it is released. After a new step: `python -m tests.store.schemas.freeze`.
"""
