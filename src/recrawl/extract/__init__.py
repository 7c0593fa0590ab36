"""Bytes -> parts: charset, links, text, fields, digests. Shared by every stage that reads pages."""
