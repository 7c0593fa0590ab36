"""The readings of a crawl, held against the truth: how fresh its copy was, what it found."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from recrawl.sim.answers import Answers, Asked
from recrawl.sim.kinds import Validator
from recrawl.sim.web import Floats, Ints, MadeUpWeb

REQUEST_BYTES = 240  # of a plain request's head; the condition comes on top


@dataclass(frozen=True, slots=True)
class Readings:
    """When which page's content was known to a crawler, sorted by page, then time."""

    pages: Ints
    times: Floats

    @classmethod
    def of(cls, pages: Ints, times: Floats) -> Readings:
        """Sort readings that come in any order."""
        order = np.lexsort((times, pages))
        return cls(pages[order], times[order])

    @classmethod
    def of_log(cls, web: MadeUpWeb, log: Iterable[tuple[str, float]]) -> Readings:
        """(URL, epoch seconds) of every reading; addresses that are no pages are left out."""
        found = [(page, t) for url, t in log if (page := web.find(url)) is not None]
        pages, times = zip(*found, strict=True) if found else ((), ())
        return cls.of(np.array(pages, dtype=np.int64), np.array(times, dtype=np.float64))

    def again(self) -> np.ndarray:
        """True where the page had been read before (bool, one a reading)."""
        repeat = np.zeros(len(self.pages), dtype=bool)
        repeat[1:] = self.pages[1:] == self.pages[:-1]
        return repeat


def freshness(web: MadeUpWeb, readings: Readings, t0: float, t1: float) -> float:
    """The value-weighted share of [t0, t1] in which the copies were true, 0..1.

    A page counts while it is alive, and from the first moment: one that was never read is stale.
    """
    following = np.full(len(readings.pages), np.inf)
    if len(following):
        following[:-1] = np.where(readings.again()[1:], readings.times[1:], np.inf)
    pages, times = readings.pages, readings.times
    until = np.minimum(np.minimum(web.next_change(pages, times), following), web.died[pages])
    spans = np.minimum(until, t1) - np.maximum(times, t0)
    fresh = float(np.sum(web.value[pages] * np.maximum(spans, 0.0)))
    alive = np.maximum(np.minimum(web.died, t1) - t0, 0.0)
    return fresh / float(np.sum(web.value * alive))


def changes_found(
    web: MadeUpWeb, readings: Readings, t0: float = -np.inf, t1: float = np.inf
) -> int:
    """How many readings in [t0, t1) saw another record than the page's reading before."""
    versions = web.versions(readings.pages, readings.times)
    differs = readings.again()
    differs[1:] &= versions[1:] != versions[:-1]
    inside = (readings.times >= t0) & (readings.times < t1)
    return int(np.sum(differs & inside))


@dataclass(frozen=True, slots=True)
class Prices:
    """Bytes of a visit, both directions, one a page: answered in full, or not modified.

    Where a host answers no 304 the two are equal.
    """

    full: Floats
    unchanged: Floats

    @classmethod
    def of_web(cls, web: MadeUpWeb, request_bytes: float = REQUEST_BYTES) -> Prices:
        """What the server really sends, asked once a page; handshakes are left out."""
        answers = Answers(web, random.Random(web.spec.seed), throttling=False)
        full, unchanged = np.empty(len(web)), np.empty(len(web))
        for page, path in enumerate(web.paths):
            number = int(web.host[page])
            asked = {"accept-encoding": "gzip"}
            answer = answers.answer(number, Asked("GET", path, asked), web.spec.start)
            full[page] = unchanged[page] = request_bytes + len(answer)
            if web.hosts[number].validator.answers_304:
                name, value = _condition(answer, web.hosts[number].validator)
                again = answers.answer(
                    number, Asked("GET", path, asked | {name: value}), web.spec.start
                )
                line = len(f"{name}: {value}\r\n")
                unchanged[page] = request_bytes + line + len(again)
                full[page] += line
        return cls(full, unchanged)

    def of_readings(self, web: MadeUpWeb, readings: Readings) -> Floats:
        """Bytes of each reading, every one after a page's first being conditional."""
        shown = web.validator_versions(readings.pages, readings.times)
        stands = readings.again()
        stands[1:] &= shown[1:] == shown[:-1]
        return np.where(stands, self.unchanged[readings.pages], self.full[readings.pages])


def _condition(answer: bytes, validator: Validator) -> tuple[str, str]:
    """The conditional header that the validator of a full answer asks for."""
    sent, name = ("last-modified", "if-modified-since"), ("etag", "if-none-match")
    header, condition = sent if validator is Validator.LAST_MODIFIED else name
    head = answer.partition(b"\r\n\r\n")[0].decode("latin-1")
    lines = (line.partition(":") for line in head.split("\r\n")[1:])
    return condition, next(v.strip() for k, _, v in lines if k.lower() == header)
