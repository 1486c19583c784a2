"""The effect of padding, computed once more with plain transformers, one text at a time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine as cosine_distance

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.masks.compute import encode_both
from contextlens.features.masks.measures import (
    Damage,
    Saving,
    damage,
    pad_sizes,
    padding_share,
    saving,
    token_labels,
)
from tests.support.masks import lab_of
from tests.support.oracle import Oracle
from tests.support.tiny_models import FAMILIES, MAX_LENGTH

TEXTS = ("I love my pet python", "Rain.", "She is an engineer and works by the sea")
PAIRS = ("A snake, I think.", None, "in the town")
MODELS = ("bert", "distilbert", "roberta", "albert", "bert-without-pooler")
"""A kind of positions and of pooler each; the tests of the core compare every family."""

lengths = st.lists(st.integers(1, 512), min_size=1, max_size=40)


def like(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of the rows of two (n_layers, n_dims), by scipy."""
    return np.array([1 - cosine_distance(x, y) for x, y in zip(a, b, strict=True)])


def assert_is_damage(found: Damage, oracle: Oracle, text: str, pair: str | None, **how: object):
    """Check the numbers against plain transformers, for a text alone and padded."""
    alone, padded = oracle(text, pair), oracle(text, pair, **how)
    n = alone.hidden.shape[1]
    each = [like(alone.hidden[:, i], padded.hidden[:, i]) for i in range(n)]
    mean = alone.hidden.mean(axis=1)
    near = {"rtol": 0, "atol": 2e-5}
    np.testing.assert_allclose(found.tokens, np.stack(each, axis=1), **near)
    np.testing.assert_allclose(found.first, each[0], **near)
    np.testing.assert_allclose(found.mean, like(mean, padded.hidden[:, :n].mean(axis=1)), **near)
    np.testing.assert_allclose(found.mean_all, like(mean, padded.hidden.mean(axis=1)), **near)
    lengths = np.linalg.norm(padded.hidden, axis=-1)
    np.testing.assert_allclose(found.lengths, lengths, rtol=1e-4, atol=1e-4)
    if alone.pooler_output is None or padded.pooler_output is None:
        assert found.pooled is None
    else:
        expected = 1 - cosine_distance(alone.pooler_output, padded.pooler_output)
        assert found.pooled == pytest.approx(expected, abs=2e-5)


def damages(service: EncoderService, model: str, *, pad_to: int, masked: bool) -> list[Damage]:
    both = encode_both(service, model, TEXTS, pairs=PAIRS, pad_to=pad_to, masked=masked)
    return [found for _, _, found in both]


# The laboratory


@pytest.fixture(scope="module")
def bundled_oracle(bundled_folder: Path) -> Oracle:
    return Oracle(bundled_folder, 512)


@pytest.mark.slow
@pytest.mark.parametrize(("pad_to", "masked"), [(32, False), (64, True), (128, False)])
def test_the_bundled_models_damage_is_that_of_plain_transformers(
    service: EncoderService, bundled_oracle: Oracle, pad_to: int, masked: bool
) -> None:
    mask = "model" if masked else "ones"
    found = damages(service, BUNDLED_ID, pad_to=pad_to, masked=masked)
    for one, text, pair in zip(found, TEXTS, PAIRS, strict=True):
        assert_is_damage(one, bundled_oracle, text, pair, pad_to=pad_to, mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_models_damage_is_that_of_plain_transformers(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    oracle = Oracle(tiny_root / name, MAX_LENGTH)
    for masked, mask in ((True, "model"), (False, "ones")):
        found = damages(tiny_service, f"folder:{name}", pad_to=MAX_LENGTH, masked=masked)
        for one, text, pair in zip(found, TEXTS, PAIRS, strict=True):
            assert_is_damage(one, oracle, text, pair, pad_to=MAX_LENGTH, mask=mask)
    assert min(float(one.tokens.min()) for one in found) < 0.999


def test_another_text_or_other_layers_are_no_padded_form(service: EncoderService) -> None:
    a, b = service.encode(BUNDLED_ID, ["a python", "a snake"], pad_to=16)
    with pytest.raises(RequestError, match="not the text alone"):
        damage(a, b)
    fewer = replace(a, layers=tuple(range(6)), hidden=a.hidden[:6])
    with pytest.raises(RequestError, match="not the text alone"):
        damage(a, fewer)


def test_a_row_knows_its_padding(service: EncoderService) -> None:
    lab = lab_of(service, "I love my pet python", "Rain.", pad_to=16)
    assert lab.lengths == [7, 4]
    assert [row.n_padding for row in lab.rows] == [9, 12]
    assert lab.rows[0].pad_token == "[PAD]"
    assert lab.share == pytest.approx(21 / 32)


# Shares and savings


@given(lengths, st.integers(512, 600))
def test_the_share_counts_the_zeros_of_the_mask(found: list[int], pad_to: int) -> None:
    mask = np.arange(pad_to) < np.array(found)[:, None]
    assert padding_share(found, pad_to) == pytest.approx(1 - mask.mean())
    assert padding_share([], pad_to) == 0


@given(lengths, st.integers(1, 12))
def test_sorting_saves_what_is_left_out_and_full_batches_never_lose(
    found: list[int], size: int
) -> None:
    def computed(ordered: list[int]) -> int:
        batches = [ordered[i : i + size] for i in range(0, len(ordered), size)]
        return sum(max(batch) for batch in batches for _ in batch)

    result = saving(found, size)
    assert result == Saving(
        size, sum(found), computed(found), computed(sorted(found, reverse=True))
    )
    assert result.real <= min(result.by_length, result.given)
    if len(found) % size == 0:
        assert 0 <= result.padding_sorted <= result.padding_given < 1
        assert 0 <= result.saved < 1


def test_one_batch_or_batches_of_one_gain_nothing() -> None:
    for size in (1, 5):
        assert saving([3, 9, 4, 8, 2], size).saved == 0
    assert saving([3, 9, 4, 8, 2], 1).padding_given == 0
    assert saving([9, 2, 9, 2], 2).saved == pytest.approx(1 - 22 / 36)
    assert saving([1, 1, 9], 2).saved < 0  # the long text was alone in the last batch


@pytest.mark.parametrize(("found", "size"), [([], 2), ([3], 0)])
def test_nothing_cannot_be_sorted(found: list[int], size: int) -> None:
    with pytest.raises(RequestError):
        saving(found, size)


@given(st.integers(1, 512), st.integers(0, 600))
def test_lengths_to_pad_to_fit_text_and_model(longest: int, more: int) -> None:
    sizes = pad_sizes(longest, longest + more)
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == longest + more
    assert all(longest <= n <= longest + more for n in sizes)


# Names


@pytest.mark.parametrize("name", FAMILIES)
def test_tokens_read_as_pieces_of_the_text(tiny_service: EncoderService, name: str) -> None:
    text = "A python slept under the lamp"
    tokens = tiny_service.tokenize(f"folder:{name}", [text])[0]
    labels = token_labels(tokens)
    for label, which in zip(labels, tokens.text_ids, strict=True):
        piece = label.removeprefix("##").replace("␣", " ").casefold()
        assert (piece in text.casefold()) == (which == 0)
    assert not any(sign in label for label in labels for sign in "Ġ▁")


def test_a_pairs_tokens_are_read_in_their_own_text(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["One two"], pairs=["Caffè three"])[0]
    *first, a, b, three, end = token_labels(tokens)
    assert first == ["[CLS]", "one", "two", "[SEP]"]
    assert (a + b, three, end) == ("caffè", "three", "[SEP]")
