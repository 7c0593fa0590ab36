"""The life of a URL: the table is total, and says what the rules say."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.lifecycle import MOVES, diagram, is_confirmed, move
from recrawl.model import State, Verdict

READINGS = [v for v in Verdict if v.is_reading]
SILENT = [Verdict.BLOCKED, Verdict.SOFT_ERROR, Verdict.FAILED, Verdict.ROBOTS, Verdict.UNKNOWN]


def test_the_table_is_total() -> None:
    """Every state and verdict has its move, whatever the status and the count of 404s."""
    for state, verdict in itertools.product(State, Verdict):
        for status, missing in itertools.product((0, 200, 404, 410), (0, 1, 2, 99)):
            assert move(state, verdict, status=status, missing=missing) in State


def test_the_table_holds_nothing_that_cannot_happen() -> None:
    unconfirmed = {verdict for _, verdict, confirmed in MOVES if not confirmed}
    assert unconfirmed == {Verdict.GONE}
    assert len(MOVES) == len(State) * (len(Verdict) + 1)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("verdict", READINGS)
def test_what_was_read_lives(state: State, verdict: Verdict) -> None:
    assert move(state, verdict, status=200) is State.LIVE


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("verdict", SILENT)
def test_what_says_nothing_of_the_page_moves_nothing(state: State, verdict: Verdict) -> None:
    assert move(state, verdict, status=503, missing=9) is state


@pytest.mark.parametrize("state", State)
def test_a_redirect_makes_an_alias(state: State) -> None:
    assert move(state, Verdict.MOVED, status=301) is State.ALIAS


@pytest.mark.parametrize("state", State)
def test_410_is_believed_at_once(state: State) -> None:
    assert move(state, Verdict.GONE, status=410, missing=1) is State.GONE


def test_404_needs_two_in_a_row_by_default() -> None:
    assert move(State.LIVE, Verdict.GONE, status=404, missing=1) is State.LIVE
    assert move(State.LIVE, Verdict.GONE, status=404, missing=2) is State.GONE
    assert move(State.NEW, Verdict.GONE, status=404, missing=1) is State.NEW


@given(st.integers(1, 10), st.integers(0, 20))
def test_confirmations_are_counted(confirmations: int, missing: int) -> None:
    gone = move(State.LIVE, Verdict.GONE, status=404, missing=missing, confirmations=confirmations)
    assert (gone is State.GONE) == (missing >= confirmations)
    assert is_confirmed(404, missing, confirmations) == (gone is State.GONE)


def test_a_page_that_comes_back_lives_again() -> None:
    state = State.LIVE
    for missing in (1, 2):
        state = move(state, Verdict.GONE, status=404, missing=missing)
    assert state is State.GONE
    assert move(state, Verdict.FAILED, status=500) is State.GONE
    assert move(state, Verdict.NEW, status=200) is State.LIVE


@given(st.lists(st.sampled_from(list(Verdict))))
def test_no_history_leads_astray(verdicts: list[Verdict]) -> None:
    """Replaying any history: LIVE exactly if the last telling answer was a reading."""
    state, expected = State.NEW, State.NEW
    for verdict in verdicts:
        state = move(state, verdict, status=410 if verdict is Verdict.GONE else 0)
        if verdict.is_reading:
            expected = State.LIVE
        elif verdict is Verdict.GONE:
            expected = State.GONE
        elif verdict is Verdict.MOVED:
            expected = State.ALIAS
        assert state is expected


def test_the_diagram_shows_every_move_of_the_table_and_no_other() -> None:
    lines = diagram().splitlines()
    assert lines[:2] == ["stateDiagram-v2", "    [*] --> new: admitted"]
    drawn = set()
    for line in lines[2:]:
        arrow, _, label = line.strip().partition(": ")
        source, target = arrow.split(" --> ")
        assert label
        drawn.add((source, target))
    moves = {(s.word, t.word) for (s, _, _), t in MOVES.items() if s is not t}
    assert drawn == moves
    assert len(lines) == 2 + len(moves)
    assert "    live --> gone: gone, confirmed" in lines
    assert "    gone --> live: read" in lines
    assert "    new --> alias: moved" in lines
