"""Hints, outcomes, time -> answers and writes: where all stages meet, one file a use case."""

from recrawl.engine.engine import Engine
from recrawl.engine.plan import PlanAnswer
from recrawl.engine.project import Project, Timing

__all__ = ["Engine", "PlanAnswer", "Project", "Timing"]
