"""The report: a summary of use as a document, for the screen, for paper and as PDF.

`url_state` reads the address, `queries` uses the service, `text` and `content` make the document
that the page (`layout`) and the PDF (`web.report`) share.
"""
