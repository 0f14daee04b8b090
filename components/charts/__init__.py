"""The figure of a chart, as plain data: pages, embeds and images draw the same one."""
