"""Bytes -> parts: charset, links, text, fields, digests. Shared by all stages that read pages."""
