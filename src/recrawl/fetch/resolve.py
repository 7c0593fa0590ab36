"""Names -> IP addresses, asked once and shared: our own layer, because libcurl's stalls.

With an unreachable resolver, libcurl's few lookup threads hold up hundreds of transfers; and only
whoever resolves a name can refuse its address before anything is sent.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from recrawl.model import Blame

Lookup = Callable[[str], Sequence[str]]
_NO_SUCH_NAME = frozenset(
    getattr(socket, name)
    for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")
    if hasattr(socket, name)
)
MOST = 8  # addresses kept a name


class ResolveError(Exception):
    """A name without an address; `blame` says whether the name or our resolver is at fault."""

    def __init__(self, text: str, blame: Blame) -> None:
        super().__init__(text)
        self.blame = blame


@dataclass(frozen=True, slots=True)
class _Answer:
    addresses: tuple[str, ...]
    error: str = ""
    final: bool = True  # the resolver answered, be it "no such name"


def system_lookup(host: str) -> tuple[str, ...]:
    """getaddrinfo's addresses, in its order (RFC 6724). Raises OSError, UnicodeError."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(item[4][0]) for item in found))


class Resolver:
    """A cache in front of a small pool of lookup threads.

    The system's resolver tells no lifetimes, so addresses are believed for `ttl` seconds and
    "no such name" for `negative_ttl`; failures to answer are not kept at all.
    """

    def __init__(
        self,
        lookup: Lookup = system_lookup,
        *,
        ttl: float = 300.0,
        negative_ttl: float = 60.0,
        threads: int = 16,
        capacity: int = 100_000,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lookup = lookup
        self._ttl = ttl
        self._negative_ttl = negative_ttl
        self._capacity = capacity
        self._now = now
        self._cache: dict[str, tuple[float, _Answer]] = {}
        self._pending: dict[str, asyncio.Future[_Answer]] = {}
        self._answered_at = float("-inf")
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def addresses(self, host: str, seconds: float) -> tuple[str, ...]:
        """The addresses of `host`, within `seconds`. Raises ResolveError.

        Many callers that ask for one name at once share one lookup.
        """
        kept = self._cache.get(host)
        if kept is not None and kept[0] > self._now():
            return self._unwrap(host, kept[1])
        pending = self._pending.get(host)
        if pending is None:
            loop = asyncio.get_running_loop()
            pending = loop.run_in_executor(self._pool, self._ask, host)
            self._pending[host] = pending
            pending.add_done_callback(partial(self._keep, host))
        done, _ = await asyncio.wait([pending], timeout=seconds)
        if not done:
            text = f"{host}: no answer from the resolver in {seconds:g} s"
            raise ResolveError(text, self._blame_for_silence())
        if pending.cancelled():
            raise ResolveError(f"{host}: the resolver was closed", Blame.LOCAL)
        return self._unwrap(host, pending.result())

    def _ask(self, host: str) -> _Answer:
        """In a thread: look up, never raise."""
        try:
            return _Answer(tuple(self._lookup(host))[:MOST])
        except socket.gaierror as error:
            return _Answer((), error.strerror or "no address", error.errno in _NO_SUCH_NAME)
        except (OSError, UnicodeError) as error:
            return _Answer((), str(error), isinstance(error, UnicodeError))

    def _keep(self, host: str, future: asyncio.Future[_Answer]) -> None:
        self._pending.pop(host, None)
        if future.cancelled():
            return
        answer = future.result()
        if not answer.final:
            return
        now = self._answered_at = self._now()
        while len(self._cache) >= self._capacity:
            del self._cache[next(iter(self._cache))]
        self._cache.pop(host, None)  # to the end: the oldest goes first
        self._cache[host] = (now + (self._ttl if answer.addresses else self._negative_ttl), answer)

    def _unwrap(self, host: str, answer: _Answer) -> tuple[str, ...]:
        if answer.addresses:
            return answer.addresses
        blame = Blame.TARGET if answer.final else self._blame_for_silence()
        raise ResolveError(f"{host}: {answer.error or 'no address'}", blame)

    def _blame_for_silence(self) -> Blame:
        """A resolver that has just answered others works: then this name's servers are dead."""
        recent = self._now() - self._answered_at < 60.0
        return Blame.TARGET if recent else Blame.LOCAL

    def close(self) -> None:
        """Start no more lookups; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)
