"""How a conformance check says what is wrong: by the sentence of the contract that was broken."""

from __future__ import annotations

from collections.abc import Callable


def require(holds: bool, sentence: str) -> None:
    """Raises AssertionError unless it holds."""
    if not holds:
        raise AssertionError(sentence)


def equal(got: object, want: object, sentence: str) -> None:
    """Raises AssertionError, showing both, unless they are equal."""
    require(got == want, f"{sentence}\n got: {got!r:.2000}\nwant: {want!r:.2000}")


def refuses(error: type[Exception], act: Callable[[], object], sentence: str) -> None:
    """Raises AssertionError unless `act` raises `error` with a message."""
    try:
        act()
    except error as refusal:
        require(bool(str(refusal)), f"{sentence}: the error says nothing")
    else:
        raise AssertionError(f"{sentence}: accepted, should raise {error.__name__}")
