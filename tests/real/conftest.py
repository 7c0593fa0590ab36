"""A part of Debian's Python manual for nginx to serve; skipped, with the reason, without them."""

import importlib
import shutil
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PARTS = ("faq", "howto", "extending", "distutils", "tutorial", "reference", "using")


@pytest.fixture(scope="session")
def benchmark(request):
    """A module of `benchmarks/` by name: these tests are its small version."""
    sys.path.insert(0, str(BENCHMARKS))
    request.addfinalizer(lambda: sys.path.remove(str(BENCHMARKS)))
    return importlib.import_module


@pytest.fixture(scope="session")
def manual(benchmark, tmp_path_factory):
    """About ninety pages, which also link to pages that were left out."""
    nginx = benchmark("real_nginx")
    if reason := nginx.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("manual") / "html"
    folder.mkdir()
    shutil.copy(nginx.MANUAL / "index.html", folder)
    for part in PARTS:
        shutil.copytree(nginx.MANUAL / part, folder / part)
    return folder
