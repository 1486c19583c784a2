"""Work done once behind the first page, and at the end; it leaves every run of a page light."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import streamlit as st

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import BusyError
from contextlens.core.ready_answers import ReadyService
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.indexing import index_key
from contextlens.jobs import Processes
from contextlens.maps import engine, placing
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs, maps, store
from contextlens.ui.page import runs
from contextlens.ui.server import startup
from contextlens.ui.state.services import uncached
from tests.support.corpus_store import made_up_corpus
from tests.support.pages import app_settings

SECONDS = 120


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Everything made ready."""
    data = str(tmp_path_factory.mktemp("startup"))
    with app_settings(DATA_DIR=data, ALLOW_DOWNLOADS="0"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "Processes", Processes)  # a fresh server has none that runs
        patch.setattr(engine, "is_compiled", lambda _: True)
        runtime.service().load(BUNDLED_ID)
        startup._prepare()
        yield
        gc.unfreeze()


def test_the_libraries_are_left_out_of_garbage_collection(prepared: None) -> None:
    assert gc.get_freeze_count() > 100_000
    assert len(gc.get_objects()) < gc.get_freeze_count()


def test_no_map_process_runs_before_a_map_is_asked_for(
    prepared: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def running() -> list[bool]:
        return sorted(worker.is_alive for worker in maps()._placing.processes._all)

    assert running() == [False, False]
    monkeypatch.setattr(engine, "is_compiled", lambda _: False)  # nothing was set up
    maps().warm_up()
    assert running() == [False, True]


def unfinished(n_texts: int) -> str:
    """A corpus that an earlier server did not index."""
    card = runtime.service().load(BUNDLED_ID)
    return store().create(made_up_corpus(n_texts), indexing_of(card, (0,), "exact")).name


@pytest.mark.slow
def test_indexing_goes_on_that_an_earlier_server_did_not_finish(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        name = unfinished(5)
        startup._go_on()
        job = jobs().get(index_key(store(), name))
        assert job is not None
        assert job.wait(SECONDS)
        assert store().about(name).state == "done"


@pytest.mark.slow
def test_the_end_leaves_what_is_not_done_to_be_gone_on_with(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        name = unfinished(3_000)
        startup._go_on()
        startup._end()
        job = jobs().get(index_key(store(), name))
        assert job is not None
        assert job.wait(SECONDS)
        assert job.was_stopped
        assert store().about(name).state in {"waiting", "indexing"}


def test_where_nothing_is_kept_the_store_is_not_even_imported(tmp_path: Path) -> None:
    """Its import would delay the first page by a second."""
    code = (
        "import sys; from contextlens.ui.server import startup; startup._go_on(); "
        "from contextlens.ui.corpora.catalogue import listed; "
        "from contextlens.ui.state.view import DEFAULT; assert listed(DEFAULT) == (); "
        "print('lancedb' in sys.modules)"
    )
    environ = {"CONTEXTLENS_DATA_DIR": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["False"]


WHILE_TORCH_IS_IMPORTED = """
import sys, threading
from importlib.util import find_spec
from contextlens.ui.server.startup import _TensorAtOnce
sys.meta_path.insert(0, _TensorAtOnce())
assert find_spec("torch")  # libraries ask whether it is installed
importing = threading.Thread(target=__import__, args=("torch",))
importing.start()
while "torch" not in sys.modules:
    pass
from scipy.stats import spearmanr
print(spearmanr([1, 2, 3], [1, 3, 2]).statistic, importing.is_alive())
sys.goes_on = True
importing.join()
import torch
print(torch.Tensor)
"""


def test_scipy_works_while_torch_is_imported(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(
        "import sys, time\n"
        "while not hasattr(sys, 'goes_on'):\n"
        "    time.sleep(0.01)\n"
        "Tensor = 'the real one'\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WHILE_TORCH_IS_IMPORTED],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
        cwd=Path(__file__).parents[3],
        timeout=SECONDS,
    )
    assert done.stdout.splitlines() == ["0.5 True", "the real one"]


@pytest.mark.parametrize(
    ("hosts", "waits"), [("", [startup._FIRST_PAGE_SECONDS]), ("app.example.org", [])]
)
def test_the_first_load_waits_for_a_page_only_where_one_person_can_open_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hosts: str, waits: list[float]
) -> None:
    waited: list[float] = []
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0", HOSTS=hosts):
        runtime.service().load(BUNDLED_ID)  # which keeps its card
        st.cache_resource.clear()
        service = cast("ReadyService", uncached())
        service.is_starting = True
        assert service.has_answers
        monkeypatch.setattr(runs.FIRST_IS_OVER, "wait", waited.append)
        assert startup._loading().wait(SECONDS)
        assert waited == waits


def test_a_first_load_that_is_refused_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BusyError("Too much waits already.")

    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        service = cast("ReadyService", uncached())
        service.is_starting = True
        monkeypatch.setattr(runtime, "start_loading", refuse)
        startup._prepare()
        assert not service.is_starting
