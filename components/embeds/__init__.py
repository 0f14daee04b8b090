"""Managing embeds: the form, the list, and the selected embed with its preview."""
