"""What the hosts answer, asked without a network: a 304 is never a lie, a 429 keeps its rate."""

from __future__ import annotations

import random
from email.utils import formatdate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sim.answers import BURST, RATE, Answers, Asked
from recrawl.sim.growth import make_web
from recrawl.sim.kinds import Validator
from recrawl.sim.server import parse
from recrawl.sim.web import WebSpec
from recrawl.units import DAY

WEB = make_web(WebSpec(seed=13, hosts=10, pages=600))
ANSWERS = Answers(WEB, random.Random(0), throttling=False)
START = WEB.spec.start


def ask(page: int, now: float, method: str = "GET", **headers: str) -> tuple[int, dict[str, str]]:
    named = {k.replace("_", "-"): v for k, v in headers.items()}
    host = int(WEB.host[page])
    return read(ANSWERS.answer(host, Asked(method, WEB.paths[page], named), now))


def read(answer: bytes) -> tuple[int, dict[str, str]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    status = int(first.split()[1])
    if "content-length" in headers and body:
        assert int(headers["content-length"]) == len(body)
    return status, headers


pages = st.integers(0, len(WEB) - 1)
days = st.floats(0, 30)


@settings(max_examples=300, deadline=None)
@given(page=pages, at=days, later=days)
def test_a_304_is_given_exactly_while_the_validator_stands(
    page: int, at: float, later: float
) -> None:
    validator = WEB.hosts[WEB.host[page]].validator
    t0, t1 = START + at * DAY, START + (at + later) * DAY
    if t1 >= WEB.died[page]:
        return
    _, first = ask(page, t0)
    condition = {}
    if "etag" in first:
        condition["if_none_match"] = first["etag"]
    if "last-modified" in first:
        condition["if_modified_since"] = first["last-modified"]
    status, _ = ask(page, t1, **condition)
    one = np.array([page])
    shown = [int(WEB.validator_versions(one, np.array([t]))[0]) for t in (t0, t1)]
    expected = 304 if validator.answers_304 and shown[0] == shown[1] else 200
    assert status == expected
    assert bool(condition) == (validator is not Validator.NONE)
    if status == 304:
        assert not WEB.changed_between(WEB.url(page, 80), t0, t1)


@pytest.mark.parametrize("validator", list(Validator))
def test_every_behaviour_is_played_by_some_host_of_a_larger_web(validator: Validator) -> None:
    kinds = {h.kind.name for h in WEB.hosts if h.validator is validator}
    assert len(kinds) == 2  # ten hosts: each behaviour with two kinds of site


@settings(max_examples=100, deadline=None)
@given(page=pages, at=days)
def test_a_page_is_there_until_it_dies(page: int, at: float) -> None:
    t = START + at * DAY
    status, headers = ask(page, t)
    if t < WEB.died[page]:
        assert status == 200
        assert headers["content-type"] == "text/html; charset=utf-8"
    else:
        assert status == WEB.gone_status[page]
    assert headers["date"] == formatdate(int(t), usegmt=True)


def test_last_modified_is_the_time_of_the_last_change_or_long_ago() -> None:
    host = next(h for h in WEB.hosts if h.validator is Validator.LAST_MODIFIED)
    for page in list(host.pages)[:20]:
        own = WEB.changes[WEB.bounds[page] : WEB.bounds[page + 1]]
        _, before = ask(page, START)
        assert before["last-modified"] == formatdate(int(WEB.created[page]), usegmt=True)
        if len(own):
            t = float(own[-1])
            _, after = ask(page, t + 0.5) if t + 0.5 < WEB.died[page] else (0, before)
            if after is not before:
                assert after["last-modified"] == formatdate(int(t), usegmt=True)


def test_a_last_modified_of_another_writing_is_understood() -> None:
    host = next(h for h in WEB.hosts if h.validator is Validator.LAST_MODIFIED)
    page = host.home
    later = START + 3600
    assert ask(page, later, if_modified_since=formatdate(later, usegmt=True))[0] == 304
    assert ask(page, later, if_modified_since=formatdate(later))[0] == 304  # -0000
    assert ask(page, later, if_modified_since=formatdate(0.0, usegmt=True))[0] == 200


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 8), min_size=1, max_size=120))
def test_no_span_of_time_gets_more_than_its_rate_and_one_burst(gaps: list[float]) -> None:
    answers = Answers(WEB, random.Random(0))
    host = next(i for i, h in enumerate(WEB.hosts) if h.throttled)
    now, taken = START, []
    for gap in gaps:
        now += gap
        status, headers = read(answers.answer(host, Asked("HEAD", "/", {}), now))
        assert status in (200, 429)
        assert (status == 429) == ("retry-after" in headers)
        if status == 200:
            taken.append(now)
    for i in range(len(taken)):
        for j in range(i, len(taken)):
            assert j - i + 1 <= BURST + RATE * (taken[j] - taken[i]) + 1e-6


def test_the_retry_after_is_long_enough() -> None:
    answers = Answers(WEB, random.Random(0))
    host = next(i for i, h in enumerate(WEB.hosts) if h.throttled)
    asked, now = Asked("HEAD", "/", {}), START
    while True:
        status, headers = read(answers.answer(host, asked, now))
        if status == 429:
            break
    now += float(headers["retry-after"])
    statuses = [read(answers.answer(host, asked, now))[0] for _ in range(5)]
    assert statuses == [200] * 5


def test_one_host_is_throttled_and_the_others_never() -> None:
    answers = Answers(WEB, random.Random(0))
    for host, made_up in enumerate(WEB.hosts):
        statuses = {
            read(answers.answer(host, Asked("HEAD", "/", {}), START))[0] for _ in range(40)
        }
        assert (429 in statuses) == made_up.throttled


@pytest.mark.parametrize(
    ("head", "method", "target", "keep_alive"),
    [
        (b"GET / HTTP/1.1", "GET", "/", True),
        (b"HEAD /a?b=c&d HTTP/1.1\r\nHost: x", "HEAD", "/a?b=c&d", True),
        (b"GET / HTTP/1.1\r\nConnection: Close", "GET", "/", False),
        (b"GET / HTTP/1.0\r\nHost: x", "GET", "/", False),
        (b"POST / HTTP/1.1\r\nContent-Length: 0", "POST", "/", True),
    ],
)
def test_heads_are_parsed(head: bytes, method: str, target: str, keep_alive: bool) -> None:
    asked = parse(head)
    assert asked is not None
    assert (asked.method, asked.target, asked.keep_alive) == (method, target, keep_alive)


def test_header_names_are_lower_cased_and_values_trimmed() -> None:
    asked = parse(b'GET / HTTP/1.1\r\nIf-None-Match:  "a" \r\nX-Y:a:b')
    assert asked is not None
    assert asked.headers == {"if-none-match": '"a"', "x-y": "a:b"}
