"""Images of what is on the screen, drawn by the server: the very figure with a caption.

Addresses are read by `components.image_query`; `figure`, `cards` and `wall` make what is drawn,
`routes` answers, `signed_links` lets in who has a signed address instead of a session.
"""
