"""Writes -> one SQLite file that holds a whole crawl."""

from recrawl.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
