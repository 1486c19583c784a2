"""Changes together and in any company: in one model, as far as they do not depend on the family."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core import EncoderService, Settings
from contextlens.core.encoder import LoadedModel, intervene, load_model
from contextlens.core.encoder.layerwise import Layerwise
from contextlens.core.registry import locate
from contextlens.core.schema import Average, Block, FastPrecision, Patch, SwitchOff
from contextlens.core.service import LocalService
from tests.core.encoder import hooked
from tests.core.encoder.intervening.intervened import (
    INPUTS,
    OTHER,
    TEXT,
    Changes,
    Input,
    Subject,
    assert_as_hooked,
    assert_close,
)
from tests.support.oracle import Oracle

QUICK = FastPrecision("float32", "So the test says.")


@pytest.fixture(scope="module")
def loaded(tiny_root: Path) -> LoadedModel:
    return load_model(locate("folder:bert", Settings(model_folder=tiny_root)), QUICK)


SWITCHES = st.builds(
    lambda part, layer, head, to: SwitchOff(part, layer, head if part == "head" else None, to),
    st.sampled_from(["head", "attention", "feed_forward"]),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["zero", "mean"]),
)
SOME_LAYERS = st.none() | st.lists(st.integers(1, 3), min_size=1, unique=True).map(tuple)
BLOCKS = st.builds(Block, st.integers(0, 6), st.none() | st.integers(0, 6), SOME_LAYERS)
PATCHES = st.builds(
    lambda layer, pairs: Patch(
        layer, tuple(a for a, _ in pairs), OTHER, tuple(b for _, b in pairs)
    ),
    st.integers(0, 3),
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 9)),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: pair[0],
    ),
)
AVERAGES = st.builds(
    Average,
    st.integers(0, 3),
    st.lists(st.integers(0, 6), min_size=1, max_size=3, unique=True).map(tuple),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(INPUTS),
            st.lists(SWITCHES | BLOCKS | PATCHES | AVERAGES, max_size=4).map(tuple),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([[3], [0, 2], [0, 1, 2, 3]]),
)
@settings(max_examples=20)
def test_any_changes_together_equal_hooks(
    tiny: Subject, rows: list[tuple[Input, Changes]], layers: list[int]
) -> None:
    inputs, changes = zip(*rows, strict=True)
    found = tiny.encodings(inputs, changes, layers=layers)
    assert_as_hooked(tiny, inputs, changes, found)


def test_where_two_changes_meet_the_later_one_holds(tiny: Subject) -> None:
    last_alone, both = tiny.encodings(
        [(TEXT, None)] * 2,
        [
            (SwitchOff("head", 2, 1), Average(1, (2,))),
            (SwitchOff("head", 2, 1, "mean"), SwitchOff("head", 2, 1), Patch(1, (2,), OTHER, (1,)),
             Average(1, (2,))),
        ],
    )  # fmt: skip
    np.testing.assert_array_equal(last_alone.hidden, both.hidden)


@pytest.mark.parametrize("text", ["", "cat", "[PAD] cat [SEP]", "unbelievable" * 3, "walk " * 90])
@pytest.mark.parametrize("model", ["bert", "roberta", "mpnet"])
def test_odd_texts_are_read_as_any_other(
    tiny_service: EncoderService, tiny_root: Path, model: str, text: str
) -> None:
    oracle = Oracle(tiny_root / model, 64)
    n = tiny_service.tokenize(f"folder:{model}", [text])[0].n_tokens
    changes: list[Changes] = [(Block(n - 1),), (SwitchOff("head", 2, 1),)]
    edits = [hooked.Edits(hidden=[(None, None, n - 1)]), hooked.Edits({(2, 1): 0.0})]
    found = tiny_service.intervene(f"folder:{model}", [text] * 2, changes)
    for ours, made in zip(found, edits, strict=True):
        assert_close(ours.hidden, hooked.run(oracle, text, None, made).hidden, text)


def test_asking_for_some_layers_gives_those(tiny: Subject) -> None:
    changes: list[Changes] = [(SwitchOff("head", 3, 0),), (Patch(2, (1,), OTHER, (1,)),), ()]
    inputs = [(TEXT, None)] * 3
    every = tiny.encodings(inputs, changes)
    for layers in ([1], [3, 0], [0], [2, 2]):
        for ours, whole in zip(tiny.encodings(inputs, changes, layers=layers), every, strict=True):
            assert ours.layers == tuple(layers)
            assert_close(ours.hidden, whole.hidden[layers], str(layers), within=1e-6)
            assert (ours.pooler_output is not None) == (3 in layers)


def test_layers_below_a_change_are_run_once(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[int, int]] = []
    step = Layerwise.step

    def counted(self: Layerwise, layer: int, hidden: Any, *more: Any) -> Any:
        done.append((layer, len(hidden)))
        return step(self, layer, hidden, *more)

    monkeypatch.setattr(Layerwise, "step", counted)
    deep = [(SwitchOff("head", 3, head),) for head in range(4)]
    swaps = [(Patch(layer, (1,), TEXT, (2,)),) for layer in (1, 2, 3)]
    intervene(loaded, [TEXT] * 4, deep, layers=[3])
    assert done == [(1, 1), (2, 1), (3, 4)]
    done.clear()
    intervene(loaded, [TEXT] * 3, swaps, layers=[3])  # the first three are the other text's own
    assert done == [(1, 1), (2, 1), (3, 1), (1, 1), (2, 1), (3, 1), (2, 1), (3, 2)]


def test_threads_change_nothing_for_each_other(tiny_root: Path) -> None:
    service = LocalService(Settings(model_folder=tiny_root, allow_downloads=False))
    rows: list[Changes] = [
        (SwitchOff("attention", 2),),
        (Block(1),),
        (),
        (SwitchOff("head", 1, 0),),
    ]

    def changed(i: int) -> np.ndarray:
        return service.intervene("folder:albert", [TEXT], [rows[i % 4]])[0].hidden

    def plain(_: int) -> np.ndarray:
        return service.encode("folder:albert", [TEXT])[0].hidden

    expected = [changed(i) for i in range(4)]
    ready, start = plain(0), threading.Barrier(4)

    def many(which: int) -> list[np.ndarray]:
        start.wait(60)
        return [plain(i) if which == 3 else changed(which + i) for i in range(60)]

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(many, range(4)))
    for which, arrays in enumerate(found):
        for i, ours in enumerate(arrays):
            wanted = ready if which == 3 else expected[(which + i) % 4]
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-5)


def test_the_model_that_others_use_has_no_hooks(loaded: LoadedModel) -> None:
    intervene(loaded, [TEXT], [[SwitchOff("head", 1, 0)]])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in loaded.model.modules())
