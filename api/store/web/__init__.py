"""The web's own data (embeds), separate so that it never waits for a bulk import."""
