"""Access log, metrics, request records and the writer's status.

At the bottom of the layers, so that every module may use it.
"""
