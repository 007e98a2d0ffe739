"""Reports: one campaign read through the warehouse's relations, as a page, as Markdown, and as data."""
