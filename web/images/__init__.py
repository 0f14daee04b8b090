"""Images of what is on the screen, drawn by the server: the very figure with a caption.

`query` reads an address; `figure`, `daily`, `weekly` and `wall` make what is drawn, `answers` is
what the addresses answer, `signed` lets in who has a signed address instead of a session.
"""
