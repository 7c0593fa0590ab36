"""The crawl's durable state: in memory, or in one SQLite file."""
