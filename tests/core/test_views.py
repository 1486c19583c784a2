"""One set of weights run in several ways at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.encoder import LoadedModel, load_model
from contextlens.core.registry import locate
from contextlens.core.schema import FastPrecision
from contextlens.core.service import LocalService

TEXTS = ["A python slept under the warm lamp.", "The bank of the river was green."]


QUICK = FastPrecision("bfloat16", "So the test says.")


@pytest.fixture(scope="module")
def loaded(tiny_root: Path) -> LoadedModel:
    return load_model(locate("folder:bert", Settings(model_folder=tiny_root)), QUICK)


def test_attentions_share_their_weights(loaded: LoadedModel) -> None:
    sdpa, eager = (loaded.views.at("exact", kind) for kind in ("sdpa", "eager"))
    assert sdpa is loaded.model
    assert eager is not sdpa
    assert eager.config is not sdpa.config
    ours, theirs = dict(sdpa.state_dict()), dict(eager.state_dict())
    assert ours.keys() == theirs.keys()
    assert all(value.data_ptr() == theirs[name].data_ptr() for name, value in ours.items())


def test_the_fast_copy_is_made_once_and_shared(loaded: LoadedModel) -> None:
    before = loaded.memory_bytes
    sdpa, eager = (loaded.views.at("fast", kind) for kind in ("sdpa", "eager"))
    assert {p.dtype for p in sdpa.parameters()} == {torch.bfloat16}
    assert [p.data_ptr() for p in sdpa.parameters()] == [p.data_ptr() for p in eager.parameters()]
    assert loaded.memory_bytes == before * 3 // 2
    assert {p.dtype for p in loaded.model.parameters()} == {torch.float32}


def test_threads_that_want_different_attention_do_not_disturb_each_other(tiny_root: Path) -> None:
    service = LocalService(Settings(model_folder=tiny_root, allow_downloads=False))
    asked = list(product([BUNDLED_ID, "folder:bert"], [False, True])) * 8
    for model in (BUNDLED_ID, "folder:bert"):
        service.load(model)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda a: service.encode(a[0], TEXTS, attentions=a[1]), asked))
    alone_by = {model: [service.encode(model, [text])[0] for text in TEXTS] for model, _ in asked}
    for (model, attentions), encodings in zip(asked, found, strict=True):
        for encoding, alone in zip(encodings, alone_by[model], strict=True):
            assert (encoding.attentions is not None) == attentions
            bound = 1e-5 * max(1.0, np.abs(alone.hidden).max())
            np.testing.assert_allclose(encoding.hidden, alone.hidden, rtol=0, atol=bound)
