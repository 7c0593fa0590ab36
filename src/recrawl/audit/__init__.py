"""A user's own crawl logs -> rows: which URL was fetched when, and what was found."""
