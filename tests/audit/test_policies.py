"""A log whose truth is known: what is said of other policies must be what is true of them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.audit.histories import CHANGED, NO_SIZE, SAME, UNKNOWN, Histories, History
from recrawl.audit.policies import DEFAULT, FEW_SHARES, SHARES, compare
from recrawl.audit.policies_world import Reads, unit_of
from recrawl.audit.prices import BYTES, FETCHES, Price, parse_price
from recrawl.cli.app import run
from recrawl.poisson import Floats
from recrawl.replay.score import judge
from recrawl.units import DAY

T = 1_700_000_000.0


def rng(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def poisson_log(rates: Floats, days: int, cycle: float = 1.0, seed=1) -> Histories:
    """Every page read once a cycle (days); rates in changes a day."""
    draw, kept = rng(seed), Histories()
    for rate in rates.tolist():
        hits = draw.random(int(days / cycle)) < -np.expm1(-rate * cycle)
        reads = [(T, False, 1000, UNKNOWN)]
        reads += [
            (T + (i + 1) * cycle * DAY, False, 1000, CHANGED if hit else SAME)
            for i, hit in enumerate(hits.tolist())
        ]
        kept.add(("a.example", "/*"), reads)
    return kept


def line(found, name):
    (one,) = [x for x in found.lines if x.policy == name]
    return one


def test_where_rates_differ_the_default_is_as_fresh_for_clearly_less():
    rates = np.exp(rng().normal(0.0, 2.0, 80)) / 14.0
    found = compare(poisson_log(rates, 120).sample, [DEFAULT], BYTES, rng())
    mine = line(found, DEFAULT)
    assert mine.bound == ""
    assert mine.same_freshness.high < 0.9
    fresh = [x.mean for _, x in mine.points]
    assert [share for share, _ in mine.points] == list(SHARES)
    assert fresh == sorted(fresh)
    assert dict(mine.points)[1.0].low > found.freshness.high


def test_where_all_pages_are_equal_nothing_is_saved():
    found = compare(
        poisson_log(np.full(80, 0.1), 120, cycle=4.0).sample, [DEFAULT, "uniform"], BYTES, rng()
    )
    assert 0.9 < line(found, DEFAULT).same_freshness.mean < 1.25
    assert 0.95 < line(found, "uniform").same_freshness.mean < 1.05
    assert [share for share, _ in line(found, "uniform").points] == list(FEW_SHARES)


def test_own_freshness_is_what_theory_says():
    """Pages read every g, changing at rate r: (1 - e^(-r g))/(r g) of the time is fresh."""
    for pace in (0.1, 0.5, 1.5):  # changes between two reads
        sample = poisson_log(np.full(300, pace), 40).sample
        reads = Reads.of(sample, FETCHES)
        own = judge(reads.world(rng()), reads.visits(), 0.0, 40 * DAY)
        assert own.freshness == pytest.approx(-np.expm1(-pace) / pace, abs=0.015)


def test_the_same_seed_says_the_same():
    sample = poisson_log(np.linspace(0.01, 1.0, 20), 20).sample
    one, two, other = (compare(sample, [DEFAULT], BYTES, rng(s)) for s in (1, 1, 2))
    assert one == two
    assert one != other


READS = st.lists(
    st.tuples(
        st.integers(0, 9).map(float),
        st.booleans(),
        st.sampled_from([NO_SIZE, 0, 5, 700]),
        st.sampled_from([UNKNOWN, SAME, CHANGED]),
    ),
    max_size=8,
).map(lambda reads: sorted(reads, key=lambda r: r[0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(READS, max_size=6), st.integers(0, 9))
def test_a_world_shows_the_reads_what_they_saw(pages, seed):
    kept = Histories()
    for reads in filter(None, pages):
        kept.add(("a", "/"), reads)
    assert kept.enough + kept.too_few == sum(bool(reads) for reads in pages)
    if not kept.sample:
        return
    reads = Reads.of(kept.sample, unit_of(kept.sample, BYTES))
    world = reads.world(rng(seed))
    rows = np.arange(len(world))
    for i, history in enumerate(kept.sample):
        mine = world.changes.times[world.changes.pages == i]
        before = 0.0
        for t, found in zip(history.time, history.found, strict=True):
            if found == UNKNOWN:
                continue
            inside = ((mine >= before) & (mine <= t)).sum()
            if t > before:
                assert inside > 0 if found == CHANGED else not ((mine > before) & (mine < t)).any()
            before = t
    assert (world.unchanged <= world.full).all()
    assert (world.unchanged >= 1).all()
    own = judge(world, reads.visits(), 0.0, float(world.died.max()))
    assert 0 <= own.freshness <= 1 + 1e-9
    assert world.changes.position(rows, world.died).tolist() == world.changes.start[1:].tolist()


def test_prices_of_a_page_with_304s():
    """A body that says the same, on a page that sends validators: the validator had moved."""
    history = History.of(
        ("a", "/"),
        [(0.0, False, 900, UNKNOWN), (1.0, True, 90, SAME), (2.0, False, 1100, SAME),
         (3.0, False, 1000, CHANGED), (4.0, True, NO_SIZE, SAME)],
    )  # fmt: skip
    reads = Reads.of([history], BYTES)
    assert (reads.full.item(), reads.unchanged.item()) == (1000.0, 45.0)
    assert reads.visits().cost.tolist() == [45.0, 1000.0, 1000.0]
    world = reads.world(rng())
    assert world.conditional.all()
    (moved,) = world.shown.times
    assert 1.0 < moved < 2.0
    assert Reads.of([history], FETCHES).visits().cost.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("", Price()), ("8", Price(BYTES, 8e-9)), ("8/GB", Price(BYTES, 8e-9)),
        (" 1.5 / 1000 ", Price(FETCHES, 0.0015)), ("0", Price(BYTES, 0.0)),
    ],
)  # fmt: skip
def test_prices(text, price):
    assert parse_price(text) == price


@pytest.mark.parametrize("text", ["-1", "x", "8/MB", "nan/GB", "inf", "2/1000 credits", "/GB"])
def test_no_prices(text):
    with pytest.raises(ValueError, match="write 8/GB"):
        parse_price(text)


def write(path, pages, days, rate):
    draw = rng()
    rows = ["url,time,status,bytes,changed"]
    for i in range(pages):
        for day in range(days):
            hit = int(draw.random() < -np.expm1(-rate[i]))
            rows.append(f"http://a.example/p/{i},{T + day * DAY:.0f},200,{1000 + i},{hit}")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_the_command(tmp_path, capsys):
    log = write(tmp_path / "log.csv", 30, 30, np.exp(rng().normal(-2.0, 2.0, 30)))
    assert run(["audit", log, "--price", "8/GB", "--policies", "uniform", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    told = facts["policies"]
    assert (told["pages"], told["pages_read_enough"], told["pages_read_too_seldom"]) == (30, 30, 0)
    assert told["visits"] == 30 * 28
    assert told["unit"] == "bytes"
    assert told["spend"] == sum(28 * (1000 + i) for i in range(30))
    assert told["usd"] == pytest.approx(told["spend"] * 8e-9)
    assert [x["policy"] for x in told["policies"]] == ["freshness", "uniform"]
    share = told["policies"][0]["same_freshness_share"]
    assert share["low"] <= share["mean"] <= share["high"]
    assert facts["poisson"][0]["name"] == "a.example/p/*"
    assert run(["audit", log, "--policies", "uniform", "--price", "2/1000"]) == 0
    out = capsys.readouterr().out
    assert "Other policies, tried on 30 of 30 pages" in out
    assert "840 fetches ($1.68) in 840 visits" in out
    assert "(your log)" in out
    assert "as a Poisson process" in out


def test_no_policies_and_wrong_ones(tmp_path, capsys):
    log = write(tmp_path / "log.csv", 3, 5, [1, 1, 1])
    assert run(["audit", log, "--no-policies", "--json"]) == 0
    assert "policies" not in json.loads(capsys.readouterr().out)
    assert run(["audit", log, "--policies", "nobody"]) == 2
    assert "--policies 'nobody': write freshness" in capsys.readouterr().err
    assert run(["audit", log, "--price", "8/MB"]) == 2
    assert "'8/MB' is no price; write 8/GB" in capsys.readouterr().err


def test_a_log_too_small_says_why(tmp_path, capsys):
    log = write(tmp_path / "log.csv", 5, 2, [1.0] * 5)
    assert run(["audit", log, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["policies"]
    assert told["policies"] == []
    assert told["pages_read_too_seldom"] == 5
    assert told["says"][0].startswith("No page was read three times")
    assert run(["audit", log]) == 0
    assert "No page was read three times" in capsys.readouterr().out
