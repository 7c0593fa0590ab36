"""Two tiers of a page's text: what noise moves which, and what a change moves."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.digests import SIZE, digest, rules, same_rules
from recrawl.extract.document import Document
from recrawl.extract.text import Tiers, essentials, tiers

URL = "https://e.com/"


def read(page: str, kind: str = "text/html") -> Tiers:
    return tiers(Document(page.encode(), kind, URL))


SHOP = """<!DOCTYPE html><html><head><title>Anvil</title>
<meta name="csrf-token" content="{csrf}"><script nonce="{nonce}">var t={clock};</script>
<style>.a{{}}</style></head><body>
<header>Welcome, it is {clock}
<nav><a href="/a">Home</a> <a href="/b?sid={nonce}">More</a></nav></header>
<main><article><header><h1>Executive Anvil</h1></header>
<p>Sleeker than the <b>classic</b> one, {word}.</p>
<form action="/buy"><input type="hidden" name="csrf" value="{csrf}">
<span class="price">{price} EUR</span><button>Buy</button></form>
<p>Generated {clock}, request {nonce}</p></article>
<aside>Also: {ad}</aside></main>
<div class="ad">{ad}</div><div hidden>{nonce}</div><p style="DISPLAY: none">{nonce}</p>
<footer>(c) 2026, served {clock}</footer></body></html>"""
SAME = {"word": "says everyone", "price": "129.00"}
NOISE = [
    {
        "csrf": f"{k}f86d081884c7d659a2feaa0c55ad015",
        "nonce": f"dGhpcyBp{k}cyBhIHRva2Vu{k}IQ4x9Zq",
        "clock": f"Mon, 30 Nov 2026 18:0{k}:0{k} GMT",
        "ad": ["Buy shoes", "Fly to Rome", "Sofas, cheap"][k],
    }
    for k in range(3)
]


def test_noise_moves_the_first_tier_only() -> None:
    read_ = [read(SHOP.format(**SAME, **noise)) for noise in NOISE]
    assert len({t.main for t in read_}) == 1
    assert len({t.visible for t in read_}) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"price": "192.00"},
        {"price": "129.01"},
        {"price": "1290.0"},
        {"word": "says everybody"},
        {"word": "says everyone, twice"},
        {"word": ""},
    ],
)
def test_a_changed_word_or_price_moves_both(changed: dict[str, str]) -> None:
    before = read(SHOP.format(**SAME, **NOISE[0]))
    after = read(SHOP.format(**(SAME | changed), **NOISE[1]))
    assert before.visible != after.visible
    assert before.main != after.main


def test_digits_in_another_order_are_another_text() -> None:
    pages = [f"<main><p>Now {n} pieces</p></main>" for n in ("12", "21", "129", "192", "1.29")]
    for one, two in combinations([read(p) for p in pages], 2):
        assert one.main != two.main


def test_what_no_reader_sees_is_no_text() -> None:
    page = (
        "<head><title>t</title></head><body>a<script>no</script><style>no</style>"
        "<noscript>no</noscript><template>no</template><iframe>no</iframe><p hidden>no</p>"
        "<div hidden><p>no<span hidden>no</span></p></div><!-- no -->"
        "<b style='display:none'>no</b><i style='display : none'>no</i><input value=no>b"
    )
    assert read(page) == Tiers(b"t\na b\n", b"t\na b")


def test_words_and_cells_stay_apart() -> None:
    one = read("<table><tr><td>1</td><td>21</td></tr></table>")
    two = read("<table><tr><td>12</td><td>1</td></tr></table>")
    assert one.visible != two.visible


@pytest.mark.parametrize(
    "page",
    [
        "<p>a b</p>",
        "<p>\n\ta\r\n   b\x0c </p>",
        "<p>a&nbsp;b</p>",
        "<p>a</p><p>b</p>",
        "<p>a</p>\n\n\n<p>b</p>",
        "<p>a<!-- x --> b</p>",
        "<div><div>a</div> <span> b </span></div>",
    ],
)
def test_white_space_and_markup_are_no_text(page: str) -> None:
    assert read(page).visible == b"\na b\n"


@pytest.mark.parametrize(
    ("page", "main"),
    [
        ("<nav>n</nav><p>x</p>", "x"),
        ("<header>h</header><main>x</main><footer>f</footer>", "x"),
        ("<main><header><h1>x</h1></header>y<footer>z</footer></main>", "x y z"),
        ("<article><div><div><header>x</header></div></div></article>", "x"),
        ("<p>x</p><aside>a</aside>", "x"),
        ("<form>Search <button>Go</button></form><p>x</p>", "x"),
        ("<form><p>costs 12 EUR</p></form>", "costs 12 EUR"),  # a page in one form, as some are
        ("<p>on <time>yesterday</time> x</p>", "on x"),
        ("<div role=navigation>n</div><div role=MAIN>x</div><p role=timer>9</p>", "x"),
        ("<div role=navigation><nav>n</nav></div><div role=banner hidden>h</div>x", "x"),
        ("<div class='big ad'>a</div><div class=advert-top>b</div><p class=address>x</p>", "x"),
        ("<nav>only <b>links</b></nav>", "only links"),  # nothing else: all of it is the page
        ("<nav>n<aside>a</aside></nav><aside><nav>n</nav></aside>x", "x"),
        ("", ""),
    ],
)
def test_the_main_text_is_the_page_less_its_chrome(page: str, main: str) -> None:
    assert read(page).main.decode() == f"\n{main}"


def test_the_title_is_part_of_both_tiers() -> None:
    one, two = (read(f"<title>{t}</title><p>x</p>") for t in ("One", "Two"))
    assert one.visible != two.visible
    assert one.main != two.main


def test_a_page_of_frames_has_its_title() -> None:
    assert read("<title>t</title><frameset><frame src=/x></frameset>").visible.startswith(b"t\n")


JSON_LD = '<title>t</title><script type="application/ld+json">{}</script><p>x</p>'


def test_a_price_that_only_scripts_show_is_content() -> None:
    pages = [
        read(JSON_LD.format(f'{{"@type":"Product","offers":{{"price":{price}}}}}'))
        for price in ("12", "21", '"12.00"')
    ]
    assert pages[0] != pages[1]
    assert pages[0].main != pages[1].main
    assert pages[0] == pages[2]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            '{"@type":"Product","name":"A","offers":[{"price":"9.90","priceCurrency":"EUR"}]}',
            {"name": "A", "price": "9.9", "priceCurrency": "EUR"},
        ),
        ('{"@graph":[{"@type":"WebSite"},{"@type":"Article","headline":"H"}]}', {"headline": "H"}),
        ('[{"@type":["Thing","NewsArticle"],"headline":"H"}]', {"headline": "H"}),
        ('{"@type":"https://schema.org/Offer","price":5.0,"availability":null}', {"price": "5"}),
        ('{"@type":"Product","name":{"deep":1},"sku":""}', {}),
        ('{"@type":"Article","dateModified":"2026-11-30"}', {}),
        ('{"@type":"Organization","name":"O"}', {}),
        ("null", {}),
        ("{broken", {}),
    ],
)
def test_essentials(data: str, expected: dict[str, str]) -> None:
    assert essentials(Document(JSON_LD.format(data).encode(), "text/html", URL)) == expected


def test_json_in_another_order_is_the_same() -> None:
    """CHG-01."""
    kind = "application/json"
    one = read('{"price":10,"stock":3,"at":"2026-11-30T18:04:05Z"}', kind)
    two = read('{ "stock": 3,\n "at": "2026-11-30T18:04:05Z", "price": 10.0 }', kind)
    later = read('{"price":10,"stock":3,"at":"2026-12-01T09:12:11Z"}', kind)
    dearer = read('{"price":11,"stock":3,"at":"2026-11-30T18:04:05Z"}', kind)
    assert one == two
    assert one.visible != later.visible
    assert one.main == later.main
    assert one.main != dearer.main


def test_other_text_is_compared_as_it_stands_and_the_rest_byte_by_byte() -> None:
    assert read("a  b\n c", "text/plain").visible == b"a b c"
    xml = read("<a>1</a>", "application/xml")
    assert xml.visible == b"<a>1</a>"
    image = tiers(Document(b"\x89PNG \xff 12:30", "image/png", URL))
    assert image == Tiers(b"\x89PNG \xff 12:30", b"\x89PNG \xff 12:30")


def test_digests_tell_their_rules_and_their_content() -> None:
    plain, fields = rules(), rules("price=css:.price")
    assert plain != fields
    assert len(plain) == 2
    a, b, c = digest(b"x", plain), digest(b"y", plain), digest(b"x", fields)
    assert len({a, b, c}) == 3
    assert {len(d) for d in (a, b, c)} == {SIZE}
    assert same_rules(a, b)
    assert not same_rules(a, c)


def test_no_two_of_many_contents_share_a_digest() -> None:
    mark = rules()
    assert len({digest(b"%d" % n, mark) for n in range(20_000)}) == 20_000


def test_digests_are_the_same_in_every_process() -> None:
    """CHG-18: five hash seeds."""
    code = (
        "from recrawl.extract.document import Document\n"
        "from recrawl.extract.digests import digest, rules\n"
        "from recrawl.extract.text import tiers\n"
        "out = []\n"
        "for n in range(100):\n"
        "    page = f'<title>p{n}</title><nav>x</nav><p>word {n} and {n * 7}</p>'.encode()\n"
        "    t = tiers(Document(page, 'text/html', 'https://e.com/'))\n"
        "    out.append(digest(t.visible, rules()).hex() + digest(t.main, rules('a=b')).hex())\n"
        "print(','.join(out))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2", "3", "4")
    }
    assert len(said) == 1
    assert len(said.pop().split(b",")) == 100


@given(st.text(max_size=80), st.text(max_size=80))
def test_equal_visible_text_means_equal_main_text(a: str, b: str) -> None:
    one, two = (read(f"<main><p>{t}</p></main>") for t in (a, b))
    if one.visible == two.visible:
        assert one.main == two.main


def test_a_page_of_20_kb_takes_less_than_a_few_milliseconds() -> None:
    """Generous, for slow machines: it is there to catch what is slow by an order of magnitude."""
    part = "<div class='item'><h3>some words here</h3><p>{} and <a href='/p/{}'>more</a></p></div>"
    page = "".join(part.format("words " * 20, n) for n in range(110)).encode()
    assert 18_000 < len(page) < 30_000
    best = 1.0
    for _ in range(20):
        began = time.process_time()
        tiers(Document(page, "text/html; charset=utf-8", URL))
        best = min(best, time.process_time() - began)
    assert best < 0.004
