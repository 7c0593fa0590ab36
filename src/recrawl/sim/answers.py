"""A request to the made-up web and the time -> the whole HTTP answer, as bytes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

import numpy as np

from recrawl.sim.html import Pages
from recrawl.sim.kinds import Validator
from recrawl.sim.web import MadeUpHost, MadeUpWeb

RATE, BURST, RETRY_AFTER = 0.5, 10.0, 30  # requests a second, in one go; seconds
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
NO_ROBOTS = 3  # the host that has none
REASONS = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 304: "Not Modified",
    308: "Permanent Redirect", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed",
    410: "Gone", 429: "Too Many Requests",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One parsed request; header names lower-cased."""

    method: str
    target: str
    headers: dict[str, str]
    keep_alive: bool = True


@dataclass(slots=True)
class _Bucket:
    """A token bucket on made-up time."""

    tokens: float = BURST
    at: float = 0.0

    def take(self, now: float) -> bool:
        self.tokens = min(BURST, self.tokens + max(0.0, now - self.at) * RATE)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Answers:
    """Plays a web. State: what the throttling hosts remember, and caches."""

    def __init__(self, web: MadeUpWeb, noise: random.Random, throttling: bool = True) -> None:
        self._web = web
        self._pages = Pages(web)
        self._noise = noise
        throttled = [i for i, h in enumerate(web.hosts) if h.throttled and throttling]
        self._buckets = {i: _Bucket() for i in throttled}
        self._date = (-1, "")
        self._changes = _Lists(web.changes, web.bounds)
        self._moves = _Lists(web.moves, web.move_bounds)

    def answer(self, number: int, asked: Asked, now: float) -> bytes:
        """What host `number` says at `now` (epoch seconds)."""
        host = self._web.hosts[number]
        bucket = self._buckets.get(number)
        if bucket is not None and not bucket.take(now):
            return self._plain(429, asked, now, f"Retry-After: {RETRY_AFTER}\r\n")
        if asked.method not in ("GET", "HEAD"):
            return self._plain(405, asked, now, "Allow: GET, HEAD\r\n")
        page = self._web.page_at(number, asked.target)
        if page is not None:
            if now >= self._web.died[page]:
                return self._plain(int(self._web.gone_status[page]), asked, now)
            return self._page(host, page, asked, now)
        return self._other(number, asked, now)

    def _other(self, number: int, asked: Asked, now: float) -> bytes:
        """Addresses that are no pages."""
        host = self._web.hosts[number]
        path = asked.target.partition("?")[0]
        if path in host.redirects:
            status, target = host.redirects[path]
            return self._plain(status, asked, now, f"Location: {target}\r\n")
        if path == "/robots.txt" and number != NO_ROBOTS:
            return self._head(200, asked, now, "Content-Type: text/plain\r\n", ROBOTS)
        if path.startswith("/private/"):
            return self._plain(200, asked, now)
        return self._plain(404, asked, now)

    def _page(self, host: MadeUpHost, page: int, asked: Asked, now: float) -> bytes:
        version = self._changes.count(page, now)
        lines, matched = self._validators(host.validator, page, version, asked, now)
        if matched and host.validator.answers_304:
            return self._head(304, asked, now, lines, None)
        lines += "Content-Type: text/html; charset=utf-8\r\nVary: Accept-Encoding\r\n"
        if "gzip" in asked.headers.get("accept-encoding", ""):
            lines += "Content-Encoding: gzip\r\n"
            body = self._pages.gzipped(page, version, now, self._noise)
        else:
            body = self._pages.body(page, version, now, self._noise)
        return self._head(200, asked, now, lines, body)

    def _validators(
        self, validator: Validator, page: int, version: int, asked: Asked, now: float
    ) -> tuple[str, bool]:
        """The header lines, and whether the request's condition says that the copy is good."""
        if validator is Validator.NONE:
            return "", False
        if validator is Validator.LAST_MODIFIED:
            stamp = self._changes.last(page, now, float(self._web.created[page]))
            since = asked.headers.get("if-modified-since")
            return (
                f"Last-Modified: {formatdate(int(stamp), usegmt=True)}\r\n",
                since is not None and _epoch(since) >= int(stamp),
            )
        moved = self._moves.count(page, now) if validator is Validator.NOISY_ETAG else version
        etag = f'"{page:x}-{moved:x}"'
        asked_for = asked.headers.get("if-none-match", "")
        known = [tag.strip().removeprefix("W/") for tag in asked_for.split(",")]
        return f"ETag: {etag}\r\n", etag in known or "*" in known

    def _plain(self, status: int, asked: Asked, now: float, lines: str = "") -> bytes:
        body = f"<!DOCTYPE html><title>{status}</title><h1>{REASONS[status]}</h1>\n".encode()
        return self._head(status, asked, now, lines + "Content-Type: text/html\r\n", body)

    def _head(
        self, status: int, asked: Asked, now: float, lines: str, body: bytes | None
    ) -> bytes:
        """The answer's bytes; `body` None = an answer that has none."""
        length = "" if body is None else f"Content-Length: {len(body)}\r\n"
        closing = "" if asked.keep_alive else "Connection: close\r\n"
        head = (
            f"HTTP/1.1 {status} {REASONS[status]}\r\nServer: made-up\r\n"
            f"Date: {self._http_date(now)}\r\n{lines}{length}{closing}\r\n"
        ).encode("latin-1")
        return head if body is None or asked.method == "HEAD" else head + body

    def _http_date(self, now: float) -> str:
        second = int(now)
        if self._date[0] != second:
            self._date = (second, formatdate(second, usegmt=True))
        return self._date[1]


class _Lists:
    """The times of every page, for one question at a time."""

    def __init__(self, times: np.ndarray, bounds: np.ndarray) -> None:
        self._times = times
        self._bounds = bounds.tolist()

    def _span(self, page: int) -> np.ndarray:
        return self._times[self._bounds[page] : self._bounds[page + 1]]

    def count(self, page: int, now: float) -> int:
        """How many stand at or before `now`."""
        return int(self._span(page).searchsorted(now, side="right"))

    def last(self, page: int, now: float, default: float) -> float:
        """The last at or before `now`, or `default`."""
        n = self.count(page, now)
        return float(self._span(page)[n - 1]) if n else default


def _epoch(text: str) -> float:
    """An HTTP date as epoch seconds; -inf where it is none (the condition is then ignored)."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return float("-inf")
