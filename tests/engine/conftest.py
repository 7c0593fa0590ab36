"""A crawl in RAM, ready to be played."""

from __future__ import annotations

import pytest

from engine.harness import Play


@pytest.fixture
def play() -> Play:
    """One site, no budget, no delay."""
    return Play()
