"""Outcome -> what it says of its page and its host."""
