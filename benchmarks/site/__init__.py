"""The site as people meet it: real processes behind a socket, many dashboards, a real browser."""
