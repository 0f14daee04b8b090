"""Alerts: which findings, states and values somebody must know of, and what is sent when.

`rules` say what; `conditions` tell where it holds; `machine` turns that into episodes; `grouping`
makes one message of many; `engine` reads and writes. All but the engine are pure.
"""
