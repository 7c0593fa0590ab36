"""How webs are laid out, for any number of hosts and pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sim.growth import LISTED, THROTTLED_HOST, make_web
from recrawl.sim.kinds import KINDS, NEVER, Validator
from recrawl.sim.web import MadeUpWeb, WebSpec
from recrawl.units import DAY

specs = st.builds(
    lambda seed, hosts, more, days: WebSpec(seed, hosts, 40 * hosts + more, days),
    st.integers(0, 1000), st.integers(1, 12), st.integers(0, 400), st.floats(0.1, 20),
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(specs)
def test_any_spec_gives_a_sound_web(spec: WebSpec) -> None:
    web = make_web(spec)
    assert len(web) == spec.pages
    assert len(web.hosts) == spec.hosts
    assert np.all((web.changes > spec.start) & (web.changes <= spec.end))
    assert np.all((web.moves > spec.start) & (web.moves <= spec.end))
    assert web.bounds[-1] == len(web.changes)
    assert web.move_bounds[-1] == len(web.moves)
    for number, host in enumerate(web.hosts):
        paths = [web.paths[p] for p in host.pages]
        assert len(set(paths)) == len(paths)
        assert web.paths[host.home] == "/"
        assert all(web.host[p] == number for p in host.pages)
        for page in host.pages:
            assert set(web.links[page]) | set(web.related[page]) <= set(host.pages)
            assert page not in web.links[page] or page == host.home
            own = web.changes[web.bounds[page] : web.bounds[page + 1]]
            assert np.all(np.diff(own) >= 2.0)
        for status, target in host.redirects.values():
            known = target in paths or target in host.redirects
            assert known
            assert 300 <= status < 400


def test_hosts_share_the_pages_evenly() -> None:
    web = make_web(WebSpec(hosts=7, pages=1000))
    sizes = [len(h.pages) for h in web.hosts]
    assert sum(sizes) == 1000
    assert max(sizes) - min(sizes) <= 1


def test_every_round_of_kinds_meets_another_validator() -> None:
    web = make_web(WebSpec(hosts=25, pages=1000))
    pairs = {(h.kind.name, h.validator) for h in web.hosts}
    assert len(pairs) == len(KINDS) * len(Validator)
    assert [i for i, h in enumerate(web.hosts) if h.throttled] == [THROTTLED_HOST]


def test_listing_pages_show_a_screenful(web: MadeUpWeb) -> None:
    for host in web.hosts:
        for page in host.pages:
            if web.types[page].name == "listing" and page != host.home:
                items = [p for p in web.links[page] if web.types[p].name != "listing"]
                assert 0.5 * LISTED <= len(items) <= 2.1 * LISTED


@pytest.fixture(scope="module")
def large() -> MadeUpWeb:
    return make_web(WebSpec(seed=17, hosts=5, pages=8000, days=1))


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_rates_are_drawn_as_the_kind_says(large: MadeUpWeb, number: int) -> None:
    web, host = large, large.hosts[number]
    assert sum(b.share for b in host.kind.items) == pytest.approx(1.0)
    items = np.array([p for p in host.pages if web.types[p] == host.kind.item])
    with np.errstate(divide="ignore"):
        gaps = 1 / web.rate[items]
    for band in host.kind.items:
        if band.fastest == NEVER:
            drawn = np.isinf(gaps)
        else:
            drawn = (gaps >= band.fastest * 0.999) & (gaps <= band.slowest * 1.001)
        error = 4 * np.sqrt(band.share * (1 - band.share) / len(items))
        assert drawn.mean() == pytest.approx(band.share, abs=error)


def test_pages_are_older_than_the_span_and_outlive_its_first_days(web: MadeUpWeb) -> None:
    assert np.all(web.created < web.spec.start)
    assert np.all(web.created > web.spec.start - 366 * DAY)
    died = web.died[np.isfinite(web.died)]
    assert np.all(died >= web.spec.start + 0.2 * web.spec.days * DAY)


def test_never_changing_pages_never_change_but_a_noisy_validator_moves(web: MadeUpWeb) -> None:
    still = np.flatnonzero(web.rate == 0)
    assert np.all(np.diff(web.bounds)[still] == 0)
    noisy = [web.hosts[h].validator is Validator.NOISY_ETAG for h in web.host[still]]
    moved = np.diff(web.move_bounds)[still] > 0
    assert moved[noisy].mean() > 0.99
    assert not moved[~np.array(noisy)].any()


def test_a_changed_spec_changes_only_what_it_names() -> None:
    short, long = (make_web(WebSpec(seed=1, pages=300, days=d)) for d in (5, 10))
    assert short.paths == long.paths
    assert short.links == long.links
    assert np.array_equal(short.rate, long.rate)
    assert len(long.changes) > 1.5 * len(short.changes)
