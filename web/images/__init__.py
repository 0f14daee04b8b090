"""Images of what the screen shows, rendered by the server: the same figure with a caption.

`components.image_query` reads addresses; `chart`, `cards`, `wall` and `compare` make the images;
`svg` has the building blocks of those that plotly.js doesn't draw; `routes` responds;
`signed_links` gives access by signed addresses.
"""
