"""The site as users meet it: real processes behind a socket, many dashboards, a real browser."""
