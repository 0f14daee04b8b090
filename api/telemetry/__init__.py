"""What is noted while things happen: who asked what and how long it took, for logs and metrics.

At the bottom of the layers, so that everything may note; it knows nothing of what it counts.
"""
