"""Where a page leads: links in bulk, canonical address, refresh, and what robots may do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborNode

from recrawl.extract.document import C0_SPACE, Document, join
from recrawl.model import Links

Headers = Iterable[tuple[str, str]]

_NOWHERE = re.compile(
    r"(?:javascript|mailto|tel|data|sms|about|blob|callto|whatsapp):", re.IGNORECASE
)
_LINK = re.compile(r"<([^>]*)>((?:[^\",]|\"(?:[^\"\\]|\\.)*\")*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;]+))", re.IGNORECASE)
_REFRESH = re.compile(
    r"\s*(\d{0,9})(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_DIRECTIVES = frozenset({"noindex", "nofollow", "none"})


def links(doc: Document, honour_nofollow: bool = True, depth: int = 0) -> Links:
    """All addresses that the page links to, each once: as written, less white space and fragment.

    From a, area, iframe, frame, and link with rel next or prev. `depth` is that of the pages
    they lead to. Left out: addresses within the page, and schemes that no crawler can follow.
    """
    charset = None if doc.charset.startswith("utf-") else doc.charset
    if not doc.is_html:
        return Links(doc.url, (), depth, charset)
    named = doc.elements
    anchors = named("a") + named("area")
    left_out = 0
    if honour_nofollow:
        kept = [n for n in anchors if "nofollow" not in n.attrs.sget("rel").lower()]
        left_out, anchors = len(anchors) - len(kept), kept
    found = [n.attrs.get("href") for n in anchors]
    found += [n.attrs.get("src") for n in named("iframe") + named("frame")]
    for node in named("link"):
        rel = node.attrs.sget("rel").lower().split()
        if "next" in rel or "prev" in rel:
            found.append(node.attrs.get("href"))
    trimmed = dict.fromkeys([h.strip(C0_SPACE).partition("#")[0] for h in found if h])
    hrefs = tuple(h for h in trimmed if h and not (":" in h and _NOWHERE.match(h)))
    return Links(doc.base, hrefs, depth, charset, left_out)


def canonical(doc: Document, headers: Headers = ()) -> str | None:
    """The absolute address that the page says is its own; None if it names none, or several.

    HTML `link rel=canonical` and the Link header (RFC 6596, RFC 8288), which resolves against the
    page's address, not its base. A hint only: it widens no scope.
    """
    named = {
        join(doc.base, node.attrs.sget("href"))
        for node in doc.elements("link")
        if node.attrs.get("href") and "canonical" in node.attrs.sget("rel").lower().split()
    }
    for name, value in headers:
        if name == "link" and "canonical" in value.lower():
            named |= {join(doc.url, href) for href in _linked(value, "canonical")}
    named.discard(None)
    return named.pop() if len(named) == 1 else None


def _linked(value: str, relation: str) -> list[str]:
    """The targets of that relation in a Link header."""
    found = []
    for href, parameters in _LINK.findall(value):
        rel = _REL.search(parameters)
        if rel and relation in (rel[1] or rel[2] or "").lower().split():
            found.append(href)
    return found


def refresh(doc: Document) -> tuple[float, str] | None:
    """(delay in seconds, absolute target) of the page's meta refresh, resolved against its base.

    One that stands in noscript is for readers without scripts and doesn't count, nor does one
    that only reloads the page.
    """
    for node in doc.elements("meta"):
        if node.attrs.sget("http-equiv").strip().lower() != "refresh" or _in_noscript(node):
            continue
        m = _REFRESH.match(node.attrs.sget("content"))
        target = m and join(doc.base, m[2] or m[3] or (m[4] or "").strip() or doc.url)
        if m and target and target != join(doc.url, ""):
            return float(m[1] or 0), target
    return None


def _in_noscript(node: LexborNode) -> bool:
    parent = node.parent
    return parent is not None and parent.tag == "noscript"


def robots_meta(doc: Document, headers: Headers, agent: str) -> frozenset[str]:
    """Which of noindex, nofollow and none the page asks of `agent` (a User-Agent or its token).

    Meta robots, meta of the agent's own name, and X-Robots-Tag, taken together; none also means
    the other two.
    """
    token = agent.partition("/")[0].strip().lower()
    found: set[str] = set()
    for node in doc.elements("meta"):
        if node.attrs.sget("name").strip().lower() in ("robots", token):
            found.update(re.split(r"[\s,]+", node.attrs.sget("content").lower()))
    for name, value in headers:
        if name == "x-robots-tag":
            found |= _tagged(value.lower(), token)
    found &= _DIRECTIVES
    return frozenset(found | {"noindex", "nofollow"} if "none" in found else found)


def _tagged(value: str, token: str) -> set[str]:
    """The directives of one X-Robots-Tag that are meant for all or for `token`."""
    meant, found = "", set()
    for item in value.split(","):
        name, colon, rest = item.partition(":")
        if colon and name.strip() not in _VALUED:
            meant, item = name.strip(), rest
        if meant in ("", "*", token):
            found.add(item.strip())
    return found
