"""Tables of results: rows of CSV, JSON, Parquet and Arrow files, and the mapping that makes cells of them."""
