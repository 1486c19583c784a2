"""Models that nobody uses leave memory after a while, but for the default one."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.model_store import ModelStore

MINUTE = 60.0
TINY, OTHER = "folder:bert", "folder:electra"


class Clock:
    """Seconds as the test says."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, minutes: float) -> None:
        self.seconds += minutes * MINUTE


@pytest.fixture
def clock() -> Clock:
    return Clock()


def store_of(root: Path, clock: Clock, minutes: int = 10) -> ModelStore:
    settings = Settings(model_folder=root, allow_downloads=False, idle_minutes=minutes)
    return ModelStore(settings, lambda _: None, clock)


@pytest.mark.slow
def test_idle_models_leave_and_the_default_one_stays(tiny_root: Path, clock: Clock) -> None:
    store = store_of(tiny_root, clock)
    for model in (BUNDLED_ID, TINY, OTHER):
        store.model(model)
    clock.wait(6)
    store.model(OTHER)
    clock.wait(3.9)
    assert store.unload_idle() == ()
    clock.wait(0.1)
    assert store.unload_idle() == (TINY,)
    assert store.loaded() == (BUNDLED_ID, OTHER)
    clock.wait(100)
    assert store.unload_idle() == (OTHER,)
    assert store.loaded() == (BUNDLED_ID,)
    store.model(TINY)  # it comes back when somebody asks
    assert TINY in store.loaded()


def test_to_cut_with_a_models_tokenizer_is_a_use_of_it(tiny_root: Path, clock: Clock) -> None:
    store = store_of(tiny_root, clock)
    store.model(TINY)
    clock.wait(9)
    store.tokenizer(TINY)
    clock.wait(9)
    assert store.unload_idle() == ()


def test_nothing_leaves_where_the_settings_say_never(tiny_root: Path, clock: Clock) -> None:
    store = store_of(tiny_root, clock, minutes=0)
    store.model(TINY)
    clock.wait(1e6)
    assert store.unload_idle() == ()
    assert store._timer is None


@pytest.mark.slow
def test_what_left_is_freed_and_a_store_that_is_gone_is_waited_for_no_more(
    tiny_root: Path, clock: Clock
) -> None:
    store = store_of(tiny_root, clock)
    gone = weakref.ref(store.model(TINY))
    timer = store._timer
    assert timer is not None
    assert timer.daemon
    clock.wait(11)
    store.unload_idle()
    assert gone() is None
    del store
    gc.collect()
    timer.join(60)
    assert not timer.is_alive()
