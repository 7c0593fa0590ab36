"""The HTML of the made-up pages: a record that changes on its dates, in noise that never rests.

A page is static parts with moving parts between them. The static ones are compressed once and
kept; the moving ones go into the gzip stream as stored blocks (RFC 1951, 3.2.4), so that an
answer costs one CRC and a join instead of a compression.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from recrawl.sim.web import MadeUpWeb

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_STOCK = ("in stock", "few left", "sold out", "on order", "arriving soon")
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK = b"\x01\x00\x00\xff\xff"
_VOCABULARY, _SENTENCES = 500, 3000


@dataclass(frozen=True, slots=True)
class _Parts:
    """The static parts of a page, as they are and deflated up to a byte boundary each."""

    raw: tuple[bytes, ...]
    deflated: tuple[bytes, ...]


def _deflate(part: bytes) -> bytes:
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
    return squeeze.compress(part) + squeeze.flush(zlib.Z_FULL_FLUSH)


def _stored(part: bytes) -> bytes:
    size = len(part)
    return b"\x00" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + part


class Pages:
    """Draws the pages of one web; caches their static parts and their latest record."""

    def __init__(self, web: MadeUpWeb) -> None:
        self._web = web
        self._parts: dict[int, _Parts] = {}
        self._records: dict[int, tuple[int, bytes]] = {}
        self._links: dict[int, bytes] = {}
        words = random.Random(web.spec.seed)
        self._words = [
            "".join(words.choices(_SYLLABLES, k=words.randint(1, 4))) for _ in range(_VOCABULARY)
        ]
        common = [word for k, word in enumerate(self._words) for _ in range(1 + 200 // (k + 1))]
        self._sentences = [
            " ".join(words.choices(common, k=12)).capitalize() for _ in range(_SENTENCES)
        ]
        self._ads = [f"Advertisement: {self._text(words, 9)}".encode() for _ in range(50)]
        self._clock = (-1, b"")

    def body(self, page: int, version: int, t: float, noise: random.Random) -> bytes:
        """The HTML of a page in a version, as served at `t`; the noise differs every time."""
        raw = self._static(page).raw
        moving = self._moving(page, version, t, noise)
        return b"".join([x for pair in zip(raw, moving, strict=False) for x in pair]) + raw[-1]

    def gzipped(self, page: int, version: int, t: float, noise: random.Random) -> bytes:
        """The same as a gzip stream of one member."""
        parts = self._static(page)
        moving = self._moving(page, version, t, noise)
        crc, size, out = 0, 0, [_GZIP_HEAD]
        for raw, deflated, part in zip(parts.raw, parts.deflated, (*moving, b""), strict=True):
            crc = zlib.crc32(part, zlib.crc32(raw, crc))
            size += len(raw) + len(part)
            out.append(deflated)
            if part:
                out.append(_stored(part))
        out += (_LAST_BLOCK, crc.to_bytes(4, "little"), size.to_bytes(4, "little"))
        return b"".join(out)

    def title(self, page: int) -> str:
        """What a page is called; it never changes."""
        return self._text(random.Random(page * 7919 + self._web.spec.seed), 4).title()

    def _text(self, rng: random.Random, n: int) -> str:
        return " ".join(rng.choices(self._words, k=n))

    def _moving(
        self, page: int, version: int, t: float, noise: random.Random
    ) -> tuple[bytes, bytes, bytes, bytes]:
        token = b"%032x" % noise.getrandbits(128)
        related = list(self._web.related[page])
        noise.shuffle(related)
        seen = b"".join([self._link(p) for p in related])
        aside = b'<div class="ad">%b</div><h2>People also viewed</h2><ul>%b</ul>' % (
            noise.choice(self._ads), seen,
        )  # fmt: skip
        return token, self._record(page, version), aside, self._time(t)

    def _time(self, t: float) -> bytes:
        second = int(t)
        if self._clock[0] != second:
            shown = datetime.fromtimestamp(second, UTC).strftime("%a %d %b %Y %H:%M:%S")
            self._clock = (second, shown.encode())
        return self._clock[1]

    def _link(self, page: int) -> bytes:
        link = self._links.get(page)
        if link is None:
            text = f'<li><a href="{escape(self._web.paths[page])}">{self.title(page)}</a></li>'
            link = self._links[page] = text.encode()
        return link

    def _record(self, page: int, version: int) -> bytes:
        """What a crawler keeps: words, price and stock, all of them new in every version."""
        kept = self._records.get(page)
        if kept is None or kept[0] != version:
            rng = random.Random(page * 1_000_003 + version * 101 + self._web.spec.seed)
            text = (
                f'<p class="lead">{self._text(rng, 14).capitalize()}.</p>'
                f'<p>Price <span class="price">{rng.randint(100, 99_999) / 100:.2f} EUR</span>, '
                f'<span class="stock">{rng.choice(_STOCK)}</span>, '
                f"sold by {self._text(rng, 2).title()}.</p>"
            )
            kept = self._records[page] = (version, text.encode())
        return kept[1]

    def _static(self, page: int) -> _Parts:
        parts = self._parts.get(page)
        if parts is None:
            raw = tuple(part.encode() for part in self._draw(page))
            parts = self._parts[page] = _Parts(raw, tuple(_deflate(part) for part in raw))
        return parts

    def _draw(self, page: int) -> tuple[str, str, str, str, str]:
        """The five static parts: the moving ones stand between them."""
        web = self._web
        host = web.hosts[web.host[page]]
        title = self.title(page)
        head = (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<link rel="stylesheet" href="/style.css"><meta name="csrf-token" content="'
        )
        nav = "".join(self._link(p).decode() for p in host.nav)
        top = (
            f'"></head><body class="{host.kind.name}"><header><nav><ul>{nav}</ul></nav></header>'
            f"<main><article><h1>{title}</h1>"
        )
        listed = "".join(self._link(p).decode() for p in web.links[page])
        extra = ""
        if page == host.home:
            extra = "".join(f'<li><a href="{x}">{x.strip("/")}</a></li>' for x in host.extra)
            tracked = web.links[page][0]
            extra += f'<li><a href="{_tracked(web.paths[tracked])}">Our choice</a></li>'
        links = f'</article><ul class="list">{listed}{extra}</ul></main><aside>'
        foot = "</aside><footer><p>Served at "
        end = " UTC.</p></footer></body></html>\n"
        size = int(web.size[page]) - sum(map(len, (head, top, links, foot, end)))
        return head, top, self._filler(page, size) + links, foot, end

    def _filler(self, page: int, size: int) -> str:
        """Paragraphs of about `size` characters that never change."""
        rng = random.Random(page * 31 + self._web.spec.seed)
        out: list[str] = []
        while size > 0:
            paragraph = f"<p>{'. '.join(rng.choices(self._sentences, k=5))}.</p>\n"
            out.append(paragraph)
            size -= len(paragraph)
        return "".join(out)


def _tracked(path: str) -> str:
    return f"{escape(path)}{'&amp;' if '?' in path else '?'}utm_source=front"
