"""What all tests share: Hypothesis does not judge speed, which on a busy machine is chance."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("recrawl", deadline=None)
settings.load_profile("recrawl")
