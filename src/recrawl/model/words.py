"""The words of a crawl: states, purposes, verdicts, refusals, and how an exchange can end."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Word(IntEnum):
    """An enum that is stored as a small integer and shown as a word."""

    @property
    def word(self) -> str:
        """The name in lower case, as reports and files write it."""
        return self.name.lower()


class State(Word):
    """The life of a URL; its moves: `frontier.lifecycle`. Numbers are stored: never reuse one."""

    NEW = 0  # admitted, never read
    LIVE = 1  # read at least once
    GONE = 2  # confirmed 404/410
    INACTIVE = 3  # not seen any more by its sources
    ALIAS = 4  # redirects to, or names as canonical, another page
    TRAPPED = 5  # held back: a generated space
    REFUSED = 6  # robots, scope or policy refuse it; re-checked rarely


class Purpose(Word):
    """What a visit is bought for. Numbers are stored: never reuse."""

    BEST_BUY = 0
    DISCOVERY = 1
    REESTIMATION = 2
    VERIFICATION = 3
    SIGNAL = 4
    LISTING = 5
    ROBOTS = 6


class Verdict(Word):
    """What a visit said of its page. Numbers are stored: never reuse."""

    NEW = 0
    CHANGED = 1
    SAME = 2
    NOT_MODIFIED = 3
    GONE = 4
    MOVED = 5
    BLOCKED = 6
    SOFT_ERROR = 7
    FAILED = 8
    ROBOTS = 9  # robots.txt was read
    UNKNOWN = 10  # in flight at a crash: booked at the reserved price

    @property
    def is_reading(self) -> bool:
        """True where the page's content is now known (these move `Page.last`)."""
        return self <= Verdict.NOT_MODIFIED


class Refused(StrEnum):
    """Why an address was not admitted; every one is counted."""

    INVALID = "invalid URL"
    SCHEME = "not http or https"
    BAD_HOST = "bad host"
    BAD_PORT = "bad port"
    TOO_LONG = "address too long"
    USERINFO = "user name or password in the address"
    KNOWN = "already known"
    TOO_DEEP = "too deep"
    HOST_FULL = "host is full"
    PROJECT_FULL = "project is full"
    EXCLUDED = "excluded by pattern"
    NOT_INCLUDED = "not included by pattern"
    OUT_OF_SCOPE = "outside the project's sites"
    PRIVATE_ADDRESS = "private address"
    NOFOLLOW = "nofollow"
    ROBOTS = "robots.txt forbids it"
    TOO_MANY_HOPS = "too many redirects"
    PATH_REPEATS = "path repeats itself"


class Kind(StrEnum):
    """How one wire exchange ended (research/fetch.md, section 7)."""

    OK = "ok"
    NOT_MODIFIED = "not-modified"
    REDIRECT = "redirect"
    GONE = "gone"
    THROTTLED = "throttled"
    DENIED = "denied"
    SERVER_ERROR = "server-error"
    CLIENT_ERROR = "client-error"
    CAPPED = "capped"
    INCOMPLETE = "incomplete"
    PROTOCOL_ERROR = "protocol-error"
    TIMEOUT = "timeout"
    CONNECT_ERROR = "connect-error"
    DNS_ERROR = "dns-error"
    TLS_ERROR = "tls-error"
    PROXY_ERROR = "proxy-error"
    DECODE_ERROR = "decode-error"
    POLICY = "policy"
    INTERNAL = "internal"


class Blame(StrEnum):
    """Whose fault a failure is: only the target's faults touch its health."""

    TARGET = "target"
    ROUTE = "route"
    LOCAL = "local"
    NOBODY = "nobody"
