"""Parameters that are no part of a page's identity: by name, by host, by the value's shape."""

from __future__ import annotations

import json
from importlib.resources import files
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.urls import tracking
from recrawl.urls.tracking import HostRules, Rule, TrackingRules, read_rules

RULES = TrackingRules.default()
SESSION = "9682993c8daa2c5497996114facdc805"


def kept(query: str, host: str = "h.test", path: str = "/", rules: TrackingRules = RULES) -> str:
    return "&".join(rules.for_host(host).strip(query.split("&"), path))


@pytest.mark.parametrize(
    "name",
    ["utm_source", "utm_anything", "UTM_Medium", "mtm_campaign", "pk_kwd", "itm_x", "hsa_acc",
     "_hsenc", "__hstc", "bsft_uid", "oly_enc_id", "vero_id", "fbclid", "gclid", "GCLID", "gclsrc",
     "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "msclkid", "yclid", "ysclid",
     "twclid", "ttclid", "li_fat_id", "srsltid", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl",
     "_openstat", "irclickid", "cjevent", "wickedid", "s_cid", "wt_mc", "wt.mc_id",
     "__twitter_impression", "guccounter", "guce_referrer", "sfmc_id", "igshid"],
)  # fmt: skip
def test_these_say_who_came_on_every_host(name: str) -> None:
    assert kept(f"a=1&{name}=x&b=2") == "a=1&b=2"
    assert kept(name) == ""
    assert kept(f"a={name}") == f"a={name}"


@pytest.mark.parametrize(
    "name",
    ["ref", "source", "r", "s", "t", "id", "sid", "cid", "pid", "page", "context", "redirect",
     "email", "session", "keywords", "cb", "timestamp", "feature", "si", "trk", "form", "ei", "sa",
     "spm", "utm", "xutm_source", "pk_id", "_hx", "gclid2", "cfid", "cftoken", "ref_src"],
)  # fmt: skip
def test_these_may_say_what_is_shown_and_stay(name: str) -> None:
    assert kept(f"{name}=x1&z=2") == f"{name}=x1&z=2"


@pytest.mark.parametrize(
    ("host", "query", "left"),
    [
        ("www.youtube.com", "v=abc&si=xyz&feature=share", "v=abc"),
        ("youtu.be", "si=xyz&t=30", "t=30"),
        ("notyoutube.com", "v=abc&si=xyz", "v=abc&si=xyz"),
        ("youtube.com.evil.test", "si=xyz", "si=xyz"),
        ("x.com", "s=20&t=abc&ref_src=twsrc&lang=es", "lang=es"),
        ("max.com", "s=20&t=abc", "s=20&t=abc"),
        ("help.x.com", "ref_page=2", "ref_page=2"),
        ("www.amazon.de", "ref_=x&pf_rd_p=1&pd_rd_w=2&k=shoes", "k=shoes"),
        ("amazon.co.uk", "ref_=x&th=1", "th=1"),
        ("amazon.com.mx", "ref_=x", ""),
        ("amazon.evil.test", "ref_=x", "ref_=x"),
        ("notamazon.de", "ref_=x", "ref_=x"),
        ("www.ebay.com", "_trksid=p&_trkparms=x&hash=1", "hash=1"),
        ("es.aliexpress.com", "spm=a2g0o&algo_pvid=1&sku=2", "sku=2"),
        ("www.google.es", "q=a&ved=1&ei=2&sa=X", "q=a"),
        ("m.facebook.com", "__cft__%5B0%5D=A&__tn__=B&story=1", "story=1"),
        ("www.linkedin.com", "trk=public&id=5", "id=5"),
        ("www.bing.com", "q=a&FORM=QBLH&cvid=1", "q=a"),
        ("www.instagram.com", "igsh=a&igshid=b&hl=es", "hl=es"),
        ("www.youtube.com.", "si=xyz&v=1", "v=1"),
    ],
)
def test_some_say_so_only_on_their_host(host: str, query: str, left: str) -> None:
    assert kept(query, host) == left


@pytest.mark.parametrize(
    ("query", "left"),
    [
        (f"a=1&PHPSESSID={SESSION}", "a=1"),
        ("jsessionid=a63098d96360$B0$D9$A", ""),
        ("JSESSIONID=0000abcdefghijkl.node1", ""),
        (f"sid={SESSION}&f=2", "f=2"),
        ("_sessionid=e36902d5bb2d0d922fc24b43", ""),
        ("sid=xyz", "sid=xyz"),
        ("sid=12345", "sid=12345"),
        ("sid=internationalization", "sid=internationalization"),
        ("sessionid=winter-2026-keynote-1", "sessionid=winter-2026-keynote-1"),
        ("phpsessid=1", "phpsessid=1"),
        ("PHPSESSID", "PHPSESSID"),
        ("ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM", ""),
        ("ASPSESSIONIDAQBSDSRT=7", "ASPSESSIONIDAQBSDSRT=7"),
        ("CFID=12412453&CFTOKEN=15501799&foo=bar", "foo=bar"),
        ("CFID=14475712&CFTOKEN=2D89F5AF-3048-2957-DA4EE4B6B13661AB", ""),
        ("CFID=12412453&foo=bar", "CFID=12412453&foo=bar"),
        ("CFID=shop&CFTOKEN=15501799", "CFID=shop"),
    ],
)
def test_a_session_is_known_by_name_and_shape(query: str, left: str) -> None:
    assert kept(query) == left


def test_mail_tokens_stay_where_they_unsubscribe() -> None:
    assert kept("mkt_tok=abc&a=1") == "a=1"
    assert kept("mkt_tok=abc&a=1", path="/UnsubscribePage.html") == "mkt_tok=abc&a=1"


def test_a_user_adds_names_hosts_and_prefixes() -> None:
    rules = RULES.extended(add=["Ref", "src@shop.test", "x_*", "y_*@amazon.*"])
    assert kept("REF=1&src=2&x_1=3&y_1=4&z=5", "h.test", rules=rules) == "src=2&y_1=4&z=5"
    assert kept("src=2&z=5", "www.shop.test", rules=rules) == "z=5"
    assert kept("y_1=4&z=5", "amazon.fr", rules=rules) == "z=5"
    assert kept("ref=1", rules=RULES) == "ref=1"


def test_what_a_user_keeps_is_kept_whatever_rule_names_it() -> None:
    rules = RULES.extended(
        add=["utm_id"], keep=["utm_id", "gclid@shop.test", "hsa_*", "sid", "aspsessionid*"]
    )
    query = f"utm_id=1&utm_term=2&gclid=3&hsa_ad=4&sid={SESSION}"
    assert kept(query, "h.test", rules=rules) == f"utm_id=1&hsa_ad=4&sid={SESSION}"
    assert kept("gclid=3&fbclid=4", "www.shop.test", rules=rules) == "gclid=3"
    aspx = "ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM"
    assert kept(aspx, rules=rules) == aspx


def test_extending_twice_adds_up() -> None:
    rules = RULES.extended(add=["one"]).extended(add=["two"], keep=["utm_id"])
    assert kept("one=1&two=2&utm_id=3&utm_x=4", rules=rules) == "utm_id=3"


@pytest.mark.parametrize(
    "entry",
    ["", " ", "*", "*_x", "a*b", "a b", "a=1", "?a", "a&b", "a@", "@h.test", "a@h test",
     "a@http://h.test", "a@h.test/x", "a@*.h.test", "a@b@c", "a@.h.test", "a@h..test", "a@h:80"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["add", "keep"])
def test_a_bad_entry_is_named(entry: str, where: str) -> None:
    with pytest.raises(ValueError, match="write") as e:
        RULES.extended(**{where: [entry]})
    assert repr(entry) in str(e.value)


def test_an_entry_of_another_type_is_named_too() -> None:
    with pytest.raises(ValueError, match="17"):
        RULES.extended(add=[17])  # type: ignore[list-item]


def test_no_rules_keep_all() -> None:
    assert kept("utm_source=1&fbclid=2", rules=TrackingRules.none()) == "utm_source=1&fbclid=2"
    path = f"/a;jsessionid={SESSION}"
    assert TrackingRules.none().for_host("h.test").strip_path(path) == path


def test_the_digest_tells_rules_apart() -> None:
    digests = {
        RULES.digest,
        TrackingRules.none().digest,
        RULES.extended(add=["a"]).digest,
        RULES.extended(keep=["a"]).digest,
        RULES.extended(add=["a@h.test"]).digest,
        RULES.extended(add=["a*"]).digest,
    }
    assert len(digests) == 6
    assert RULES.extended(add=["a"]).digest == RULES.extended(add=["a"]).digest


def test_the_data_file_is_clean() -> None:
    """Names in lower case, each in one rule of a scope, and scopes that are hosts."""
    text = files("recrawl.urls").joinpath("tracking.json").read_text(encoding="utf-8")
    assert set(json.loads(text)) == {"about", "rules"}
    names = []
    for rule in read_rules(text):
        assert rule.params or rule.prefix or rule.path_regex
        names += [(n, rule.include, rule.value_regex) for n in (*rule.params, *rule.prefix)]
        for scope in (*rule.include, *rule.exclude):
            assert scope == "*" or tracking._SCOPE.fullmatch(scope), scope
    assert all(name == name.lower() for name, *_ in names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"rules": [{"params": ["a"]}, {"parms": ["b"]}]}', "rule 1"),
        ('{"rules": [{"params": ["a"], "value_regex": "["}]}', "rule 0"),
        ('{"rules": [{"path_regex": "("}]}', "rule 0"),
    ],
)
def test_a_broken_data_file_names_the_rule(text: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        read_rules(text)


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracking, "_CACHED_HOSTS", 20)
    monkeypatch.setattr(tracking, "_CACHED_NAMES", 20)
    rules = RULES.extended()
    for i in range(200):
        assert kept(f"utm_{i}=1&n{i}=2", f"h{i}.test", rules=rules) == f"n{i}=2"
    assert len(rules._of_host) <= 20
    one = rules.for_host("h0.test")
    assert one is rules.for_host("h1.test")  # most hosts share the global rules
    assert len(one._verdicts) <= 20
    kept("x" * 1000 + "=1", rules=rules)
    assert not any(len(name) > 100 for name in one._verdicts)


@given(st.lists(st.text("abutm_sidcf=&%123", max_size=24), max_size=8))
def test_stripping_keeps_order_and_is_stable(pairs: list[str]) -> None:
    rules = RULES.for_host("h.test")
    once = rules.strip(pairs, "/")
    left = iter(pairs)
    assert all(pair in left for pair in once)  # a subsequence
    assert rules.strip(once, "/") == once


def test_hostile_values_take_linear_time() -> None:
    long = "a" * 2_000_000
    began = perf_counter()
    rules = RULES.for_host("h.test")
    rules.strip([f"sid={long}", f"cfid={long}", f"jsessionid={long}-"], "/")
    rules.strip_path(";jsessionid=aaaaaaaaaaaaaaaaaaaa|" * 60_000)
    rules.strip(["cfid=123", "cftoken=1234"] * 50_000, "/")
    rules.strip(["mkt_tok=1"] * 50_000, "/" + "A" * 500_000)
    assert perf_counter() - began < 5.0


def test_a_rule_without_a_shape_still_heeds_its_path_and_company() -> None:
    rules = HostRules([Rule(params=("a", "b"), together=True)])
    assert rules.strip(["a=1", "b=2", "c=3"], "/") == ["c=3"]
    assert rules.strip(["a=1", "c=3"], "/") == ["a=1", "c=3"]
