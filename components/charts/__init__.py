"""The figure of a chart as plain data, the same for pages, embeds and images."""
