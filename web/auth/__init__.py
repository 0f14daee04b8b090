"""Sign-in, sessions, and the middleware that every request of the dashboard goes through.

==================  ================================================================================
`rules`             every decision, as a function of a request's facts; no state, no clock
`session_cookie`    what a session is, sealed into a cookie and opened again; which were signed out
`sign_in`           the sign-in page, and a pasted key tried on the service
`credential_check`  whether the service still accepts a credential
`middleware`        the WSGI layer that puts them together
==================  ================================================================================
"""

from web.auth.middleware import Access, AuthMiddleware

__all__ = ["Access", "AuthMiddleware"]
