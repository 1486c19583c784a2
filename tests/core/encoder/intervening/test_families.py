"""Changes inside a model have the effect of hand-written hooks, in all families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.errors import UnsupportedModelError
from contextlens.core.schema import Average, Block, Patch, SwitchOff
from contextlens.core.service import LocalService
from tests.core.encoder import hooked
from tests.core.encoder.intervening.intervened import (
    BASELINE,
    INPUTS,
    OTHER,
    TEXT,
    Changes,
    Subject,
    assert_as_hooked,
    assert_close,
)
from tests.support.oracle import Oracle
from tests.support.tiny_models import FAMILIES, build

VARIANTS = ("electra-same-size", "bert-without-pooler", "albert-groups", "deberta-v2-xlarge")
SUBJECTS = (BUNDLED_ID, *FAMILIES, *VARIANTS)


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(
    request: pytest.FixtureRequest, tiny_root: Path, bundled_folder: Path, tmp_path_factory: Any
) -> Subject:
    name, root = request.param, tiny_root
    if name == "albert-groups":
        root = tmp_path_factory.mktemp("groups")
        build("albert", root / name, num_hidden_layers=4, num_hidden_groups=2)
    bundled = name == BUNDLED_ID
    oracle = Oracle(bundled_folder if bundled else root / name, 512 if bundled else 64)
    return Subject(
        BUNDLED_ID if bundled else f"folder:{name}",
        LocalService(Settings(model_folder=root, allow_downloads=False)),
        oracle,
        {(text, pair): hooked.run(oracle, text, pair) for text, pair in INPUTS},
        [hooked.run(oracle, text) for text in BASELINE],
    )


def test_every_kind_of_change_equals_hooks_on_plain_transformers(subject: Subject) -> None:
    last = subject.n_layers
    kinds: list[Changes] = [
        (),
        (SwitchOff("head", 1, 0),),
        (SwitchOff("head", last, 1, to="mean"),),
        (SwitchOff("head", 2, 3), SwitchOff("head", 2, 1), SwitchOff("head", last, 0)),
        (SwitchOff("attention", 2),),
        (SwitchOff("attention", 1, to="mean"), SwitchOff("feed_forward", last)),
        (SwitchOff("feed_forward", 2, to="mean"),),
        (Block(2),),
        (Block(1, layers=(2, last)),),
        (Block(0, seen_by=3), Block(3, seen_by=0, layers=(1,))),
        (Patch(0, (1, 2), OTHER, (3, 3)),),
        (Patch(2, (4,), TEXT, (1,), "Yesterday's rain was unbelievable"),),
        (Patch(last, (0, 1), OTHER, (1, 0)),),
        (Average(1, (1, 2)),),
        (Average(0, (2,), over="batch"), Average(last, (3,), over="batch")),
        (SwitchOff("head", 2, 2), Block(1), Patch(1, (3,), OTHER, (2,)), Average(2, (4,))),
    ]
    inputs = [INPUTS[i % len(INPUTS)] for i in range(len(kinds))]
    found = subject.encodings(inputs, kinds)
    assert_as_hooked(subject, inputs, kinds, found)
    for one, made, encoding in zip(inputs, kinds, found, strict=True):
        moved = np.abs(encoding.hidden - subject.plain[one].hidden).max()
        assert (moved > 1e-3) == bool(made), made


def test_what_changes_nothing_gives_the_plain_encoding(subject: Subject) -> None:
    texts, pairs = zip(*INPUTS, strict=True)
    plain = subject.service.encode(subject.model, texts, pairs=pairs)
    same = [
        (Patch(layer, tuple(range(e.n_tokens)), e.text, tuple(range(e.n_tokens)), e.pair),)
        for e, layer in zip(plain, (0, 2, subject.n_layers), strict=True)
    ]
    for changes in (((),) * len(INPUTS), same):
        for ours, encoding in zip(subject.encodings(INPUTS, changes), plain, strict=True):
            assert_close(ours.hidden, encoding.hidden, str(changes), within=1e-6)
            if encoding.pooler_output is None:
                assert ours.pooler_output is None
            else:
                np.testing.assert_allclose(
                    ours.pooler_output, encoding.pooler_output, rtol=0, atol=1e-6
                )
            assert ours.tokens == encoding.tokens


def test_a_model_whose_layers_are_made_of_several_is_refused(tmp_path: Path) -> None:
    build("albert", tmp_path / "albert", inner_group_num=2)
    service = LocalService(Settings(model_folder=tmp_path, allow_downloads=False))
    with pytest.raises(UnsupportedModelError, match="inner_group_num is 2"):
        service.intervene("folder:albert", [TEXT], [[]])
