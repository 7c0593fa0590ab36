"""Hint -> page -> visit -> ledger: the vocabulary of a crawl.

Values are frozen; `Page` and `Host` are the two rows that a visit moves.
"""

from recrawl.model.address import Address, Hint, Links, Refusal
from recrawl.model.columns import Columns, Table
from recrawl.model.ledger import RETURNED, Change, Entry, Reservation, Writes
from recrawl.model.rows import HAS_VALIDATOR, HOT, Host, Page, hot_row
from recrawl.model.visit import (
    Limits,
    Observation,
    Outcome,
    Record,
    Request,
    Visit,
    Wait,
    WireCost,
)
from recrawl.model.words import Blame, Kind, Purpose, Refused, State, Verdict, Word

__all__ = [
    "HAS_VALIDATOR",
    "HOT",
    "RETURNED",
    "Address",
    "Blame",
    "Change",
    "Columns",
    "Entry",
    "Hint",
    "Host",
    "Kind",
    "Limits",
    "Links",
    "Observation",
    "Outcome",
    "Page",
    "Purpose",
    "Record",
    "Refusal",
    "Refused",
    "Request",
    "Reservation",
    "State",
    "Table",
    "Verdict",
    "Visit",
    "Wait",
    "WireCost",
    "Word",
    "Writes",
    "hot_row",
]
