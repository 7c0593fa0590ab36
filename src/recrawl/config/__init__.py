"""recrawl.toml -> Settings: plain values in the units of the core, or every mistake at once."""

from recrawl.config.advice import advice
from recrawl.config.example import example_toml
from recrawl.config.load import ConfigError, load
from recrawl.config.schema import json_schema
from recrawl.config.settings import (
    BudgetSettings,
    Cap,
    LimitSettings,
    PolitenessSettings,
    ProjectSettings,
    RouteSettings,
    Settings,
    SiteSettings,
    TariffSettings,
    UrlSettings,
)

__all__ = [
    "BudgetSettings",
    "Cap",
    "ConfigError",
    "LimitSettings",
    "PolitenessSettings",
    "ProjectSettings",
    "RouteSettings",
    "Settings",
    "SiteSettings",
    "TariffSettings",
    "UrlSettings",
    "advice",
    "example_toml",
    "json_schema",
    "load",
]
