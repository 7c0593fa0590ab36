"""Which sitemaps are fetched, and each once."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.robots_text import parse_robots
from recrawl.sources.sitemap_walk import Skipped, Walk, usual_places


def walked(walk, web, redirects=None):
    """Fetch until there is nothing left; `web` is URL -> sub-sitemaps."""
    fetched = []
    while (url := walk.take()) is not None:
        fetched.append(url)
        assert len(fetched) < 20_000
        final = (redirects or {}).get(url, url)
        walk.found(url, web.get(final, ()), final)
    return fetched


def test_an_index_that_lists_itself_is_fetched_once():
    """MAP-01."""
    index = "http://e.com/sitemap.xml"
    spellings = [
        index,
        "https://e.com/sitemap.xml",
        index + "?",
        index + "#a",
        "HTTP://E.com:80/sitemap.xml",
    ]
    web = {index: [*spellings, "http://e.com/a.xml"], "http://e.com/a.xml": [index]}
    walk = Walk(index, named=[index, index])
    assert walked(walk, web) == [index, "http://e.com/a.xml"]
    assert walk.skipped == {Skipped.SEEN: 7}


def test_a_redirect_to_what_was_read_says_nothing_new():
    index, child = "http://e.com/s.xml", "http://e.com/c.xml"
    web = {index: [child, "http://e.com/d.xml"]}
    walk = Walk(index, named=[index])
    assert walked(walk, web, {child: index}) == [index, child, "http://e.com/d.xml"]
    walk = Walk(index, named=["/old.xml"])
    assert walked(walk, web, {"http://e.com/old.xml": index}) == [
        "http://e.com/old.xml", child, "http://e.com/d.xml"
    ]  # fmt: skip


def test_robots_named_as_a_sitemap():
    """MAP-03."""
    robots = parse_robots(b"User-agent: *\nSitemap: http://h.test/robots.txt\n")
    walk = Walk("http://h.test/robots.txt", named=robots.sitemaps)
    assert walked(walk, {}) == []
    assert walk.skipped == {Skipped.ROBOTS: 1}


def test_other_hosts_only_where_robots_names_them():
    """MAP-11."""
    web = {
        "http://shop.test/s.xml": ["http://cdn.test/n.xml", "http://www.shop.test/w.xml"],
        "http://maps.test/shop.xml": [
            "http://maps.test/1.xml",
            "http://shop.test/2.xml",
            "http://x.test/",
        ],
        "http://shop.test/2.xml": ["http://maps.test/3.xml"],
    }
    walk = Walk("http://shop.test/", named=["/s.xml", "http://maps.test/shop.xml"])
    assert walked(walk, web) == [
        "http://shop.test/s.xml", "http://maps.test/shop.xml", "http://www.shop.test/w.xml",
        "http://maps.test/1.xml", "http://shop.test/2.xml",
    ]  # fmt: skip
    assert walk.skipped == {Skipped.OTHER_HOST: 3}


def test_depth_and_number_are_bounded():
    class Endless(dict):
        def get(self, url, default=()):
            return [url + "a", url + "b", url + "c"]

    walk = Walk("http://e.com/", named=["/s"], max_depth=3)
    assert len(walked(walk, Endless())) == 1 + 3 + 9 + 27
    assert walk.skipped == {Skipped.TOO_DEEP: 81}
    walk = Walk("http://e.com/", named=["/s"], max_depth=99, max_maps=50)
    assert len(walked(walk, Endless())) == 50 == walk.taken
    assert walk.skipped[Skipped.TOO_MANY] == 101


def test_the_usual_places_when_none_is_named():
    walk = Walk("http://e.com:8080/x/y?z")
    assert tuple(walked(walk, {})) == usual_places("http://e.com:8080")
    assert usual_places("http://e.com:8080")[0] == "http://e.com:8080/sitemap.xml"


def test_what_is_no_url_is_counted():
    walk = Walk("http://e.com/", named=["ftp://e.com/s", "http://[", "", "\ud800"])
    assert walked(walk, {}) == ["http://e.com/"]
    assert walk.skipped == {Skipped.INVALID: 3}


LINKS = st.lists(
    st.sampled_from(["/a", "/b", "/c?", "//o.com/d", "https://e.com/a", "b/../a", "/robots.txt"])
    | st.text()
)


@given(
    LINKS,
    st.dictionaries(
        st.sampled_from(["http://e.com/a", "http://e.com/b", "http://o.com/d"]), LINKS
    ),
)
def test_every_walk_ends_and_fetches_nothing_twice(named, web):
    walk = Walk("http://e.com/", named=named)
    fetched = walked(walk, web)
    same = [url.partition("://")[2].removesuffix("?") for url in fetched]
    assert len(same) == len(set(same))
