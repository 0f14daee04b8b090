"""Access log, metrics, request records and the writer's status.

The lowest layer, so that every module may use it.
"""
