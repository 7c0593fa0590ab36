"""Histories of pages -> what a policy would have kept fresh, found and spent on them."""

from recrawl.replay.run import Lane, Settings, replay
from recrawl.replay.score import Outcome
from recrawl.replay.world import Events, World

__all__ = ["Events", "Lane", "Outcome", "Settings", "World", "replay"]
