"""Hints -> pages we may visit, and when their hosts may be asked."""
