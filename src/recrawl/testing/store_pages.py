"""What every store must do with pages and their records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from recrawl.model import HOT, State, Writes, hot_row
from recrawl.ports import Store, key_pairs
from recrawl.testing.samples import a_full_page, a_host, a_page, a_record
from recrawl.testing.verdicts import equal, require

Make = Callable[[], Store]


def pages_come_back_whole(make: Make) -> None:
    """Every field of a page comes back: exactly, times to 1 ms, beliefs as float32."""
    store = make()
    pages = [a_page(1, 5), a_full_page(1, -7), a_full_page(2**31 - 1, -(2**63))]
    pages += [replace(a_full_page(3, 1), state=state) for state in State]
    for page in pages:
        store.commit(Writes(pages={(page.host_id, page.key): page}))
        equal(store.get_page(page.host_id, page.key), page, "a page comes back whole")
    store.close()


def verbatim_texts(make: Make) -> None:
    """ETag and Last-Modified come back to the character; absent and empty are kept apart."""
    store = make()
    for etag in (
        None,
        "",
        '"a"',
        'W/"x"',
        "unquoted",
        '"\xe9\x80\x00"',
        " spaced ",
        '"' + "x" * 5000,
    ):
        page = replace(a_page(1, 1), etag=etag, last_modified="yesterday" if etag else etag)
        store.commit(Writes(pages={(1, 1): page}))
        equal(store.get_page(1, 1), page, f"validator {etag!r:.40} is verbatim")
        equal(
            store.scan_hot().array()[0],
            np.array(hot_row(page), HOT)[()],
            "HAS_VALIDATOR as hot_row says",
        )
    store.close()


def new_pages_never_replace(make: Make) -> None:
    """`new_pages` insert, and are ignored where the key exists; `pages` replace whole rows."""
    store = make()
    first, second = a_full_page(1, 1), a_page(1, 1)
    store.commit(Writes(new_pages={(1, 1): first}))
    store.commit(Writes(new_pages={(1, 1): second, (1, 2): a_page(1, 2)}))
    equal(store.get_page(1, 1), first, "a new page never replaces a known one")
    equal(store.get_page(1, 2), a_page(1, 2), "the unknown one beside it is inserted")
    store.commit(Writes(pages={(1, 1): second}))
    equal(store.get_page(1, 1), second, "a page replaces the whole row")
    store.commit(Writes(new_pages={(1, 3): first}, pages={(1, 3): replace(second, key=3)}))
    equal(store.get_page(1, 3), replace(second, key=3), "both in one commit: the replacing row")
    store.close()


def keys_are_a_hosts_own(make: Make) -> None:
    """The same key in two hosts names two pages."""
    store = make()
    pages = {(h, 9): replace(a_page(h, 9), path=f"/{h}") for h in (1, 2)}
    store.commit(Writes(new_pages=pages))
    for (host_id, key), page in pages.items():
        equal(store.get_page(host_id, key), page, "a key is unique within its host only")
    store.close()


def hot_is_sorted_and_whole(make: Make) -> None:
    """scan_hot has every page as `hot_row` gives it, sorted by (host_id, key)."""
    store = make()
    pages = [a_full_page(h, k) for h in (2, 1) for k in (7, -3, 2**63 - 1, 0, -(2**63))]
    far = replace(a_page(3, 1), depth=300, fails=999, hops=256, score=-40_000, page_type=32_767)
    pages += [far, replace(a_page(3, 2), score=99_999)]
    pages += [replace(a_page(3, 3), hops=255, fails=255, depth=255, score=-1)]
    pages += [replace(a_page(3, 4), retry_at=np.inf, value=0.25), a_page(3, 5)]
    store.commit(Writes(pages={(p.host_id, p.key): p for p in pages}))
    pages.sort(key=lambda p: (p.host_id, p.key))
    expected = np.array([hot_row(p) for p in pages], HOT)
    for name in HOT.names or ():
        equal(store.scan_hot()[name].tolist(), expected[name].tolist(), f"scan_hot: {name}")
    store.close()


def load_pages_keeps_the_order(make: Make) -> None:
    """load_pages answers in the order asked, leaves out the unknown, repeats what is repeated."""
    store = make()
    pages = {(k % 3, k): a_full_page(k % 3, k) for k in range(1, 1300)}
    store.commit(Writes(new_pages=pages))
    asked = [key for i in range(7) for key in list(pages)[i::7]] + [(1, 1)]
    unknown = [(9, 9), (0, 1), *asked[:5], (5, -1), *asked[5:]]
    equal(key_pairs(store.load_pages(unknown)), asked, "load_pages: the order asked")
    equal(store.load_pages(asked[:1]), [pages[asked[0]]], "load_pages: whole rows")
    equal(store.load_pages([]), [], "load_pages of nothing")
    store.close()


def pages_are_found_by_host_and_state(make: Make) -> None:
    """iter_pages filters by host and by state, both, or neither; state_counts agrees with it."""
    store = make()
    pages = [replace(a_page(k % 3, k), state=State(k % 4)) for k in range(1, 50)]
    store.commit(Writes(new_pages={(p.host_id, p.key): p for p in pages}))
    pages.sort(key=lambda p: (p.host_id, p.key))
    for host_id in (None, 0, 2, 77):
        for state in (None, State.NEW, State.GONE, State.REFUSED):
            want = [
                p for p in pages if host_id in (None, p.host_id) and state in (None, p.state)
            ]  # fmt: skip
            equal(list(store.iter_pages(host_id, state)), want, f"iter_pages {host_id} {state}")
    counted = dict(Counter((p.host_id, int(p.state)) for p in pages))
    equal(store.state_counts(), counted, "state_counts")
    store.close()


def records_follow_their_pages(make: Make) -> None:
    """Records replace, come with their pages in iter_records, and keep any JSON."""
    store = make()
    pages = {(h, k): a_page(h, k) for h, k in ((2, 1), (1, 9), (1, 2))}
    records = {key: replace(a_record(), fields={"of": list(key)}) for key in pages}
    store.commit(Writes(new_pages=pages, records=records))
    expected = [(pages[key], records[key]) for key in sorted(pages)]
    equal(list(store.iter_records()), expected, "iter_records: page and record, by key")
    for fields in ({}, {"deep": {"a": [1, None, True, 1.5, "é", "日本"]}}, {"big": "x" * 100_000}):
        store.commit(Writes(records={(1, 2): replace(a_record(), fields=fields)}))
        equal(store.get_record(1, 2), replace(a_record(), fields=fields), "a record's JSON")
    equal(store.get_page(1, 2), pages[1, 2], "a record leaves its page alone")
    store.close()


def rows_are_copies(make: Make) -> None:
    """What the caller moves after a commit or a read stays outside the store."""
    store = make()
    page, host, record = a_full_page(1, 1), a_host(1), a_record()
    store.commit(Writes(hosts={1: host}, pages={(1, 1): page}, records={(1, 1): record}))
    want = replace(page), replace(host), replace(record, fields=dict(record.fields))
    page.fails, host.fails = 99, 99
    record.fields["tags"].append("later")
    read = store.get_page(1, 1), store.get_record(1, 1)
    require(read[0] is not None and read[1] is not None, "what was committed is there")
    equal(read[0], want[0], "a page is kept as it was committed")
    equal(store.load_hosts(), [want[1]], "a host is kept as it was committed")
    equal(read[1], a_record(), "a record is kept as it was committed")
    for got in (*store.load_pages([(1, 1)]), *store.iter_pages()):
        got.fails = 77
    equal(store.get_page(1, 1), want[0], "what was read is a copy")
    store.close()


PAGE_CHECKS: tuple[Callable[[Make], None], ...] = (
    pages_come_back_whole,
    verbatim_texts,
    new_pages_never_replace,
    keys_are_a_hosts_own,
    hot_is_sorted_and_whole,
    load_pages_keeps_the_order,
    pages_are_found_by_host_and_state,
    records_follow_their_pages,
    rows_are_copies,
)
