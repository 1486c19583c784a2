"""Texts alone and padded: beside plain transformers, and the batch of any view."""

from __future__ import annotations

import ast
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine as cosine_distance

from contextlens.content.examples import LONGER_TEXT
from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.errors import RequestError
from contextlens.features.masks.batch_grid import batch_grid
from contextlens.features.masks.controls import MASK, PAD_TO, SENTENCE, pad_sizes
from contextlens.features.masks.four_cases import four_cases
from contextlens.features.masks.over_layers import over_layers
from contextlens.features.masks.padded_batch import (
    Damage,
    Masks,
    PaddedBatch,
    batch_arrays,
    damage,
    encode_both,
    masks_of,
    masks_snippet,
    position_rows,
    summary_row,
    token_labels,
)
from contextlens.ui.state.view import DEFAULT, Sentence, Value, ViewState
from contextlens.ui.widgets import export
from tests.features.masks.odd import (
    PADDED,
    batch_of,
    described,
    odd_batches,
    view_of,
)
from tests.support.claims import read, unreached
from tests.support.oracle import Oracle
from tests.support.snippets import run
from tests.support.texts import AWKWARD, TYPED
from tests.support.tiny_models import FAMILIES, MAX_LENGTH, build

MODELS = ("bert", "distilbert", "roberta", "albert", "bert-without-pooler")
"""A kind of positions, segments and pooler each; the tests of the core compare every family."""
TEXTS = {
    "A": Sentence("I love my pet python", "A snake, I think."),
    "B": Sentence("Rain."),
    "C": Sentence("She is an engineer and works by the sea", "in the town"),
}

# One text, alone and padded


def like(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosines of the rows of two (n_layers, n_dims), by scipy."""
    return np.array([1 - cosine_distance(x, y) for x, y in zip(a, b, strict=True)])


def assert_is_damage(found: Damage, oracle: Oracle, sentence: Sentence, **how: object) -> None:
    """Check the numbers against plain transformers, for a text alone and padded."""
    text, pair = sentence.text, sentence.pair
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


@pytest.fixture(scope="module")
def bundled_oracle(bundled_folder: Path) -> Oracle:
    return Oracle(bundled_folder, 512)


@pytest.mark.parametrize(("pad_to", "masked"), [(32, False), (64, True), (128, False)])
def test_the_bundled_models_damage_is_that_of_plain_transformers(
    service: EncoderService, bundled_oracle: Oracle, pad_to: int, masked: bool
) -> None:
    mask = "model" if masked else "ones"
    found = encode_both(service, BUNDLED_ID, TEXTS, pad_to=pad_to, masked=masked)
    for row, sentence in zip(found.rows, TEXTS.values(), strict=True):
        assert_is_damage(row.damage, bundled_oracle, sentence, pad_to=pad_to, mask=mask)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_models_damage_is_that_of_plain_transformers(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    oracle, model = Oracle(tiny_root / name, MAX_LENGTH), f"folder:{name}"
    for masked, mask in ((True, "model"), (False, "ones")):
        found = encode_both(tiny_service, model, TEXTS, pad_to=MAX_LENGTH, masked=masked)
        for row, sentence in zip(found.rows, TEXTS.values(), strict=True):
            assert_is_damage(row.damage, oracle, sentence, pad_to=MAX_LENGTH, mask=mask)
    assert min(float(row.damage.tokens.min()) for row in found.rows) < 0.999


def test_another_text_or_other_layers_are_no_padded_form(service: EncoderService) -> None:
    a, b = service.encode(BUNDLED_ID, ["a python", "a snake"], pad_to=16)
    with pytest.raises(RequestError, match="not the text alone"):
        damage(a, b)
    fewer = replace(a, layers=tuple(range(6)), hidden=a.hidden[:6])
    with pytest.raises(RequestError, match="not the text alone"):
        damage(a, fewer)


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


# A batch


@given(st.lists(st.integers(1, 512), min_size=1, max_size=40), st.integers(512, 600))
def test_the_share_counts_the_zeros_of_the_mask(lengths: list[int], pad_to: int) -> None:
    mask = np.arange(pad_to) < np.array(lengths)[:, None]
    rows: Any = tuple(SimpleNamespace(n_real=n) for n in lengths)
    assert PaddedBatch(rows, pad_to, True).share == pytest.approx(1 - mask.mean())


@given(st.integers(1, 512), st.integers(0, 600))
def test_lengths_to_pad_to_fit_text_and_model(longest: int, more: int) -> None:
    sizes = pad_sizes(longest, longest + more)
    assert sizes == sorted(set(sizes))
    assert sizes[-1:] == ([min(longest + more, 512)] if longest <= 512 else [])
    assert all(longest <= n <= longest + more for n in sizes)


# The batch of a view


def notes(masks: Masks) -> list[str]:
    return list(map(str, masks.problems()))


def assert_whole(view: ViewState, service: EncoderService) -> Masks:
    """Everything that the page shows of a view can be made, and holds together."""
    card = service.load(view.model)
    masks = masks_of(view, service, card)
    batch = masks.batch
    grid, cases = batch_grid(masks), four_cases(masks)
    cells = grid.figure().to_plotly_json()["data"][0]["z"]
    for column, each in enumerate(batch.rows):
        real = [line[column] for line in cells if line[column] is not None]
        assert len(real) == each.n_real
        np.testing.assert_allclose(real, 1 - each.damage.tokens[masks.layer], atol=1e-5)
        assert len(position_rows(each)) == batch.pad_to == each.padded.n_tokens
    result = over_layers(masks, card)
    for figure in (result.figure(), result.heatmap(), *([cases.figure()] if cases else [])):
        assert json.loads(figure.to_json())["data"]
    assert read([*(cases or grid).claims(), grid.title(), result.title()])
    assert (cases is None) == (batch.share == 0) == (not grid.notes()) == (not grid.sure())
    ast.parse(masks.snippet(card))
    return masks


def test_the_opening_view_has_two_sentences_of_different_length(service: EncoderService) -> None:
    masks = assert_whole(DEFAULT, service)
    batch = masks.batch
    assert (batch.pad_to, batch.masked, masks.layer, masks.row.label) == (22, True, 6, "A")
    assert [(each.label, each.n_real) for each in batch.rows] == [("A", 7), ("C", 22)]
    assert [each.alone.text for each in batch.rows] == [DEFAULT.sentences[0].text, LONGER_TEXT]
    assert (masks.example, notes(masks)) == ("C", [])


def test_the_example_stands_only_beside_sentences_of_one_length(service: EncoderService) -> None:
    other = batch_of(SENTENCE.put(DEFAULT, "B"), service)
    assert [row.label for row in other.batch.rows] == ["B", "C"]
    assert other.row.label == "B"
    alone = batch_of(view_of("Rain."), service)
    assert [row.label for row in alone.batch.rows] == ["A", "B"]
    assert alone.example == "B"
    for view in (view_of("Rain.", "I love coding in python"), PADDED):
        masks = assert_whole(view, service)
        assert [row.label for row in masks.batch.rows] == ["A", "B"]
        assert masks.example == ""


def test_the_numbers_and_the_lit_sentence_are_of_a_padded_one(service: EncoderService) -> None:
    longest = "one two three four five six"
    for masked in (True, False):
        masks = assert_whole(view_of(longest, "x", "y z", mask=masked), service)
        assert (masks.chosen, masks.row.label) == ("A", "B")
        note = "Sentence A has no padding, so the numbers are for sentence B."
        assert notes(masks) == [note]
    chosen = assert_whole(view_of(longest, "x", "y z", sentence="C"), service)
    assert (chosen.row.label, notes(chosen)) == ("C", [])
    alike = assert_whole(view_of(longest, longest, pad_to="Longest"), service)
    assert alike.row.label == "A"


def test_the_mask_heals_the_batch(service: EncoderService) -> None:
    masks = assert_whole(MASK.put(PADDED, True), service)
    for row in masks.batch.rows:
        np.testing.assert_allclose(row.damage.tokens, 1, atol=1e-5)
    assert masks.passport.settings["mask"] == "model"
    assert not masks.batches[False].masked


@pytest.mark.parametrize(("size", "n"), [("Longest", 22), ("16", 16), ("512", 512)])
def test_the_batch_is_padded_as_asked(service: EncoderService, size: str, n: int) -> None:
    masks = assert_whole(PAD_TO.put(DEFAULT, size), service)
    assert masks.batch.pad_to == n


def test_a_second_text_makes_a_pair_and_a_blank_one_none(service: EncoderService) -> None:
    first, second = DEFAULT.sentences
    pairs = (replace(first, pair="A python, I think."), replace(second, pair="  "))
    masks = assert_whole(replace(DEFAULT, sentences=pairs), service)
    row = masks.batch.row(masks.chosen)
    assert row.padded.token_type_ids is not None
    assert row.padded.token_type_ids.sum() == 7
    assert masks.batch.rows[1].alone.pair is None
    assert masks.key.startswith("A: I love my pet python | A python, I think. · B: ")


@pytest.mark.parametrize(
    "controls",
    [
        {"pad_to": "-5"},
        {"pad_to": 32},
        {"pad_to": "²"},
        {"sentence": "Z", "average": "<b>", "mask": "yes", "repeat": -3},
        {"sentence": 3, "average": True, "mask": 7.5, "repeat": "x"},
    ],
    ids=repr,
)
def test_a_broken_control_falls_back(service: EncoderService, controls: dict[str, Value]) -> None:
    masks, usual = batch_of(view_of(**controls), service), batch_of(DEFAULT, service)
    assert masks.key == usual.key
    assert (masks.batch.pad_to, masks.batch.masked) == (22, True)
    assert (masks.row.label, masks.unfit) == ("A", "")


@pytest.mark.parametrize("size", ["5", "99999999999"])
def test_a_length_that_cannot_be_is_said_and_not_done(service: EncoderService, size: str) -> None:
    masks = batch_of(view_of("Rain.", "I love coding in python", pad_to=size), service)
    assert masks.batch.pad_to == 7
    assert notes(masks) == [
        f"Padding to {size} is impossible: the longest sentence has 7 tokens, and the model's "
        "limit is 512. The batch is padded to 7."
    ]


@pytest.fixture(scope="module")
def long_service(
    tmp_path_factory: pytest.TempPathFactory, open_with: Callable[..., EncoderService]
) -> EncoderService:
    """A service with a model that takes 8,192 tokens, "folder:long"."""
    root = tmp_path_factory.mktemp("long")
    build("modernbert", root / "long", max_position_embeddings=8192)
    settings = root / "long" / "tokenizer_config.json"
    written = {**json.loads(settings.read_text(encoding="utf-8")), "model_max_length": 8192}
    settings.write_text(json.dumps(written), encoding="utf-8")
    return open_with(model_folder=root)


@pytest.mark.parametrize("n", [130, 600])
def test_the_limit_that_is_said_is_the_models(n: int, long_service: EncoderService) -> None:
    view = replace(view_of("a", "a" + " a" * (n - 1), pad_to="128"), model="folder:long")
    (note,) = notes(batch_of(view, long_service))
    assert note.startswith(f"Padding to 128 is impossible: the longest sentence has {n + 2} ")
    assert "the model's limit is 8,192." in note


def test_a_batch_that_would_take_gigabytes_is_refused(long_service: EncoderService) -> None:
    view = replace(view_of("a" + " a" * 1499, *["a"] * 7), model="folder:long")
    with pytest.raises(RequestError, match="8 sentences padded to 1,502 tokens each are too many"):
        batch_of(view, long_service)


def test_the_lengths_end_at_the_models(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:bert")
    for text in ("python", "python " * 40):
        masks = assert_whole(replace(view_of(text), model=card.id), tiny_service)
        assert masks.padding.default == "Longest"
        assert list(masks.padding.options)[-1] == str(card.max_length)


@pytest.mark.parametrize("texts", [("",), ("", " \n ")])
def test_nothing_but_empty_sentences_is_no_batch(
    service: EncoderService, texts: tuple[str, ...]
) -> None:
    masks = batch_of(view_of(*texts), service)
    assert (dict(masks.batches), masks.chosen) == ({}, "")
    assert masks.left_out == ("A", "B")[: len(texts)]
    with pytest.raises(ValueError, match="no batch"):
        _ = masks.batch


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_is_left_out(service: EncoderService, text: str) -> None:
    masks = assert_whole(view_of(text, "I love coding in python"), service)
    assert masks.left_out == (() if text.strip() else ("A",))
    texts = [row.alone.text for row in masks.batch.rows]
    assert text.strip() == "" or texts[0] == text


# What is not possible


def assert_problems(masks: Masks, blank: tuple[str, ...], asked: str) -> list[Claim]:
    claims = replace(masks, left_out=blank, unfit=asked).problems()
    keys = [claim.key.rpartition(".")[2] for claim in claims]
    other = described(masks).label != masks.chosen
    cut = [row.alone.n_truncated for row in masks.batch.rows if row.alone.n_truncated]
    expected = ["blank"] * bool(blank) + ["other"] * other + ["unfit"] * bool(asked)
    assert keys == expected + ["cut"] * len(cut)
    assert [claim.numbers["n"] for claim in claims if claim.key.endswith("cut")] == cut
    if asked:
        numbers = claims[bool(blank) + other].numbers
        assert (numbers["longest"], numbers["pad_to"]) == (
            max(masks.batch.lengths), masks.batch.pad_to
        )  # fmt: skip
    return claims


def test_every_problem_is_said_and_no_sentence_is_dead() -> None:
    keys, chance = set(), random.Random(1)
    for masks in odd_batches():
        assert described(masks).label == masks.row.label
        blank = tuple("XYZ"[: chance.randrange(4)])
        keys |= read(assert_problems(masks, blank, chance.choice(("5", ""))))
        if blank:
            (claim,) = replace(masks, batches={}, left_out=blank).problems()
            assert (claim.key, claim.numbers["n"]) == ("masks.problem.blank", len(blank))
    assert not unreached("masks.problem", keys)


# Files


def test_the_summary_has_the_numbers_of_its_layer(service: EncoderService) -> None:
    row = batch_of(PADDED, service).batch.rows[1]
    assert summary_row(row, 3) == {
        "sentence": "B",
        "tokens": 7,
        "padding": 25,
        "[CLS]": row.damage.tokens[3, 0],
        "mean of real tokens": row.damage.mean[3],
        "mean with padding": row.damage.mean_all[3],
        "most changed token": row.damage.tokens[3].min(),
        "pooler_output": row.damage.pooled,
    }


@pytest.mark.parametrize("model", [BUNDLED_ID, "folder:distilbert"])
def test_a_model_without_segments_and_pooler_has_its_batch(
    tiny_service: EncoderService, model: str
) -> None:
    masks = assert_whole(replace(PADDED, model=model), tiny_service)
    bare, arrays = model != BUNDLED_ID, batch_arrays(masks.batch)
    assert (masks.row.damage.pooled is None) == bare
    assert np.isnan(arrays["pooler_output_cosines"]).all() == bare
    assert ("token_type_ids" in arrays) != bare
    assert {row["segment"] for row in position_rows(masks.row)} == {None if bare else 0}


def test_the_downloads_hold_the_numbers_and_the_passport(service: EncoderService) -> None:
    masks = batch_of(PADDED, service)
    rows = [r for each in masks.batch.rows for r in position_rows(each)]
    found = pd.read_csv(io.BytesIO(export.to_csv(rows, masks.passport)), comment="#")
    assert len(found) == 64
    assert found["mask"].sum() == 64  # the mask is off
    assert found["layer 6"].notna().sum() == 14
    assert found["layer 6"][6] == pytest.approx(masks.row.damage.tokens[6, 6])
    with np.load(io.BytesIO(export.to_npz(batch_arrays(masks.batch), masks.passport))) as data:
        passport: dict[str, Any] = json.loads(str(data["passport"]))
        assert data["token_cosines"].shape == (2, 7, 32)
        assert np.isnan(data["token_cosines"]).sum() == 2 * 7 * 25
        np.testing.assert_array_equal(data["attention_mask"].sum(axis=1), [32, 32])
        for name in ("mean_cosines", "mean_with_padding_cosines"):
            assert data[name].shape == (2, 7)
    expected = {"mask": "ones", "pad_to": 32, "compared_with": "the text alone"}
    assert expected.items() <= passport["settings"].items()
    assert passport["model"] == BUNDLED_ID


# The script

Texts = Sequence[tuple[str, str, str | None]]
SCRIPT_TEXTS: Texts = (
    ("A", "I love my pet python", None),
    ("B", "Which snake is it?", "A python, I think."),
    ("C", "", None),
)


def assert_same_numbers(
    code: str, service: EncoderService, model: str, texts: Texts, *, pad_to: int, masked: bool
) -> None:
    """The script's results are ours, name by name."""
    results = run(code)["results"]
    assert list(results) == [name for name, _, _ in texts]
    named = {name: Sentence(text, pair) for name, text, pair in texts}
    ours = encode_both(service, model, named, pad_to=pad_to, masked=masked)
    for found, row in zip(results.values(), ours.rows, strict=True):
        expected = {
            "tokens": row.damage.tokens,
            "mean": row.damage.mean,
            "mean with padding": row.damage.mean_all,
            **({} if row.damage.pooled is None else {"pooler_output": row.damage.pooled}),
        }
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(found[name].numpy(), values, rtol=0, atol=2e-5, err_msg=name)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.mark.parametrize(("pad_to", "masked"), [(14, True), (64, False)])
def test_the_script_gives_the_pages_cosines(
    service: EncoderService, card: ModelCard, pad_to: int, masked: bool
) -> None:
    how = {"pad_to": pad_to, "masked": masked}
    code = masks_snippet(card, SCRIPT_TEXTS, **how)
    assert_same_numbers(code, service, BUNDLED_ID, SCRIPT_TEXTS, **how)
    assert "contextlens" not in code
    assert max(map(len, code.splitlines())) <= 100


@pytest.mark.slow
def test_awkward_and_long_texts_are_read_back(service: EncoderService, card: ModelCard) -> None:
    texts = [(name, text, None) for name, text in [*AWKWARD.items(), ("long", "word " * 600)]]
    code = masks_snippet(card, texts, pad_to=512, masked=False)
    assert_same_numbers(code, service, BUNDLED_ID, texts, pad_to=512, masked=False)
    assert all(character.isprintable() or character == "\n" for character in code)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_has_a_script_that_gives_our_numbers(
    tiny_service: EncoderService, tiny_root: Path, name: str
) -> None:
    card = tiny_service.load(f"folder:{name}")
    how = {"pad_to": MAX_LENGTH, "masked": False}
    code = masks_snippet(card, SCRIPT_TEXTS, **how).replace(
        f"path/to/{name}", str(tiny_root / name)
    )
    assert_same_numbers(code, tiny_service, card.id, SCRIPT_TEXTS, **how)
