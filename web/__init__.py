"""What the site needs around Dash: sign-in, downloads, images, static files, embeds."""
