"""A sitemap of 50,000 URLs and 50 MB, and an index of 500 files: seconds and memory.

    python benchmarks/sitemaps.py [--usp PYTHON] [--repeat 3]

`--usp` is the Python of an environment that holds ultimate-sitemap-parser, to set beside ours:

    python -m venv peers-usp && peers-usp/bin/pip install ultimate-sitemap-parser

(GPL: recrawl does not depend on it, and it is left out where it is not given.) Both read the same
files from disk, each in a process of its own, interleaved; the median counts. Memory is the peak
of the whole process (VmHWM) less that of the same process reading a sitemap of one URL.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measured import Cost, machine, run

HERE = Path(__file__).parent
SITE = "http://shop.example/"
NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)
BIG, BIG_BYTES = 50_000, 50_000_000
FILES, EACH = 500, 1_000
MARK = 30_000_000  # bytes of extra memory


def entry(i: int, wide: bool) -> str:
    """One page: a date, and in the big file four languages, an image and a caption to fill it."""
    loc = f"{SITE}c{i % 97}/product-{i:07d}"
    date = f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d}T{i % 24:02d}:{i % 60:02d}:00+02:00"
    more = ""
    if wide:
        more = "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{SITE}{code}/product-{i:07d}"/>'
            for code in ("de", "fr", "es", "pt-br")
        )
        more += f"<image:image><image:loc>{SITE}i/{i:07d}.jpg</image:loc><image:caption>"
        more += "A caption of some length. " * 15 + "</image:caption></image:image>"
    body = f"<loc>{loc}</loc><lastmod>{date}</lastmod><changefreq>daily</changefreq>{more}"
    return f"<url>{body}<priority>0.5</priority></url>\n"


def urlset(path: Path, numbers: range, wide: bool = False) -> None:
    with path.open("w") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACES}>\n')
        file.writelines(entry(i, wide) for i in numbers)
        file.write("</urlset>\n")


def make(folder: Path) -> dict[str, str]:
    """Write the inputs; name -> URL to start from."""
    urlset(folder / "one.xml", range(1))
    urlset(folder / "big.xml", range(BIG), wide=True)
    size = (folder / "big.xml").stat().st_size
    assert BIG_BYTES <= size < 1.05 * BIG_BYTES, size
    (folder / "big.xml.gz").write_bytes(gzip.compress((folder / "big.xml").read_bytes(), 6))
    with (folder / "index.xml").open("w") as file:
        file.write(f"<?xml version='1.0'?>\n<sitemapindex {NAMESPACES}>\n")
        for n in range(FILES):
            urlset(folder / f"part-{n}.xml", range(n * EACH, (n + 1) * EACH))
            file.write(f"<sitemap><loc>{SITE}part-{n}.xml</loc></sitemap>\n")
        file.write("</sitemapindex>\n")
    names = {"one URL": "one.xml", "50 MB, 50,000 URLs": "big.xml", "the same, gz": "big.xml.gz"}
    names[f"index of {FILES} files, {FILES * EACH:,} URLs"] = "index.xml"
    return {name: SITE + file for name, file in names.items()}


def pieces(path: Path) -> Iterator[bytes]:
    """As a fetcher would hand them over."""
    with path.open("rb") as file:
        while piece := file.read(16_384):
            yield piece


def peak() -> int:
    """Bytes that this process held at most. (ru_maxrss would count what its parent held too.)"""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def ours(folder: Path, start: str) -> None:
    """Read it with everything that it leads to, and say what came of it (a process of its own)."""
    from recrawl.sources.reading import Reading
    from recrawl.sources.sitemap import read
    from recrawl.sources.sitemap_walk import Walk

    began = time.perf_counter()
    urls = dated = 0
    walk = Walk(start, named=[start])
    while (url := walk.take()) is not None:
        reading = Reading()
        for hint in read(pieces(folder / url.rpartition("/")[2]), url, time.time(), reading):
            urls += "/product-" in hint.url and "/c" in hint.url
            dated += hint.modified_at is not None
        assert reading.complete, reading
        walk.found(url, reading.maps)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "urls": urls, "dated": dated, "peak": peak()}))


def compare(folder: Path, usp: str | None, repeat: int) -> bool:
    """Print the table; True where the mark on memory is met."""
    readers = {"recrawl": [sys.executable, HERE / "sitemaps.py", "--child", folder]}
    if usp:
        readers["ultimate-sitemap-parser"] = [usp, HERE / "peer_usp.py", folder]
    else:
        print("ultimate-sitemap-parser: left out, see --help")
    floor: dict[str, int] = {}
    met = True
    for what, start in make(folder).items():
        costs: dict[str, list[Cost]] = {name: [] for name in readers}
        for _ in range(repeat):
            for name, command in readers.items():
                costs[name].append(run([*command, start], folder))
        for name, several in costs.items():
            seconds = statistics.median(cost.told["seconds"] for cost in several)
            highest = int(statistics.median(cost.told["peak"] for cost in several))
            floor.setdefault(name, highest)
            extra, told = highest - floor[name], several[0].told
            print(
                f"{what:36} {name:24} {seconds:7.2f} s  {extra / 1e6:7.1f} MB more  "
                f"{told['urls']:7} URLs, {told['dated']:7} dated",
                flush=True,
            )
            met = met and (name != "recrawl" or extra <= MARK)
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--usp", help="Python that has ultimate-sitemap-parser")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("start", nargs="?", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        ours(options.child, options.start)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        met = compare(Path(folder), options.usp, options.repeat)
    print(f"mark: at most {MARK / 1e6:.0f} MB more: {'met' if met else 'MISSED'}")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
