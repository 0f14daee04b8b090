"""What the web itself writes, which must never wait behind a bulk import: embeds."""
