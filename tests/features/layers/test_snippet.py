"""The snippets of Layer by layer, run as a reader would run them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from contextlens.features.layers.measures import (
    alike,
    measures,
    shared,
    token_pairs,
    variance_shares,
    words_of,
)
from contextlens.features.layers.snippet import (
    SnippetText,
    cka_snippet,
    layers_snippet,
    pooler_snippet,
    variance_snippet,
)
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import run
from tests.support.tiny_models import FAMILIES

TEXTS = (("A python slept under the lamp", None), ("She is an engineer", "One word, {many} means"))
RUDE = 'She said "python"\n{x} <b> 🐍 [MASK]'
MODELS = [BUNDLED_ID, *(f"folder:{family}" for family in FAMILIES)]


def run_in(root: Path, code: str) -> dict[str, Any]:
    assert "contextlens" not in code
    return run(code.replace("path/to/", f"{root}/"))


def snippet_texts(texts: Sequence[tuple[str, str | None]]) -> list[SnippetText]:
    return [SnippetText(a, b, split_words(a), split_words(b or "")) for a, b in texts]


# What a family changes shows in a pair, what a text changes shows in one model.
CASES = [
    *((BUNDLED_ID, *texts) for texts in (TEXTS[0], (RUDE, None), ("word " * 600, None))),
    *((model, *TEXTS[1]) for model in MODELS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "text", "pair"), CASES)
def test_the_measures_are_the_page_s(
    tiny_service: EncoderService, tiny_root: Path, model: str, text: str, pair: str | None
) -> None:
    card = tiny_service.load(model)
    found = run_in(tiny_root, layers_snippet(card, text, pair))
    own = measures(tiny_service.encode(model, [text], pairs=[pair])[0])
    for kind, expected in own.items():
        np.testing.assert_allclose(found[kind].numpy(), expected.values, rtol=1e-4, atol=2e-5)
        averages = found["averages"][kind].numpy()
        np.testing.assert_allclose(averages, expected.averages, rtol=1e-4, atol=2e-5)
        if expected.chance is not None:
            np.testing.assert_allclose(
                found["chance"][kind].numpy(), expected.chance.mean, atol=2e-5
            )
    hidden = tiny_service.encode(model, [text], pairs=[pair])[0].hidden
    np.testing.assert_allclose(found["pairs"].numpy(), token_pairs(hidden), atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["folder:bert", "folder:roberta", None])
def test_cka_is_the_page_s_for_one_model_and_for_two(
    tiny_service: EncoderService, tiny_root: Path, other: str | None
) -> None:
    texts, pairs = zip(*TEXTS, strict=True)
    ours, theirs = (
        words_of(tiny_service.encode(model, texts, pairs=pairs))
        for model in (BUNDLED_ID, other or BUNDLED_ID)
    )
    first, second = shared(ours, theirs)
    assert first.shape[1] == len(ours.keys)
    second_card = None if other is None else tiny_service.load(other)
    code = cka_snippet(tiny_service.load(BUNDLED_ID), snippet_texts(TEXTS), second_card)
    numbers, own = run_in(tiny_root, code), alike(first, second)
    assert np.isfinite(own.debiased).all()
    np.testing.assert_allclose(numbers["matrix"].numpy(), own.cka, atol=1e-5)
    np.testing.assert_allclose(numbers["debiased"].numpy(), own.debiased, atol=1e-5)
    np.testing.assert_allclose(numbers["shuffled"].numpy(), own.shuffled, atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "albert", "roberta", "xlm-roberta", "mpnet"])
def test_the_pooler_is_the_model_s(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    model = f"folder:{name}"
    linear = "pooler" if name == "albert" else "pooler.dense"
    code = pooler_snippet(tiny_service.load(model), *TEXTS[1], linear=linear)
    found = run_in(tiny_root, code)
    own = tiny_service.encode(model, [TEXTS[1][0]], pairs=[TEXTS[1][1]])[0].pooler_output
    np.testing.assert_allclose(found["by_model"].numpy(), own, atol=1e-5)
    np.testing.assert_allclose(found["by_hand"].numpy(), own, atol=1e-5)


def test_the_variance_is_taken_from_the_page_s_npz(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding = service.encode(BUNDLED_ID, ["One word, many meanings; one meaning, many words"])[0]
    vectors = words_of([encoding]).vectors
    npz = to_npz({"sample_vectors": vectors}, encoding.passport)
    (tmp_path / "layer-by-layer.npz").write_bytes(npz)
    monkeypatch.chdir(tmp_path)
    shares = run(variance_snippet(5))["shares"].numpy()
    np.testing.assert_allclose(shares, variance_shares(vectors, 5), atol=1e-5)
