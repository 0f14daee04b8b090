"""Tables as CSV files and workbooks, streamed row by row, whatever their size."""
