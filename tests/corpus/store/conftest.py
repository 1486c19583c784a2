"""A store and jobs for each test, and indexing in small steps where a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextlens.corpus.store import run
from contextlens.corpus.store.store import Store
from contextlens.jobs import Jobs


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_MAX_TEXTS", 4)
    monkeypatch.setattr(run, "_COMMIT_SECONDS", 0.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "corpora"))


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    own = Jobs(10**6)
    yield own
    own.stop(10)
