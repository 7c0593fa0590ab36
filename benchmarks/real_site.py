"""A real site, end to end: the HTML manual of Debian's python3.11-doc, served by Debian's nginx.

    python benchmarks/real_site.py [first] [tls] [cycles] [kill] [--cycles 40] [--kills 50]

first   every page that links lead to is fetched once; a second run asks with validators; the
        ledger's bytes equal those of a counting TCP gateway
tls     the same bytes over TLS, within 72 a connection
cycles  pages edited, touched and deleted over 40 cycles on a tenth of a pass each, beside even
        visits through the same engine
kill    `kill -9` at 50 random moments of the first pass
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import real_cycles
import real_kill
from measured import machine
from real_links import reachable
from real_nginx import MANUAL, Nginx, missing
from real_project import Crawl, write_project

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.certificates import make_authority
from servers.gateway import Gateway

PER_CONNECTION = 72  # bytes that an end of TLS may add after the last exchange
MARK_304 = 0.99


@dataclass(frozen=True)
class Pass:
    """One run held against the access log and the gateway."""

    lines: list[dict[str, Any]]  # of the ledger
    ledger: int  # bytes
    wire: int
    connections: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "visits": len(self.lines),
            "verdicts": dict(Counter(x["verdict"] for x in self.lines)),
            "ledger_bytes": self.ledger,
            "gateway_bytes": self.wire,
            "connections": self.connections,
        }


def one_pass(crawl: Crawl, gateway: Gateway) -> Pass:
    """`recrawl run`, one pass, as a user runs it."""
    gateway.reset()
    before = len(crawl.ledger())
    crawl.run()
    up, down = gateway.settle()
    lines = crawl.ledger()[before:]
    return Pass(lines, sum(x["up"] + x["down"] for x in lines), up + down, len(gateway.counts))


def two_passes(folder: Path, manual: Path, *, tls: bool) -> dict[str, Any]:
    """First and second run over a site that stands still, and what is wrong with them."""
    root = folder / "site"
    shutil.copytree(manual, root)
    certificates = None
    if tls:
        certificates = folder / "certificates"
        certificates.mkdir()
        make_authority(certificates)
    with Nginx(root, folder / "nginx", certificates) as nginx, Gateway(nginx.port) as gateway:
        origin = f"{'https' if tls else 'http'}://127.0.0.1:{gateway.port}"
        environment = {"SSL_CERT_FILE": str(certificates / "ca.crt")} if certificates else {}
        crawl = Crawl(write_project(folder, origin), environment)
        first = one_pass(crawl, gateway)
        fetched = Counter(hit.path for hit in nginx.hits())
        second = one_pass(crawl, gateway)
    wanted = {path for path in reachable(root) if path != "/robots.txt"}
    fetched.pop("/robots.txt", None)
    asked = [x for x in second.lines if x["conditional"]]
    answered = sum(x["status"] == 304 for x in asked)
    bare = Counter(f"{x['purpose']}, {x['verdict']}" for x in second.lines if not x["conditional"])
    told = {
        "reachable": len(wanted),
        "fetched_once": sum(fetched[p] == 1 for p in wanted),
        "first": first.as_dict(),
        "second": second.as_dict(),
        "conditional": len(asked),
        "not_modified": answered,
        "unconditional_by_purpose": dict(bare),
    }
    wrong = []
    if set(fetched) != wanted or set(fetched.values()) != {1}:
        wrong.append(
            f"fetched {len(fetched)} of {len(wanted)} pages; not fetched "
            f"{sorted(wanted - set(fetched))[:5]}, "
            f"not linked {sorted(set(fetched) - wanted)[:5]}, "
            f"twice {[p for p, n in fetched.items() if n > 1][:5]}"
        )
    if answered < MARK_304 * len(asked) or not asked:
        wrong.append(f"{answered} of {len(asked)} conditional revisits were answered 304")
    for name, run in (("first", first), ("second", second)):
        allowed = PER_CONNECTION * run.connections if tls else 0
        if abs(run.ledger - run.wire) > allowed:
            wrong.append(
                f"{name} run: the ledger has {run.ledger} bytes, the gateway {run.wire} over "
                f"{run.connections} connections"
            )
    return {**told, "wrong": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[], metavar="part")
    parser.add_argument("--cycles", type=int, default=40)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--share", type=float, default=0.1, help="of a pass, a cycle's budget")
    parser.add_argument("--of", choices=("first", "revisit"), default="revisit")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    reason = missing()
    if reason:
        raise SystemExit(reason)
    print(machine())
    parts = options.parts or ["first", "tls", "cycles", "kill"]
    failed = False
    for part in parts:
        with tempfile.TemporaryDirectory() as name:
            told = _part(part, Path(name), options)
        print(part, json.dumps(told, indent=2))
        failed = failed or bool(told["wrong"])
    sys.exit(1 if failed else 0)


def _part(part: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    if part in ("first", "tls"):
        return two_passes(folder, MANUAL, tls=part == "tls")
    if part == "cycles":
        return real_cycles.compare(
            folder,
            MANUAL,
            cycles=options.cycles,
            share=options.share,
            of=options.of,
            seed=options.seed,
        )
    if part == "kill":
        return real_kill.kill_often(folder, MANUAL, kills=options.kills, seed=options.seed)
    raise SystemExit(f"{part!r} is no part; the parts are first, tls, cycles, kill")


if __name__ == "__main__":
    main()
