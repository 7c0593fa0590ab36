"""A web that several tests look at, made once."""

from __future__ import annotations

import pytest

from recrawl.sim.growth import make_web
from recrawl.sim.truth import Prices
from recrawl.sim.web import MadeUpWeb, WebSpec


@pytest.fixture(scope="session")
def web() -> MadeUpWeb:
    return make_web(WebSpec(seed=3))


@pytest.fixture(scope="session")
def prices(web: MadeUpWeb) -> Prices:
    return Prices.of_web(web)
