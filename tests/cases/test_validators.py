"""What servers do with validators, and what each visit may conclude from it."""

import pytest

from cases.conftest import DAY, script
from servers.lab import page

ATTRIBUTED = '<html><body><main><span class="price">{}</span> and more</main></body></html>'
T1, T2 = "Thu, 01 Aug 2024 10:00:00 GMT", "Fri, 02 Aug 2024 10:00:00 GMT"
WINDOWS = 'per_day = "10 MB"\nwindow = "1 h"\nreserves = {verification = 0}'


def one_page(step, path="/p"):
    """A seed that is the page itself."""
    return {"shop.test": {path: step, "*": {"s": 404, "b": ""}}}


def test_304_after_a_change_is_unchanged(crawl):  # SCH-01
    crawl.serve(script("SCH-01"))
    crawl.project("http://news.test/feed")
    crawl.passes(2)
    after_change = crawl.page("/feed")
    crawl.passes(4)
    row = crawl.page("/feed")
    assert crawl.lab.statuses("/feed") == [200, 200, 304, 304, 304, 304]
    assert crawl.verdicts("/feed") == ["new", "changed", *["not_modified"] * 4]
    assert len(crawl.changes()) == row.n_changes == 1
    assert row.a / row.b < after_change.a / after_change.b


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"ETag": '"a"', "Last-Modified": T1}, {"ETag": '"b"', "Last-Modified": T2}),
        ({"ETag": '"a"', "Last-Modified": T1}, {"ETag": '"b"', "Last-Modified": T1}),
        ({"ETag": '"a"'}, {"ETag": '"b"'}),
        ({"Last-Modified": T1}, {"Last-Modified": T2}),
        ({"Last-Modified": T2}, {"Last-Modified": T1}),  # a backup was put back
        ({"ETag": '"a"'}, {"Last-Modified": T2}),
        ({"Last-Modified": T1}, {"ETag": '"b"'}),
        ({}, {"ETag": '"b"'}),
        ({}, {"Last-Modified": T1}),
    ],
)
def test_new_validators_of_the_same_body_are_kept(crawl, first, then):  # SCH-03
    cond = "inm" if "ETag" in then else "ims_exact"
    steps = [{"h": h, "fill": 5000, "cond": cond} for h in (first, then)]
    crawl.serve(one_page({"steps": steps}))
    crawl.project("http://shop.test/p")
    crawl.passes(4)
    asked = crawl.lab.of("/p")
    assert [a.status for a in asked] == [200, 200, 304, 304]
    assert [a.inm for a in asked[2:]] == [then.get("ETag")] * 2
    assert [a.ims for a in asked[2:]] == [then.get("Last-Modified")] * 2
    assert crawl.changes() == []
    assert asked[2].sent < asked[0].sent / 10


def test_as_the_case_has_it(crawl):  # SCH-03
    crawl.serve(script("SCH-03"))
    crawl.project("http://blog.test/atom.xml")
    crawl.run(4)
    assert [a.inm for a in crawl.lab.of("/atom.xml")] == [None, '"a"', '"b"', '"b"']
    assert crawl.verdicts("/atom.xml") == ["new", "same", "not_modified", "not_modified"]


def test_validators_that_are_no_longer_sent_are_dropped(crawl):
    steps = [{"h": {"ETag": '"a"', "Last-Modified": T1}, "b": "one"}, {"b": "two"}, {"b": "three"}]
    crawl.serve(one_page({"steps": steps}))
    crawl.project("http://shop.test/p")
    crawl.run(3)
    asked = crawl.lab.of("/p")
    assert [(a.inm, a.ims) for a in asked] == [(None, None), ('"a"', T1), (None, None)]
    assert len(crawl.changes()) == 2


@pytest.mark.parametrize(
    "broken",
    [
        {"b": "<html><body><main>under construction</main></body></html>"},
        {"s": 500, "b": "error"},
        {"b": ""},
        {"b": ATTRIBUTED.format(12), "abort": 20},
        {"s": 503, "h": {"Retry-After": "0"}, "b": ATTRIBUTED.format(12)},
        {"s": 403, "b": ATTRIBUTED.format(12)},
    ],
    ids=["no field", "500", "empty", "cut", "503", "403"],
)
def test_a_visit_that_reads_nothing_moves_no_validator(crawl, broken):  # SCH-05
    """Change and failure at once: the change is told when the page is read again, once."""
    broken = {**broken, "h": {"ETag": '"b"', **broken.get("h", {})}}
    steps = [
        {"h": {"ETag": '"a"'}, "b": ATTRIBUTED.format(10), "cond": "inm"},
        broken,
        {"h": {"ETag": '"b"'}, "b": ATTRIBUTED.format(12), "cond": "inm"},
    ]
    crawl.serve(one_page({"steps": steps}))
    crawl.project(
        "http://shop.test/p", budget=WINDOWS,
        sites='[[site]]\nmatch = "shop.test"\nroute = "lab"\nfields = {price = "css:.price"}',
    )  # fmt: skip
    crawl.days(0.5)
    crawl.days(2)
    assert [a.inm for a in crawl.lab.of("/p")][1:4] == ['"a"', '"a"', '"b"']
    assert crawl.lab.of("/p")[3].status == 304
    assert [c.after for c in crawl.changes()] == [{"price": "12"}]


def test_rules_that_changed_are_never_answered_by_a_304(crawl):  # SCH-05
    """Visit 2 reads with a rule that finds nothing; the rule is mended; the server says 304."""
    step = {"cond": "inm"}
    steps = [
        {"h": {"ETag": '"a"'}, "b": ATTRIBUTED.format(10), **step},
        {"h": {"ETag": '"b"'}, "b": ATTRIBUTED.format(12), **step},
    ]
    crawl.serve(one_page({"steps": steps}))
    site = '[[site]]\nmatch = "shop.test"\nroute = "lab"\nfields = {{price = "css:{}"}}'
    for selector in (".price", ".prize", ".price"):
        crawl.project("http://shop.test/p", sites=site.format(selector))
        if selector != ".prize":  # a failed page waits, so that only the file's rules differ
            crawl.run()
            continue
        crawl.run()
        wait_over(crawl, "/p")
    assert crawl.verdicts("/p") == ["new", "failed", "changed"]
    assert [a.status for a in crawl.lab.of("/p")] == [200, 200, 200]
    assert [c.after for c in crawl.changes()] == [{"price": "12"}]


def wait_over(crawl, path):
    """Let the waiting time of a page be over."""
    row = crawl.page(path)
    with crawl.store() as store:
        from recrawl.model import Writes

        row.retry_at = 0.0
        store.commit(Writes(pages={(row.host_id, row.key): row}))


@pytest.mark.parametrize(
    "stuck",
    [{"ETag": '"fixed"'}, {"Last-Modified": T1}, {"ETag": '"fixed"', "Last-Modified": T1}],
    ids=["ETag", "Last-Modified", "both"],
)
def test_a_200_is_judged_by_its_content(crawl, stuck):  # SCH-07
    crawl.serve({"forum.test": {"/rss": {"h": stuck, "b": "version {{n}} of the news"}}})
    crawl.project("http://forum.test/rss")
    crawl.passes(5)
    assert crawl.verdicts("/rss") == ["new"] + ["changed"] * 4
    with crawl.store() as store:
        (host,) = store.load_hosts()
    assert (host.n_304, host.n_validator) == (0, 4)
    row = crawl.page("/rss")
    assert row.va / row.vb > 0.5 * row.a / row.b > 0  # a validator that never spares a download


def test_a_server_that_calls_everything_unmodified_is_found_out(crawl):
    """Some visits of the random sample are sent without validators."""
    step = {"h": {"ETag": '"x"'}, "b": "text number {{n}} and more", "cond": "always304"}
    crawl.serve({"shop.test": {"/": page(*(f"/p/{i}" for i in range(10))), "*": step}})
    crawl.project(
        "http://shop.test/",
        budget='per_day = "1 MB"\nwindow = "12 h"\nreserves = {verification = "10 %"}',
    )
    crawl.days(10)
    asked = crawl.lab.pages()
    assert any(a.status == 200 and a.n > 1 for a in asked if a.path != "/")
    assert crawl.changes()


@pytest.mark.parametrize("skew", [0.0, DAY, -DAY, 400 * DAY])
def test_validators_never_come_from_our_clock(crawl, skew):  # SCH-09
    crawl.serve(script("SCH-09"), now=crawl.clock.now)
    crawl.clock.t += skew
    crawl.project("http://any.test/feed")
    crawl.passes(4)
    asked = crawl.lab.of("/feed")
    assert [a.status for a in asked] == [200, 304, 304, 304]
    assert {a.ims for a in asked[1:]} == {"Mon, 03 Mar 2025 03:03:03 GMT"}


def test_the_clock_set_wrong_between_two_runs(crawl):  # SCH-09
    crawl.serve(script("SCH-09"))
    crawl.project("http://any.test/feed")
    crawl.passes()
    for step in (-1.5 * DAY, 0.0, 3 * DAY, -30 * DAY, 60 * DAY):
        crawl.clock.t += step
        crawl.passes()
    assert crawl.lab.statuses("/feed") == [200, 304, 304, 304, 304, 304]
    row = crawl.page("/feed")
    assert row.b > 0 and row.last <= crawl.clock.t


@pytest.mark.parametrize(
    "tag",
    ['W/"x"', '"x"', '""', "unquoted", '"a b"', '"x-gzip"', '"x;gzip"', 'w/"lower"', '"1, 2"',
     "W/x", "'single'", '"' + "y" * 500 + '"', '"caf\xe9"'],
)  # fmt: skip
@pytest.mark.parametrize("packed", [True, False])
def test_tags_are_echoed_as_they_came(crawl, tag, packed):  # SCH-24
    def step(asked):
        told = {"ETag": tag.encode().decode("latin-1"), "Vary": "Accept-Encoding"}
        known = asked.inm is not None
        return {"s": 304 if known else 200, "h": told, "b": "y" * 4000, "gzip": packed}

    crawl.serve({"a.test": {"/a": step}})
    crawl.project("http://a.test/a")
    crawl.passes(3)
    asked = crawl.lab.of("/a")
    assert [a.inm for a in asked] == [None, *[tag.encode().decode("latin-1")] * 2]
    assert len({a.headers["accept-encoding"] for a in asked}) == 1
    assert crawl.verdicts("/a") == ["new", "not_modified", "not_modified"]


def test_back_ends_with_different_tags(crawl):  # SCH-26
    back_ends = script("SCH-26")["*"]["/a"]["steps"]
    draws = iter([0, 1, 2, 2, 0, 0, 1, 2, 0, 1, 1, 2] * 20)
    crawl.serve({"a.test": {"/a": lambda _: back_ends[next(draws)]}})
    crawl.project("http://a.test/a")
    crawl.passes(40, gap=3600.0)
    asked = crawl.lab.of("/a")
    spared = [a.status for a in asked].count(304)
    assert crawl.changes() == []
    with crawl.store() as store:
        (host,) = store.load_hosts()
    assert (host.n_304, host.n_validator) == (spared, 39)
    assert 0.2 < spared / 39 < 0.5
    crawl.clock.t -= 1.0
    real = sum(a.sent for a in asked[20:]) / 20
    assert 0.5 < crawl.expected_bytes() / real < 1.5  # 0.1 where beliefs begin at 50 days
