"""The report: a summary of use as a document, for the screen, for paper and as PDF.

`view` says what is wanted, `gathering` asks for it, `content` puts it into words and tables that
the page and the PDF (`paper`) share, `charts` has the charts drawn by the machine's browser.
"""
