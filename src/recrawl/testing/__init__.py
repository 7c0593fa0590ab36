"""A store or a fetcher -> a verdict: the conformance suites of the ports."""
