"""The pages of a folder that links lead to: the truth, by a plain walk over its files."""

from __future__ import annotations

from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = dict(attrs)
        rel = (a.get("rel") or "").lower().split()
        if (tag in ("a", "area") and "nofollow" not in rel) or (
            tag == "link" and {"next", "prev"} & set(rel)
        ):
            self.found.append(a.get("href") or "")
        elif tag in ("iframe", "frame"):
            self.found.append(a.get("src") or "")


def reachable(root: Path, start: str = "/") -> dict[str, bool]:
    """Path on the site -> is there a file; all that links lead to, nofollow left out."""
    seen = {start: True}
    queue = deque([start])
    while queue:
        path = queue.popleft()
        file = file_of(root, path)
        seen[path] = file.is_file()
        if not seen[path] or file.suffix != ".html":
            continue
        parser = _Anchors()
        parser.feed(file.read_text(encoding="utf-8"))
        for href in parser.found:
            parts = urlsplit(urljoin(f"http://site{path}", href.strip()))
            if href and parts.scheme == "http" and parts.netloc == "site":
                to = parts.path + (f"?{parts.query}" if parts.query else "")
                if to not in seen:
                    seen[to] = False
                    queue.append(to)
    return seen


def file_of(root: Path, path: str) -> Path:
    """The file that nginx answers a path with."""
    name = unquote(urlsplit(path).path)
    return root / (name.lstrip("/") + ("index.html" if name.endswith("/") else ""))
