"""The demo fleet: simulated meters whose readings are a pure function of seed, meter and time.

A history can therefore be reproduced, and a stopped live feed continues without a break.
"""
