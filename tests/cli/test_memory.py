"""Freed memory stays with a process that crawls."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PARSE = """
import resource, sys
from recrawl.cli.memory import keep_freed_memory
from recrawl.extract.document import Document
from recrawl.extract.text import tiers

page = b"<p>some words of a page <b>and more</b>" * 2000

def faults(n):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(n):
        tiers(Document(page, "text/html", "https://e.com/"))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / n

faults(5)
without = faults(20)
assert keep_freed_memory()
faults(5)
print(without, faults(20))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_pages_read_one_after_the_other_reuse_their_memory() -> None:
    told = subprocess.run(
        [sys.executable, "-c", PARSE], check=True, capture_output=True, text=True
    ).stdout
    without, kept = map(float, told.split())
    assert without > 20, "or there is nothing to be gained"
    assert kept < without / 4
