"""What is no mistake in a project file, but probably not what was meant."""

from __future__ import annotations

from recrawl.config.settings import Settings
from recrawl.urls.match import hint


def advice(settings: Settings) -> list[str]:
    """One line for each setting that likely does less than it seems to."""
    found = [
        f"urls.{key}: {pattern!r} misses most places of that parameter; "
        f"write {better!r} to meet it wherever it stands"
        for key in ("include", "exclude")
        for pattern in getattr(settings.urls, key)
        if (better := hint(pattern))
    ]
    if not any((settings.budget.by_period(), settings.limits.caps, settings.limits.pages)):
        found.append(
            "budget: no cap is set, so a run is one pass over every page; "
            'write per_day = "500 MB" to spend that much and choose what is worth it'
        )
    found += [
        f"tariff.{t.name}: charge_header tells the charge only after a visit; write the most that "
        "one can take, as in charge_max = 25, so that no cap is exceeded by a dear one"
        for t in settings.tariffs
        if t.charge_header and not t.charge_max
    ]
    return found
