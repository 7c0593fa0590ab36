"""A URL as found -> the one address of the page, its type and value."""
