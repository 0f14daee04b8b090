"""Alerts: which findings, states and values people are notified of, and when.

`rules` validates rules; `conditions` finds where one holds; `state_machine` turns that into
episodes; `grouping` combines many messages into one. These are pure; `evaluator` applies them to
the store.
"""
