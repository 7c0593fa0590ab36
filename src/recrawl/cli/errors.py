"""What an error becomes: one clear line on stderr and an exit code."""

from __future__ import annotations

import os
import traceback

from recrawl.cli.output import clean, hush, say

DONE, FAILURE, USAGE, NOTHING_DUE, ALERTS, INTERRUPTED = 0, 1, 2, 3, 4, 130


class UsageError(Exception):
    """The command was called in a way that can't work; the message says what to write."""


def explain(error: BaseException) -> int:
    """Say what went wrong and return the exit code. The environment's RECRAWL_DEBUG shows all."""
    # The command line's parser turns a closed pipe into SystemExit.
    if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
        hush()  # the reader has had enough: `recrawl pages | head`
        return DONE
    if os.environ.get("RECRAWL_DEBUG"):
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        say("interrupted")
        return INTERRUPTED
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else FAILURE
    return _known(error)


def _known(error: BaseException) -> int:
    from recrawl.ports import StoreError
    from recrawl.units import UnitError

    show = getattr(error, "format_message", None)
    if show is not None and hasattr(error, "exit_code"):  # of the command line's parser
        context = getattr(error, "ctx", None)
        if context is not None:
            say(context.get_usage())
        say(f"Error: {show()}")
        return USAGE
    messages = getattr(error, "messages", None)
    if isinstance(messages, list):  # ConfigError, told apart without importing it
        for message in messages:
            say(clean(message))
        if len(messages) > 1:
            say(f"{len(messages)} mistakes")
        return USAGE
    if isinstance(error, (UsageError, UnitError)):
        say(f"Error: {clean(str(error))}")
        return USAGE
    if isinstance(error, StoreError):
        say(f"Error: {clean(str(error))}")
        return FAILURE
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        say(f"Error: {clean(f'{name}{error.strerror}')}")
        return FAILURE
    kind = type(error).__name__
    say(f"Error: {kind}: {clean(str(error))[:300]}")
    say("This is a fault of recrawl itself. RECRAWL_DEBUG=1 shows where; please report it.")
    return FAILURE
