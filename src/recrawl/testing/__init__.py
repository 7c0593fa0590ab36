"""Conformance suites of the ports: what every store and fetcher must pass."""
