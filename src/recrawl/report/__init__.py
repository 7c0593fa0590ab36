"""The ledger -> answers: what was spent, on what, and what it bought."""

from recrawl.report.alerts import (
    Alert,
    Pace,
    blocked_alerts,
    budget_alerts,
    cap_alerts,
    charge_alerts,
    contact_alerts,
    host_alerts,
    limit_alerts,
    recent,
)
from recrawl.report.calibration import Bin, Calibration, Judged, Sample, calibrate, sample_of
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
from recrawl.report.dispersion import Dispersion, dispersion, pages_to_ask
from recrawl.report.freshness import Freshness, chance_fresh, expected_freshness
from recrawl.report.outcomes import Heap, heap_of, site_name, type_name
from recrawl.report.reserves import Reserve, count_returns, reserves
from recrawl.report.spend import Tally, by_purpose, by_site_and_type, total, unit_of_account

__all__ = [
    "Alert",
    "Bin",
    "Calibration",
    "Discovery",
    "Dispersion",
    "Freshness",
    "Heap",
    "Judged",
    "Pace",
    "Reserve",
    "Sample",
    "Tally",
    "blocked_alerts",
    "budget_alerts",
    "by_host",
    "by_purpose",
    "by_site_and_type",
    "by_state",
    "calibrate",
    "cap_alerts",
    "chance_fresh",
    "charge_alerts",
    "contact_alerts",
    "count_returns",
    "discovery",
    "discovery_by_day",
    "dispersion",
    "expected_freshness",
    "heap_of",
    "host_alerts",
    "limit_alerts",
    "limits_reached",
    "pages_to_ask",
    "recent",
    "refused_by_reason",
    "reserves",
    "sample_of",
    "site_name",
    "status_by_host",
    "total",
    "type_name",
    "unit_of_account",
]
