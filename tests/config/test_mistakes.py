"""Every mistake is reported, all at once, with its line, its key and the fix."""

from __future__ import annotations

import re

import pytest

from recrawl.config import ConfigError, load

MANY = """\
[project]
seeds = ["shop.example", "https://ok.example/"]
gaol = "freshness"
contact = "me"

[budget]
per_day = "4 dolars"
reserves = { discovery = 0.9, verification = "a lot" }
depth = 7

[tariff.api]
unit = "credits"
price = "49 USD / 150000 creditz"

[[site]]
match = "shop.example/*"
value = "hihg"

[[site]]
route = "prox"
tariff = "ap"
fields = { price = "xpath://a" }
"""


def test_all_mistakes_at_once_in_the_order_of_lines(wrong):
    messages = wrong(base=MANY)
    assert all(m.startswith("recrawl.toml:") for m in messages)
    assert [m.removeprefix("recrawl.toml:") for m in messages] == [
        (
            "2: project.seeds: 'shop.example': invalid URL (it is relative, without a "
            "base); write it as in 'https://shop.example'"
        ),
        "3: project.gaol: unknown key; did you mean 'goal'?",
        (
            "4: project.contact: 'me' is no contact; write a mail address or the URL of "
            "a page about your bot"
        ),
        (
            "7: budget.per_day: '4 dolars': 'dolars' is no unit of a budget; use USD, "
            "B/kB/MB/GB, credits, fetches or s/min/h"
        ),
        ("8: budget.reserves.verification: 'a lot' is not a number; write it as in 1.5"),
        "9: budget.depth: unknown key here; 'depth' belongs in [limits]",
        (
            "13: tariff.api.price: '49 USD / 150000 creditz': no unit after '/'; write "
            "it as in '8 USD/GB' or '49 USD / 150000 credits'"
        ),
        (
            "17: site[0].value: 'hihg' is neither a number nor one of critical, high, "
            "normal, low; did you mean 'high'?"
        ),
        '19: site[1].match: missing; write match = "example.com/item/*"',
        "20: site[1].route: there is no route 'prox'; add [route.prox]",
        "21: site[1].tariff: there is no tariff 'ap'; did you mean 'api'?",
        ("21: site[1].tariff: a route is billed by its own tariff; write it in [route.prox]"),
        ("22: site[1].fields: 'xpath://a' is no selector; write 'css:...' or 'jsonld:a.path'"),
    ]


ONE = [
    ('[budget]\nper_day = "4"', "budget.per_day", "write a number and a unit"),
    ('[budget]\nper_day = 4', "budget.per_day", "is not a list"),
    ('[budget]\nper_day = "0 USD"', "budget.per_day", "leave the line out"),
    ('[budget]\nper_day = ["1 MB", "2 MB"]', "budget.per_day", "same unit twice"),
    ('[budget]\nper_day = "4 USD"', "budget.per_day", "no tariff has a price"),
    ('[budget]\nper_day = "4 credits"', "budget.per_day", "no tariff counts them"),
    ('[budget]\nwindow = "1 fortnight"', "budget.window", "no unit of time"),
    ('[budget]\nwindow = "0 s"', "budget.window", "is nothing"),
    ('[budget]\nmin_gap = "100 d"', "budget.min_gap", "longer than max_gap"),
    ("[budget]\nreserves = { discovery = 5 }", "budget.reserves.discovery", "0.10 or '10 %'"),
    ("[budget]\nreserves = { discovery = 0.95 }", "budget.reserves", "at most 0.9"),
    ("[budget]\nreserves = 0.1", "budget.reserves", "is no table"),
    ("[tariff.x]\nprice = '8 USD/GB'", "tariff.x.unit", "write one of bytes"),
    ("[tariff.x]\nunit = 'credits'\nprice = '8 USD/GB'", "tariff.x.price", "another unit"),
    ("[tariff.x]\nunit = 'bytes'\nprice = '8 EUR/GB'", "tariff.x.price", "use USD"),
    ("[tariff.x]\nunit = 'bytes'\nprice = '8 USD'", "tariff.x.price", "'8 USD/GB'"),
    ("[tariff.x]\nunit = 'bytes'\neach = { plain = 2 }", "tariff.x.each", "measured"),
    ("[tariff.x]\nunit = 'credits'\neach = { gpu = 2 }", "tariff.x.each.gpu", "unknown"),
    ("[tariff.x]\nunit = 'credits'\neach = { browser = 0 }", "tariff.x.each.browser", "above 0"),
    ("[[site]]\nmatch = 'a.example'\nmode = 'browser'", "site[0].mode", "'direct' can't hand"),
    (("[route.api]\nproxy = 'http://p.example:1'\nbrowser_header = 'X-Render: true'\n"
     "tariff = 'api'\n[tariff.api]\nunit = 'credits'\n"
     "[[site]]\nmatch = 'a.example'\nmode = 'browser'\nroute = 'api'"), "site[0].mode",
     "has no charge for a browser"),
    ("[route.api]\nproxy = 'http://p.example:1'\nbrowser_header = 'X-Render'",
     "route.api.browser_header", "is no header"),
    ("[route.api]\nproxy = 'http://p.example:1'\nbrowser_header = 'Cookie: a=b'",
     "route.api.browser_header", "holds credentials"),
    ("[route.api]\nproxy = 'http://p.example:1'\nbrowser_header = 'Host: x'",
     "route.api.browser_header", "set by the crawler"),
    ("[tariff.x]\nunit = 'credits'\neach = { plain = 0 }", "tariff.x.each.plain", "above 0"),
    ("[tariff.x]\nunit = 'bytes'\ncharged_on = ['sam']", "tariff.x.charged_on", "'same'"),
    ("[tariff.x]\nunit='bytes'\n[tariff.y]\nunit='bytes'\n[route.direct]\ntariff='y'",
     "tariff.x", "used by no route"),
    ("[tariff]\nunit = 'bytes'", "tariff.unit", "is no table; write [tariff.unit]"),
    ("[route.p]\ncredentials_env = 'X'", "route.p.proxy", "missing"),
    ("[route.p]\nproxy = 'ftp://x:1'", "route.p.proxy", "http|https|socks5|socks5h://host:port"),
    ("[route.p]\nproxy = 'http://x'", "route.p.proxy", "host:port"),
    ("[route.p]\nproxy = 'http://x:99999'", "route.p.proxy", "host:port"),
    ("[route.direct]\nproxy = 'http://x:1'", "route.direct.proxy", "another name"),
    ("[route.p]\nproxy = 'http://x:1'\ntariff = 'no'", "route.p.tariff", "there is no tariff"),
    ("[limits]\ndepth = -1", "limits.depth", "0 or more"),
    ("[limits]\ndepth = true", "limits.depth", "not a whole number"),
    ("[limits]\ndepth = 2.5", "limits.depth", "not a whole number"),
    ("[limits]\nper_host = 0", "limits.per_host", "1 or more"),
    ("[limits]\npages = 99999999999999999999", "limits.pages", "out of range"),
    ("[limits]\nbytes = '4 USD'", "limits.bytes", "another unit"),
    ("[limits]\nmoney = '4 USD'", "limits.money", "no tariff has a price"),
    ("[limits]\nbody = '9 MB'\ndecoded = '1 MB'", "limits.decoded", "less than limits.body"),
    ("[limits]\nconnect_time = '2 min'", "limits.connect_time", "longer than limits.total_time"),
    ("[limits]\nper_page = 3", "limits.per_page", "unknown key"),
    ("[politeness]\ndelay = 1.5", "politeness.delay", "write a number and a unit"),
    ("[politeness]\ndelay = '-1 s'", "politeness.delay", "is not a quantity"),
    ("[politeness]\nconcurrency = 99", "politeness.concurrency", "more than politeness.total"),
    ("[politeness]\njitter = nan", "politeness.jitter", "not a number"),
    ("[urls]\nprofile = 'saef'", "urls.profile", "did you mean 'safe'?"),
    ("[urls]\nexclude = ['calendar/']", "urls.exclude", "write '/calendar/'"),
    ("[urls]\nexclude = ['param:']", "urls.exclude", "write 'param:sort'"),
    ("[urls]\nexclude = ['']", "urls.exclude", "not a text"),
    ("[urls]\nexclude = [1]", "urls.exclude", "not a text"),
    ("[urls]\ntracking = { add = ['a b'] }", "urls.tracking.add", "names no parameter"),
    ("[urls]\nunsorted_hosts = ['https://a.example/x']", "urls.unsorted_hosts", "'a.example'"),
    ("[site]\nmatch = 'a.example'", "site", "write [[site]]"),
    ("[[site]]\nmatch = '/item/*'", "site[0].match", "names no host"),
    ("[[site]]\nmatch = 'ftp://a.example/'", "site[0].match", "http and https"),
    ("[[site]]\nmatch = 'a.example'\n[[site]]\nmatch = 'a.example'", "site[1].match", "site[0]"),
    ("[[site]]\nmatch = 'a.example'\nvalue = 0", "site[0].value", "above 0"),
    ("[[site]]\nmatch = 'a.example'\nfields = 'price'", "site[0].fields", "is no table"),
    ("[[site]]\nmatch = 'a.example'\nfields = { p = 'css:' }", "site[0].fields", "no selector"),
    ("[[site]]\nmatch = 'a.example'\nroutes = { robot = 'direct' }", "site[0].routes.robot",
     "'robots'"),
    ("[[site]]\nmatch = 'a.example'\nroutes = { robots = 'x' }", "site[0].routes.robots",
     "there is no route 'x'"),
    ("[[site]]\nmatch = 'a.example'\nbetween = '1 d'", "site[0].between", "pair of times"),
    ("[[site]]\nmatch = 'a.example'\nbetween = ['2 d', '1 d']", "site[0].between", "longer time"),
    ("[store]\npath = ''", "store.path", "not a text"),
    ('[store]\npath = "a\\u0000b"', "store.path", "control characters"),
    ("[budget]\nreset_day = 32", "budget.reset_day", "1 to 31"),
    ("[tariff.x]\nunit = 'bytes'\ncharge_header = 'x-credits'", "tariff.x.charge_header",
     "counts bytes"),
    ("[tariff.x]\nunit = 'credits'\ncharge_max = 5", "tariff.x.charge_max", "there is none"),
    ("[tariff.x]\nunit = 'credits'\ncharge_header = 'x-c'\ncharge_max = 0.5",
     "tariff.x.charge_max", "write 1 or more"),
    ("[bugdet]\nper_day = '4 MB'", "bugdet", "did you mean 'budget'?"),
    ("per_day = '4 MB'", "project.per_day", "belongs in [budget]"),
    ("goal = 'fresh'", "project.goal", "freshness, harmonic, age, events"),
    ("order = 'FIFO'", "project.order", "did you mean 'fifo'?"),
    ("policy = 1", "project.policy", "1 is not one of"),
    ("allow_private = 'maybe'", "project.allow_private", "write true or false"),
    ("scope = ['https://a.example']", "project.scope", "names no host"),
    ("scope = []", "project.scope", "is empty"),
    ("user_agent = \"a\\nb\"", "project.user_agent", "control characters"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key", "fix"), ONE, ids=[f"{k}-{i}" for i, (_, k, _) in enumerate(ONE)]
)
def test_one_mistake_one_line(wrong, text, key, fix):
    messages = [m for m in wrong(text) if f": {key}: " in m]
    assert len(messages) == 1
    assert fix in messages[0]
    assert re.match(r"recrawl\.toml:\d+: ", messages[0])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("seeds = ['ftp://a.example/', 'https://b.example/', 'nonsense:']", ("ftp:", "nonsense:")),
        ("scope = ['https://a.example', 'a/b']", ("'https://a.example'", "'a/b'")),
        ("[urls]\nexclude = [1, 2]", ("1 ", "2 ")),
        ("[urls]\nunsorted_hosts = ['a/b', 'ok.example', 'c?d']", ("'a/b'", "'c?d'")),
        ("[urls]\ntracking = { add = ['a b', 'c d'] }", ("a b", "c d")),
        (
            "[[site]]\nmatch = 'a.example'\nfields = { p = 'css:', q = 'xpath:b' }",
            ("'css:'", "'xpath:b'"),
        ),
    ],
)
def test_every_wrong_item_of_a_list_is_named_at_once(read, text, named):
    base = '[project]\ncontact = "a@b.example"\n'
    if "seeds" not in text:
        base += 'seeds = ["https://a.example/"]\n'
    with pytest.raises(ConfigError) as caught:
        read(text, base=base)
    assert all(any(name in m for m in caught.value.messages) for name in named)


@pytest.mark.parametrize(
    ("base", "key", "fix"),
    [
        ("", "project.seeds", "missing; write seeds ="),
        ("project = 3\n", "project", "is no table; write [project]"),
        ('[project]\nseeds = ["https://a.example/"]\n', "project.contact", "127.0.0.1"),
        (
            '[project]\nseeds = ["http://127.0.0.1/", "https://a.example/"]\n',
            "project.contact",
            "",
        ),
        ('[project]\nseeds = ["http://127.evil.example/"]\n', "project.contact", "reach you"),
        (
            '[project]\nseeds = ["http://localhost.evil.example/"]\n',
            "project.contact",
            "reach you",
        ),
        ('[project]\nseeds = ["mailto:a@b.example"]\n', "project.seeds", "not http or https"),
        ('[project]\nseeds = ["https://u:secret@a.example/"]\n', "project.seeds", "never stand"),
        ('[project]\nseeds = ["https://a.example:99999/"]\n', "project.seeds", "bad port"),
    ],
)
def test_seeds_and_contact(wrong, base, key, fix):
    messages = wrong(base=base)
    assert len(messages) == 1
    assert f": {key}: " in messages[0]
    assert fix in messages[0]


@pytest.mark.parametrize(
    "text",
    [
        '[project]\nseeds = ["https://u:hunter2@a.example/"]\n',
        '[route.p]\nproxy = "http://u:hunter2@x:1"\n',
        '[route.p]\nproxy = "u:hunter2@x:1"\n',
        '[route.p]\nproxy = "http://x:1"\ncredentials_env = "u:hunter2"\n',
    ],
)
def test_secrets_are_refused_and_never_repeated(wrong, text):
    assert "hunter2" not in "\n".join(wrong(text, base=""))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[project]\nname = x y\n", 2, "quotes"),
        ("[budget]\nper_day = 4 USD\n", 2, "quotes"),
        ("[project\n", 1, "not TOML"),
        ("a = 1\na = 2\n", 2, "keep one"),
        ("a = [1, 2", 1, "not TOML"),
        ('a = """x', 1, "not TOML"),
    ],
)
def test_broken_toml_names_its_line(wrong, text, line, what):
    (message,) = wrong(base=text)
    assert message.startswith(f"recrawl.toml:{line}: not TOML: ")
    assert what in message


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "no.toml"
    with pytest.raises(
        ConfigError, match=r"no such file; make one with `recrawl init URL`.*--config"
    ):
        load(missing, {})
    with pytest.raises(ConfigError, match="can't be read"):
        load(tmp_path, {})
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"[project]\nname = 'caf\xe9'\n")
    with pytest.raises(ConfigError, match=r"latin\.toml:2: not UTF-8"):
        load(latin, {})
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="not TOML"):
        load(deep, {})


@pytest.mark.parametrize(
    "value", ["1979-05-27T07:32:00Z", "inf", "[[1]]", "{a = {b = 1}}", "07:32:00"]
)
@pytest.mark.parametrize(
    "key", ["budget.per_day", "limits.depth", "politeness.delay", "urls.exclude", "project.seeds"]
)
def test_any_type_of_value_is_a_mistake_and_no_crash(wrong, key, value):
    section, name = key.split(".")
    messages = wrong(base=f"[{section}]\n{name} = {value}\n")
    assert any(f": {key}: " in m for m in messages)


def test_huge_numbers_are_mistakes_and_no_crash(wrong):
    digits = "9" * 5000
    text = (
        f'[budget]\nper_day = "{digits} MB"\nwindow = "{digits} d"\n[limits]\ndepth = "{digits}"\n'
    )
    messages = wrong(text)
    assert len(messages) == 3
    assert all(len(m) < 300 for m in messages)
