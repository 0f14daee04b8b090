"""Sign-in, sessions, and the middleware that every request of the dashboard goes through.

==================  ================================================================================
`rules`             every decision, as a function of a request's facts; no state, no clock
`session_cookie`    what a session is, sealed into a cookie and opened again; which were signed out
`sign_in`           the sign-in page, a pasted key tried on the service, and whether one still holds
`middleware`        the WSGI layer that puts them together
==================  ================================================================================
"""

from web.auth.middleware import Access, AuthMiddleware

__all__ = ["Access", "AuthMiddleware"]
