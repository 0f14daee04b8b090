"""Images of what the screen shows, rendered by the server: the same figure with a caption.

`components.image_query` reads addresses; `figure`, `cards` and `wall` make the drawings; `routes`
responds; `signed_links` gives access by signed addresses.
"""
