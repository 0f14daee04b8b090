"""Tables as files: CSV and workbooks, written as they are sent, however many rows there are."""
