"""The life of a URL as a table: in which state, after which answer, it is in which state next."""

from __future__ import annotations

from recrawl.model import State, Verdict

_STAYS = (Verdict.BLOCKED, Verdict.SOFT_ERROR, Verdict.FAILED, Verdict.ROBOTS, Verdict.UNKNOWN)

MOVES: dict[tuple[State, Verdict, bool], State] = {
    # Whatever was believed before: a page that was read lives.
    **{(s, v, True): State.LIVE for s in State for v in Verdict if v.is_reading},
    # Gone only once confirmed: a 404 can be an accident of a deployment.
    **{(s, Verdict.GONE, True): State.GONE for s in State},
    **{(s, Verdict.GONE, False): s for s in State},
    **{(s, Verdict.MOVED, True): State.ALIAS for s in State},
    # These say nothing of the page.
    **{(s, v, True): s for s in State for v in _STAYS},
}
"""(state, verdict, confirmed) -> next state. Only a GONE can be unconfirmed."""


def is_confirmed(status: int, missing: int, confirmations: int) -> bool:
    """True where a GONE verdict may be believed.

    410 says so itself (RFC 9110 15.5.11: likely permanent); a 404 needs `confirmations` in a row,
    `missing` counting this answer too.
    """
    return status == 410 or missing >= confirmations


def move(
    state: State, verdict: Verdict, *, status: int = 0, missing: int = 0, confirmations: int = 2
) -> State:
    """The state after an answer. `status` and `missing` matter for GONE only.

    >>> move(State.LIVE, Verdict.GONE, status=404, missing=1).word
    'live'
    >>> move(State.LIVE, Verdict.GONE, status=410, missing=1).word
    'gone'
    """
    confirmed = verdict is not Verdict.GONE or is_confirmed(status, missing, confirmations)
    return MOVES[state, verdict, confirmed]


def diagram() -> str:
    """The table as a Mermaid state diagram; answers that leave a state as it is aren't drawn."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for (state, verdict, _), target in MOVES.items():
        if state is not target:
            arrows.setdefault((state, target), []).append(_label(verdict))
    lines = ["stateDiagram-v2", f"    [*] --> {State.NEW.word}: admitted"]
    lines += [
        f"    {source.word} --> {target.word}: {', '.join(dict.fromkeys(labels))}"
        for (source, target), labels in sorted(arrows.items())
    ]
    return "\n".join(lines) + "\n"


def _label(verdict: Verdict) -> str:
    """One word for all readings, so that the picture stays readable."""
    if verdict.is_reading:
        return "read"
    return "gone, confirmed" if verdict is Verdict.GONE else verdict.word
