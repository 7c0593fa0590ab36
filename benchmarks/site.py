"""A site of one host, served from memory: 12-30 KB pages with about 27 links each.

    python benchmarks/site.py --pages 4000      # prints its port, ends when its stdin does

Pages are kept gzipped and sent as they are to every client that takes gzip. `/_count` tells how
many answers were given, and for how many different pages, since it was last asked: the one count
that all crawlers are measured by.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random

from recrawl.sim.answers import Asked
from recrawl.sim.server import serve

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZES = (12_000, 20_000, 30_000)


def path_of(page: int) -> str:
    return f"/site/{page}.html"


class Site:
    """All pages, and what was asked for."""

    def __init__(self, pages: int, seed: int = 7) -> None:
        self._rng = random.Random(seed)
        words = [
            "".join(self._rng.choices(LETTERS, k=self._rng.randint(2, 11))) for _ in range(4000)
        ]
        self._phrases = [" ".join(self._rng.choices(words, k=5)) for _ in range(20_000)]
        self._pages = {path_of(i): gzip.compress(self._draw(i, pages), 6) for i in range(pages)}
        self._pages["/"] = gzip.compress(b'<a href="/site/0.html">start</a>')
        self._answers = 0
        self._seen: set[str] = set()

    def _phrase(self, n: int) -> str:
        return " ".join(self._rng.choices(self._phrases, k=n))

    def _draw(self, i: int, n: int) -> bytes:
        rng = self._rng
        links = [(i * 7 + j * 13 + 1) % n for j in range(3)] + [(2 * i + 1) % n, (2 * i + 2) % n]
        links += [rng.randrange(n) for _ in range(22)]
        rng.shuffle(links)
        nav = "".join(
            f'<li class="item"><a class="link" href="{path_of(x)}">{self._phrase(1)}</a></li>'
            for x in links[:10]
        )
        head = (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f"<title>Page {i} {self._phrase(1)}</title>"
            f'<meta name="description" content="{self._phrase(3)}">'
            f'<link rel="stylesheet" href="/s.css"></head><body><nav><ul>{nav}</ul></nav>'
            f'<main><h1 class="title">{self._phrase(1)}</h1>'
        )
        out = [head]
        size, rest, target = len(out[0]), links[10:], rng.choice(SIZES)
        while size < target - 300 or rest:
            link = f'<a href="{path_of(rest.pop())}">{self._phrase(1)}</a>' if rest else ""
            block = (
                f'<div class="item" data-id="{rng.randrange(10**6)}"><h3>{self._phrase(1)}</h3>'
                f"<p>{self._phrase(6)} {link} &amp; {self._phrase(4)}</p>"
                f'<span class="price">{rng.randrange(9999) / 100}</span></div>\n'
            )
            out.append(block)
            size += len(block)
        return "".join([*out, "</main><footer><p>&copy; 2026</p></footer></body></html>"]).encode()

    def answer(self, _ip: str, asked: Asked) -> bytes:
        """The whole HTTP answer."""
        if asked.target == "/_count":
            told = json.dumps({"answers": self._answers, "pages": len(self._seen)}).encode()
            self._answers, self._seen = 0, set()
            return _http(200, "application/json", told)
        body = self._pages.get(asked.target)
        if body is None:
            return _http(404, "text/plain", b"")
        self._answers += 1
        self._seen.add(asked.target)
        if "gzip" not in asked.headers.get("accept-encoding", ""):
            return _http(200, "text/html; charset=utf-8", gzip.decompress(body))
        return _http(200, "text/html; charset=utf-8\r\nContent-Encoding: gzip", body)


def _http(status: int, kind: str, body: bytes) -> bytes:
    reason = "OK" if status == 200 else "Not Found"
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}\r\n".encode() + body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    site = Site(parser.parse_args().pages)
    asyncio.run(serve(site.answer, ["127.0.0.1"], lambda port: print(port, flush=True)))


if __name__ == "__main__":
    main()
