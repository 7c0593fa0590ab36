"""What every store must do, one check a sentence of the contract of `ports.Store`.

`check_store(make)` runs them all; for one test a check, parametrize over `STORE_CHECKS`:

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda c: c.__name__)
    def test_contract(check): check(make)

`make` returns a new, empty store each time. A durable store also passes `check_reopened(make,
reopen)`. Checks raise AssertionError with the sentence that was broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from recrawl.model import HOT, Host, Writes
from recrawl.ports import Store, StoreError
from recrawl.testing.samples import (
    NOON,
    a_change,
    a_full_page,
    a_host,
    a_page,
    a_record,
    a_reservation,
    an_entry,
)
from recrawl.testing.store_ledger import LEDGER_CHECKS, same_entries
from recrawl.testing.store_pages import PAGE_CHECKS
from recrawl.testing.verdicts import equal, refuses, require

Make = Callable[[], Store]
Check = Callable[[Make], None]


def check_store(make: Make) -> None:
    """All checks of one adapter. Raises AssertionError."""
    for check in STORE_CHECKS:
        check(make)


def check_reopened(make: Make, reopen: Callable[[], Store]) -> None:
    """What was committed is there for the next process: `reopen` opens what `make` made and
    has closed since.
    """
    store = make()
    page, host, record, promise = a_full_page(1, 1), a_host(1), a_record(), a_reservation(4)
    store.commit(
        Writes(hosts={1: host}, pages={(1, 1): page}, records={(1, 1): record},
               entries=[an_entry()], changes=[a_change()], reserved=[promise], meta={"a": "b"},
               refused=Counter({("", "invalid URL"): 1}))
    )  # fmt: skip
    store.close()
    store = reopen()
    equal(store.load_hosts(), [host], "hosts survive")
    equal(store.load_pages([(1, 1)]), [page], "pages survive")
    equal(list(store.iter_records()), [(page, record)], "records survive")
    same_entries(list(store.entries()), [an_entry()], "entries survive")
    equal(list(store.changes()), [a_change()], "changes survive")
    equal(store.open_reservations(), [promise], "what was in flight survives")
    equal((store.meta(), store.refused()), ({"a": "b"}, [("", "invalid URL", 1)]), "facts survive")
    store.commit(Writes(entries=[an_entry(), an_entry(NOON + 1)]))
    equal(len(list(store.entries())), 2, "an entry counts once, over restarts too")
    store.close()


def empty_store_is_empty(make: Make) -> None:
    """A store that was never written to answers every question, with nothing."""
    store = make()
    store.commit(Writes())
    equal(len(store.scan_hot()), 0, "scan_hot of an empty store")
    equal(store.scan_hot().array().dtype, HOT, "scan_hot has the columns of HOT")
    for answer in (store.load_hosts(), store.open_reservations(), store.refused(), store.rollup()):
        equal(answer, [], "an empty store")
    equal((store.meta(), store.state_counts()), ({}, {}), "an empty store")
    equal(list(store.iter_pages()) + list(store.iter_records()), [], "an empty store")
    equal(list(store.entries()) + list(store.changes()), [], "an empty store")
    equal(store.history(1, 1), [], "history of an unknown page")
    equal((store.get_page(1, 1), store.get_record(1, 1)), (None, None), "an unknown page")
    store.close()


def no_text_is_refused(make: Make) -> None:
    """Text that is no Unicode never costs a transaction: it is kept, if need be as an escape."""
    store = make()
    odd = "a\ud800b"
    page = replace(a_page(1, 1), target=odd, canonical=odd)
    record = replace(a_record(), fields={"title": odd, odd: "\U0001f40d\x00"})
    host = replace(a_host(1), note=odd)
    store.commit(Writes(hosts={1: host}, pages={(1, 1): page}, records={(1, 1): record}))
    read = store.get_page(1, 1)
    require(read is not None and bool(read.target), "a page with odd text is kept")
    equal(store.get_record(1, 1), record, "a record's text comes back exactly")
    store.close()


def hosts_come_back_whole(make: Make) -> None:
    """Every field of a host comes back exactly, by host_id, robots.txt included."""
    store = make()
    bare, full = Host(7, "http://bare.example"), a_host(3)
    store.commit(Writes(hosts={7: bare, 3: full}))
    equal(store.load_hosts(), [full, bare], "hosts by host_id, whole")
    changed = replace(full, next_ok=1.25, robots_body=b"", crawl_delay=None, note="")
    store.commit(Writes(hosts={3: changed}))
    equal(store.load_hosts(), [changed, bare], "a host replaces the whole row")
    again = replace(changed, robots_body=b"\x00\xff" * 250_000)
    store.commit(Writes(hosts={3: again}))
    equal(store.load_hosts(), [again, bare], "robots.txt comes back to the byte")
    store.close()


def origins_name_one_host(make: Make) -> None:
    """An origin belongs to one host for ever; a commit that says otherwise is refused whole."""
    store = make()
    host = a_host(1)
    store.commit(Writes(hosts={1: host}))
    twin = Writes(hosts={2: replace(host, host_id=2)}, meta={"x": "1"})
    refuses(StoreError, lambda: store.commit(twin), "two hosts of one origin")
    renamed = Writes(hosts={1: replace(host, origin="http://other.example")}, meta={"x": "1"})
    refuses(StoreError, lambda: store.commit(renamed), "a host with another origin")
    equal((store.load_hosts(), store.meta()), ([host], {}), "nothing of it was kept")
    store.close()


def commit_is_all_or_nothing(make: Make) -> None:
    """A commit that raises has kept nothing, and the next one works."""
    store = make()
    store.commit(Writes(new_pages={(1, 1): a_page(1, 1)}))
    bad = Writes(
        hosts={1: a_host(1)},
        new_pages={(1, 2): a_page(1, 2)},
        pages={(1, 1): a_full_page(1, 1)},
        records={(1, 1): replace(a_record(), fields={"x": object()})},
        reserved=[a_reservation(1)],
        refused=Counter({("http://a.example", "too deep"): 2}),
        meta={"a": "b"},
    )
    refuses(StoreError, lambda: store.commit(bad), "a record that JSON can't say")
    equal(store.get_page(1, 1), a_page(1, 1), "nothing of a failed commit is kept")
    equal(len(store.scan_hot()), 1, "nothing of a failed commit is kept")
    equal((store.load_hosts(), store.open_reservations()), ([], []), "nothing is kept")
    equal((store.meta(), store.refused()), ({}, []), "nothing is kept")
    bad.records.clear()
    store.commit(bad)
    equal(store.get_page(1, 1), a_full_page(1, 1), "the store goes on after a failed commit")
    store.close()


def reservations_stay_until_settled(make: Make) -> None:
    """A reservation is open until its lease is settled; in one commit, too."""
    store = make()
    promises = [a_reservation(lease) for lease in (3, 1, 2**62)]
    store.commit(Writes(reserved=promises))
    equal(store.open_reservations(), sorted(promises, key=lambda r: r.lease), "open reservations")
    store.commit(Writes(settled=[1, 404]))
    equal([r.lease for r in store.open_reservations()], [3, 2**62], "settled ones are gone")
    store.commit(Writes(reserved=[a_reservation(8)], settled=[8, 3]))
    equal([r.lease for r in store.open_reservations()], [2**62], "reserved and settled at once")
    store.close()


def counts_add_and_meta_replaces(make: Make) -> None:
    """`refused` counts add up, `meta` replaces by name."""
    store = make()
    for n in (1, 2):
        refused = Counter({("http://a.example", "too deep"): n, ("", "invalid URL"): 5})
        store.commit(Writes(refused=refused, meta={"window": str(n), f"only {n}": "é"}))
    want = [("", "invalid URL", 10), ("http://a.example", "too deep", 3)]
    equal(store.refused(), want, "refusals add up")
    equal(store.meta(), {"window": "2", "only 1": "é", "only 2": "é"}, "meta replaces")
    store.close()


STORE_CHECKS: tuple[Check, ...] = (
    empty_store_is_empty,
    no_text_is_refused,
    hosts_come_back_whole,
    origins_name_one_host,
    commit_is_all_or_nothing,
    reservations_stay_until_settled,
    counts_add_and_meta_replaces,
    *PAGE_CHECKS,
    *LEDGER_CHECKS,
)
