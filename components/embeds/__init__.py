"""Managing embeds: the form, the list, and the one that is looked at, with its preview."""
