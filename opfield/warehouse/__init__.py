"""Storage: the ledger, its projections, artifacts, the views and sessions that read them, and sealing."""
