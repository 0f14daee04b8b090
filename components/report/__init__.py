"""The report: a summary of use as a document, for the screen, for paper and as PDF.

`queries` reads the address and uses the service, `text` and `content` make the document
that the page and the PDF (`web.report`) share.
"""
