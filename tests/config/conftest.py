"""Writing a project file and reading it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recrawl.config import ConfigError, Settings, load

BASE = """\
[project]
contact = "owner@shop.example"
seeds = ["https://shop.example/"]
"""

Load = Callable[..., Settings]
Mistakes = Callable[..., list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Load:
    """Settings of BASE and the text given."""

    def inner(
        text: str = "", environ: Mapping[str, str] | None = None, base: str = BASE
    ) -> Settings:
        path = tmp_path / "recrawl.toml"
        path.write_text(base + text, encoding="utf-8")
        return load(path, environ or {})

    return inner


@pytest.fixture
def wrong(read: Load) -> Mistakes:
    """The messages for BASE and the text given; fails if there are none."""

    def inner(
        text: str = "", environ: Mapping[str, str] | None = None, base: str = BASE
    ) -> list[str]:
        with pytest.raises(ConfigError) as e:
            read(text, environ, base)
        assert str(e.value) == "\n".join(e.value.messages)
        return e.value.messages

    return inner
