"""Alerts: which findings, states and values somebody is notified of, and when.

`rules` validates rules; `conditions` finds where one holds; `state_machine` turns that into
episodes; `grouping` makes one message of many. These are pure; `evaluator` applies them to the
store.
"""
