"""Writes -> the crawl's durable state: in memory, or in one SQLite file."""

from recrawl.stores.memory import MemoryStore
from recrawl.stores.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore"]
