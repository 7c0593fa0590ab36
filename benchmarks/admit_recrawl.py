"""recrawl taking in discovered URLs (run by admit_peers.py): normalized, deduplicated, durable.

    python admit_recrawl.py KNOWN N FOLDER

What the worker does with the links of pages: the engine admits them, the SQLite store commits
what it asks for (synchronous=FULL), one commit a tenth of a second of work.
"""

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from discovered import discovered, preload

from recrawl.config.build import project_of
from recrawl.config.load import load
from recrawl.engine import Engine
from recrawl.engine.admit import admit_links
from recrawl.model import Links, Writes
from recrawl.stores.sqlite import SqliteStore

CONFIG = """\
[project]
contact = "benchmark@example.org"
seeds = ["http://www.site-0.example.com/"]
scope = ["*.example.com"]
"""
BASE = "http://www.site-0.example.com/"
GROUP = 0.1  # seconds


def admit(engine: Engine, store: SqliteStore, pages: Iterable[list[str]]) -> int:
    """All pages' links, committed; returns how many were new."""
    new, pending, since = 0, Writes(), time.perf_counter()
    for hrefs in pages:
        admitted, writes = admit_links(engine.crawl, Links(BASE, tuple(hrefs), 1), time.time())
        new += admitted.new
        pending.merge(writes)
        if time.perf_counter() - since > GROUP:
            store.commit(pending)
            pending, since = Writes(), time.perf_counter()
    store.commit(pending)
    return new


def main() -> None:
    known, n, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    (folder / "recrawl.toml").write_text(CONFIG)
    project = project_of(load(folder / "recrawl.toml", {}))
    with SqliteStore.open(folder / "crawl.db", create=True) as store:
        engine = Engine(project, [], store.scan_hot(), {}, [], time.time())
        began = time.perf_counter()
        loaded = admit(engine, store, preload(known))
        load_seconds = time.perf_counter() - began
        pages = discovered(known, n)
        began, cpu = time.perf_counter(), time.process_time()
        new = admit(engine, store, pages)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        stored = sum(store.state_counts().values())
    told = {
        "loaded": loaded,
        "load_per_second": known / load_seconds,
        "n": n,
        "new": new,
        "stored": stored,
        "per_second": n / seconds,
        "per_cpu_second": n / cpu,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
