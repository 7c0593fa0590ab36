"""Observation -> belief about how often a page changes."""
