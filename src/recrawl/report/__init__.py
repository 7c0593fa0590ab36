"""The ledger -> answers: what was spent, on what, and what it bought."""

from recrawl.report.alerts import (
    Alert,
    Pace,
    blocked_alerts,
    budget_alerts,
    contact_alerts,
    host_alerts,
    limit_alerts,
    recent,
)
from recrawl.report.coverage import (
    Discovery,
    by_host,
    by_state,
    discovery,
    discovery_by_day,
    limits_reached,
    refused_by_reason,
    status_by_host,
)
from recrawl.report.freshness import Freshness, chance_fresh, expected_freshness
from recrawl.report.outcomes import Heap, heap_of, site_name, type_name
from recrawl.report.spend import Tally, by_purpose, by_site_and_type, total, unit_of_account

__all__ = [
    "Alert",
    "Discovery",
    "Freshness",
    "Heap",
    "Pace",
    "Tally",
    "blocked_alerts",
    "budget_alerts",
    "by_host",
    "by_purpose",
    "by_site_and_type",
    "by_state",
    "chance_fresh",
    "contact_alerts",
    "discovery",
    "discovery_by_day",
    "expected_freshness",
    "heap_of",
    "host_alerts",
    "limit_alerts",
    "limits_reached",
    "recent",
    "refused_by_reason",
    "site_name",
    "status_by_host",
    "total",
    "type_name",
    "unit_of_account",
]
