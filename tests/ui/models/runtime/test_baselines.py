"""Baselines are measured beside the pages, once for all visitors, and kept on disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import streamlit as st

from contextlens.analysis.baseline import Baseline
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import ModelCard
from contextlens.core.byte_cache import shared_cache
from contextlens.ui.models import runtime, tasks
from contextlens.ui.models.background import jobs
from contextlens.ui.state.view import DEFAULT
from tests.support.pages import app_settings, framed
from tests.ui.models.runtime.getting import SECONDS, TINY


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def _app(models: Path, data: Path) -> Iterator[None]:
    """A fresh server with the tiny models and nothing measured."""
    with app_settings(DATA_DIR=str(data), MODEL_FOLDERS=str(models), ALLOW_DOWNLOADS="0"):
        yield


@pytest.fixture
def card(_app: None) -> ModelCard:
    return runtime.service().load(TINY)


def measured(card: ModelCard) -> Baseline:
    """The baseline, once measured."""
    runtime.baseline(card)
    found = jobs().get(tasks.baseline_key(card))
    assert found is not None
    return found.result(SECONDS)


def restart() -> ModelCard:
    """Drop what is in memory, keep what is on disk, and load the model again."""
    shared_cache.cache_clear()
    st.cache_resource.clear()
    return runtime.service().load(TINY)


def n_encoded() -> int:
    """The number of texts that this process has encoded."""
    return runtime.service().cache_info().misses


def only_file(folder: Path) -> Path:
    (path,) = (folder / "baselines").iterdir()
    return path


def assert_equal(one: Baseline, other: Baseline) -> None:
    for part in fields(Baseline):
        np.testing.assert_array_equal(getattr(one, part.name), getattr(other, part.name))


def test_nobody_waits_while_a_baseline_is_measured_once_for_all_visitors_of_a_model(
    card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    measure = tasks.measure

    def wait_and_measure(*given: Any) -> Baseline:
        assert go_on.wait(SECONDS)
        return measure(*given)

    monkeypatch.setattr(tasks, "measure", wait_and_measure)
    assert runtime.baseline(card) is None
    assert runtime.baseline(card) is None
    go_on.set()
    with ThreadPoolExecutor(8) as visitors:
        found = list(visitors.map(lambda _: measured(card), range(8)))
    assert all(each is runtime.baseline(card) for each in found)
    assert n_encoded() == len(baseline_sentences())
    other = measured(runtime.service().load("folder:electra"))
    assert not np.array_equal(found[0].plain, other.plain)


def test_a_baseline_is_kept_on_disk_and_read_back_without_measuring(
    card: ModelCard, data: Path
) -> None:
    before = measured(card)
    written = only_file(data).stat().st_mtime_ns
    card = restart()
    again = runtime.baseline(card)
    assert again is not None, "what is on disk is there at once"
    assert_equal(again, before)
    assert n_encoded() == 0
    assert only_file(data).stat().st_mtime_ns == written


@pytest.mark.usefixtures("_app")
def test_a_model_too_short_for_some_sample_sentences_has_a_baseline_too() -> None:
    card = runtime.service().load("folder:short")
    assert card.max_length == 64
    assert measured(card).n_words > 500


def in_the_way(folder: Path) -> Path:
    (folder / "data").write_text("a file, not a folder")
    return folder / "data"


@pytest.mark.parametrize(
    "place",
    [in_the_way, lambda folder: folder / ("x" * 300), lambda _: Path("/proc/contextlens")],
    ids=["a file in the way", "too long a name", "no folder can be made"],
)
def test_where_nothing_can_be_kept_there_is_a_baseline_all_the_same(
    models: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    place: Callable[[Path], Path],
) -> None:
    with app_settings(DATA_DIR=str(place(tmp_path)), MODEL_FOLDERS=str(models)):
        card = runtime.service().load(TINY)
        assert measured(card).n_words > 500
        assert runtime.baseline(card) is not None
        assert any("could not be kept on disk" in r.getMessage() for r in caplog.records)
        app = framed(replace(DEFAULT, model=TINY))
        assert not app.exception
        assert not app.error


def test_a_baseline_that_cannot_be_measured_is_said_on_the_page_and_in_the_log(
    card: ModelCard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> NoReturn:
        raise RuntimeError("no measure today")

    monkeypatch.setattr(tasks, "measure", fail)
    with pytest.raises(RuntimeError, match="no measure today"):
        measured(card)
    assert runtime.baseline(card) is None
    entry = next(r for r in caplog.records if r.levelno == logging.ERROR)
    assert entry.getMessage() == "Measuring the baseline of a model failed"
    app = framed(replace(DEFAULT, model=TINY))
    assert not app.exception
    assert any("could not be measured" in caption.value for caption in app.main.caption)
    assert "no measure today" not in str(app)
