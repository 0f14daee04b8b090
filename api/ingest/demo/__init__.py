"""The demo fleet: simulated meters whose readings are a pure function of seed, meter and time.

So a history can be reproduced, and a stopped live feed continues as if it hadn't stopped.
"""
