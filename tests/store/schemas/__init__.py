"""Every schema that was ever released, as the engines themselves wrote it down, with some rows.

A file never changes once it is here. After a new step: `python -m tests.store.schemas.freeze`.
"""
