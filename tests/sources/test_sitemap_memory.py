"""50 MB and 50,000 URLs go through in little memory, well-formed or not."""

import subprocess
import sys

import pytest

PROGRAM = """
import re, sys
from pathlib import Path
from recrawl.sources.reading import Reading
from recrawl.sources.sitemap import read

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def through(chunks):
    reading = Reading()
    return sum(1 for _ in read(chunks, "http://e.com/s.xml", 1.8e9, reading)), reading

def body(entry, n):
    yield b"<urlset>"
    for i in range(n):
        yield entry.replace(b"@", b"%d" % i)
    yield b"</urlset>"

fill = b"x" * 960
entry = {
    "whole": b"<url><loc>/@</loc><lastmod>2024-01-01</lastmod><c>" + fill + b"</c></url>",
    "unclosed": b"<url><loc>/@</loc><c>" + fill + b"</url>",
    "undeclared": b"<url><loc>/@</loc><image:c>" + fill + b"</image:c></url>",
    "attributes": b"<url><loc>/@</loc><c a='" + fill + b"'/></url>",
}[sys.argv[1]]
through(body(entry, 200))
before = peak()
urls, reading = through(body(entry, int(sys.argv[2])))
print(urls, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("shape", "entries"),
    [("whole", 50_000), ("unclosed", 10_000), ("undeclared", 10_000), ("attributes", 10_000)],
)
def test_fifty_megabytes_in_under_thirty(shape, entries):
    """A thousand bytes an entry; the smaller ones in their share of memory."""
    command = [sys.executable, "-c", PROGRAM, shape, str(entries)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    urls, extra = map(int, done.stdout.split())
    assert urls == entries
    assert extra < 600 * entries
