"""Who may look: sign-in, sessions, and the door that every request of the dashboard goes through.

=============  =====================================================================================
`rules`        every decision, as a function of a request's facts; no state, no clock
`cookie`       what a session is, sealed into a cookie and opened again
`ended`        sessions that were signed out, remembered for as long as their cookies could live
`attempts`     how often an address may fail to sign in
`keycheck`     a pasted key, tried on the service; the sentence for each outcome
`standing`     whether a credential still stands
`shared`       what several hosts know together
`page`         the sign-in page's HTML
`door`         the WSGI layer that puts them together
=============  =====================================================================================
"""

from web.auth.middleware import Access, Door

__all__ = ["Access", "Door"]
