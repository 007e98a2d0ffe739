"""Relations of a warehouse as files that other tools read: Parquet, CSV, JSON lines, Arrow, DuckDB."""
