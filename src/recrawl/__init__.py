"""recrawl: crawl the same pages again and again, spending where change is."""

__version__ = "0.1.0"
