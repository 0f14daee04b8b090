"""The demo fleet: simulated meters whose readings are a pure function of seed, meter and time.

So a history can be made again, and a live feed that was stopped goes on as if it had not been.
"""
