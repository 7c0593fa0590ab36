"""A right file becomes Settings in the units of the core."""

from __future__ import annotations

from pathlib import Path

import pytest

from recrawl import __version__
from recrawl.config import Cap, load
from recrawl.config.build import project_of
from recrawl.model import Purpose, Verdict
from recrawl.units import Unit

FULL = """
name = "shops"
goal = "harmonic"
policy = "uniform"
order = "priority"
scope = ["shop.example", "*.shop.example", "other.example:8080"]
allow_private = true
honour_nofollow = false
respect_robots = false
user_agent = "bot/1 (+https://bot.example)"
[budget]
per_run = "10000 fetches"
per_hour = "2 h"
per_day = ["4 USD", "500 MB"]
per_week = "2 GiB"
per_month = "2000 credits"
window = "30 min"
min_gap = "5 min"
max_gap = "30 d"
reserves = { discovery = "20 %", reestimation = 0.01, verification = 0.02 }
[tariff.residential]
unit = "bytes"
price = "8 USD/GB"
[tariff.api]
unit = "credits"
price = "49 USD / 150000 credits"
each = { plain = 5 }
charged_on = ["same", "changed"]
[route.proxy]
proxy = "socks5h://proxy.example:1080"
credentials_env = "PROXY_LOGIN"
tariff = "residential"
[route.direct]
tariff = "api"
[limits]
depth = 3
per_host = 50
pages = 1000
bytes = "20 GB"
money = "100 USD"
credits = "5 credits"
fetches = 7
time = "12 h"
url_length = 1000
body = "1 MB"
decoded = "2 MB"
connect_time = "1 s"
first_byte_time = "2 s"
total_time = "3 s"
[politeness]
delay = "250 ms"
concurrency = 2
total_concurrency = 64
jitter = 0
[urls]
profile = "aggressive"
tracking = { add = ["ref@shop.example"], keep = ["utm_id"] }
unsorted_hosts = ["Shop.Example"]
include = ["/shop/"]
exclude = ["/calendar/", "param:sort"]
[[site]]
match = "shop.example/product/*"
type = "product"
value = "high"
fields = { price = "jsonld:offers.price", name = "css:h1" }
route = "proxy"
routes = { robots = "direct" }
between = ["10 min", "30 d"]
[[site]]
match = "other.example"
type = "other"
value = 2.5
tariff = "api"
[store]
path = "data/pages.db"
"""


def test_every_key_arrives_in_the_units_of_the_core(read):
    s = read(FULL)
    assert s.project.name == "shops"
    assert (s.project.goal, s.project.policy, s.project.order) == (
        "harmonic",
        "uniform",
        "priority",
    )
    assert s.project.scope == ("shop.example", "*.shop.example", "other.example:8080")
    assert s.project.allow_private
    assert not s.project.honour_nofollow
    assert not s.project.respect_robots
    assert s.project.user_agent == "bot/1 (+https://bot.example)"
    assert s.budget.by_period() == {
        "run": (Cap(Unit.FETCHES, 10_000),),
        "hour": (Cap(Unit.SECONDS, 7_200_000),),
        "day": (Cap(Unit.USD, 4_000_000), Cap(Unit.BYTES, 500_000_000)),
        "week": (Cap(Unit.BYTES, 2 * 2**30),),
        "month": (Cap(Unit.CREDITS, 2_000_000_000),),
    }
    assert (s.budget.window, s.budget.min_gap, s.budget.max_gap) == (1800, 300, 30 * 86400)
    assert (s.budget.discovery, s.budget.reestimation, s.budget.verification) == (0.2, 0.01, 0.02)
    assert (s.limits.depth, s.limits.per_host, s.limits.pages) == (3, 50, 1000)
    assert s.limits.caps == (
        Cap(Unit.BYTES, 20 * 10**9),
        Cap(Unit.USD, 100_000_000),
        Cap(Unit.CREDITS, 5_000_000),
        Cap(Unit.FETCHES, 7),
        Cap(Unit.SECONDS, 12 * 3600 * 1000),
    )
    assert (s.limits.url_length, s.limits.body, s.limits.decoded) == (1000, 10**6, 2 * 10**6)
    times = s.limits.connect_time, s.limits.first_byte_time, s.limits.total_time
    assert times == (1.0, 2.0, 3.0)
    p = s.politeness
    assert (p.delay, p.concurrency, p.total_concurrency, p.jitter) == (0.25, 2, 64, 0.0)
    assert s.urls.profile == "aggressive"
    assert (s.urls.tracking_add, s.urls.tracking_keep) == (("ref@shop.example",), ("utm_id",))
    assert s.urls.unsorted_hosts == ("shop.example",)
    assert (s.urls.include, s.urls.exclude) == (("/shop/",), ("/calendar/", "param:sort"))


def test_tariffs_and_routes(read):
    s = read(FULL)
    residential, api = s.tariffs
    assert (residential.unit, residential.price_micro_usd, residential.price_per) == (
        Unit.BYTES, 8_000_000, 10**9,
    )  # fmt: skip
    assert residential.plain == 0
    assert set(residential.charged_on) == set(Verdict)
    assert (api.unit, api.price_micro_usd, api.price_per) == (
        Unit.CREDITS, 49_000_000, 150_000_000_000,
    )  # fmt: skip
    assert api.plain == 5_000_000
    assert api.charged_on == (Verdict.CHANGED, Verdict.SAME, Verdict.UNKNOWN)
    proxy = s.routes[0]
    assert (proxy.name, proxy.proxy) == ("proxy", "socks5h://proxy.example:1080")
    assert (proxy.credentials_env, proxy.tariff) == ("PROXY_LOGIN", "residential")
    assert s.default_tariff is None


def test_sites(read):
    product, other = read(FULL).sites
    assert (product.match, product.type, product.value) == (
        "shop.example/product/*",
        "product",
        2.0,
    )
    assert product.fields == (("price", "jsonld:offers.price"), ("name", "css:h1"))
    assert (product.route, product.routes) == ("proxy", ((Purpose.ROBOTS, "direct"),))
    assert (product.min_gap, product.max_gap) == (600.0, 30 * 86400.0)
    assert (other.value, other.tariff, other.min_gap) == (2.5, "api", None)
    assert read(FULL).page_types == ("page", "product", "other")


def test_defaults(read):
    s = read()
    assert s.project.scope == ("shop.example",)
    assert s.project.user_agent == f"recrawl/{__version__} (+owner@shop.example)"
    assert (s.project.goal, s.project.policy, s.project.order) == ("freshness", "index", "fifo")
    assert s.project.honour_nofollow
    assert s.project.respect_robots
    assert not s.project.allow_private
    assert s.budget.by_period() == {}
    assert (s.budget.window, s.budget.min_gap, s.budget.max_gap) == (3600, 600, 90 * 86400)
    assert (s.limits.depth, s.limits.per_host, s.limits.pages, s.limits.caps) == (
        6,
        None,
        None,
        (),
    )
    assert (s.politeness.delay, s.politeness.concurrency) == (1.5, 1)
    assert s.urls.profile == "default"
    assert s.page_types == ("page",)
    assert s.sites == s.tariffs == s.routes == ()


def test_store_stands_beside_the_file_unless_absolute(read, tmp_path):
    assert read().store == tmp_path / "recrawl.db"
    assert read('[store]\npath = "a/b.db"').store == tmp_path / "a" / "b.db"
    assert read('[store]\npath = "/var/x.db"').store == Path("/var/x.db")


@pytest.mark.parametrize(
    "seed", ["http://127.0.0.1:8000/", "http://[::1]/", "http://localhost/", "http://a.localhost/"]
)
def test_a_crawl_of_this_machine_needs_no_contact(read, seed):
    s = read(base=f'[project]\nseeds = ["{seed}"]\n')
    assert s.project.contact == ""
    assert s.project.user_agent == f"recrawl/{__version__}"


def test_one_seed_may_stand_without_a_list(read):
    s = read(
        base='[project]\ncontact = "https://bot.example/"\nseeds = "https://shop.example/a"\n'
    )
    assert s.project.seeds == ("https://shop.example/a",)
    assert s.project.contact == "https://bot.example/"


def test_a_byte_order_mark_and_windows_lines_are_no_mistake(tmp_path):
    path = tmp_path / "recrawl.toml"
    path.write_bytes(b"\xef\xbb\xbf[project]\r\nseeds = ['http://127.0.0.1/']\r\n")
    assert load(path, {}).project.seeds == ("http://127.0.0.1/",)


def test_the_only_tariff_is_the_default_unless_something_names_it(read):
    tariff = '[tariff.mine]\nunit = "bytes"\n'
    assert read(tariff).default_tariff.name == "mine"
    site = '[[site]]\nmatch = "shop.example"\ntariff = "mine"\n'
    assert read(tariff + site).default_tariff is None
    default = '[tariff.default]\nunit = "fetches"\n'
    assert read(default + tariff + site).default_tariff.name == "default"


def test_credits_are_not_billed_for_failures_unless_told(read):
    api = read('[tariff.api]\nunit = "credits"\nprice = "1 USD / 1 credit"\n').tariffs[0]
    assert api.plain == 1_000_000
    assert set(Verdict) - set(api.charged_on) == {
        Verdict.BLOCKED, Verdict.SOFT_ERROR, Verdict.FAILED,
    }  # fmt: skip


def test_scope_follows_unicode_seeds(read):
    s = read(base='[project]\ncontact = "a@b.example"\nseeds = ["https://bücher.example/"]\n')
    assert s.project.scope == ("xn--bcher-kva.example",)


@pytest.mark.parametrize(
    ("seed", "scope"),
    [
        ("http://10.0.0.5:8080/", ("10.0.0.5:8080",)),
        ("http://10.0.0.5/", ("10.0.0.5:80", "10.0.0.5:443")),
        ("https://[::1]:9/", ("[::1]:9",)),
        ("https://shop.example:8443/", ("shop.example",)),
    ],
)
def test_a_private_seed_opens_its_own_port_only(read, seed, scope):
    s = read(base=f'[project]\ncontact = "a@b.example"\nseeds = ["{seed}"]\n')
    assert s.project.scope == scope


BROWSER = """
[tariff.api]
unit = "credits"
each = { plain = 1, browser = 5 }
[route.api]
proxy = "http://p.example:8001"
tariff = "api"
browser_header = "X-Render: true"
[[site]]
match = "shop.example/app/*"
route = "api"
mode = "browser"
routes = { robots = "direct" }
"""


def test_a_site_by_browser(read):
    """Its pages are a type of their own; the route hands the mode on."""
    settings = read(BROWSER)
    project = project_of(settings)
    assert settings.page_types == ("page", "shop.example/app/*")
    assert project.modes == ("plain", "browser")
    assert project.mode_headers == {("api", "browser"): ("X-Render", "true")}
    assert project.tariff_of("api").credits == {"plain": 1.0, "browser": 5.0}
    assert project_of(read()).modes == ()


def test_page_types_are_those_of_the_engine(read):
    """A site's own gaps make a type too: reports name it by this list."""
    settings = read("[[site]]\nmatch = 'shop.example/a/*'\nbetween = ['1 h', '9 d']\n")
    assert settings.page_types == tuple(t.name for t in project_of(settings).sites.types)
