"""The states of a sentence: measures against torch, and what a view's controls choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.features.layers.all_tokens import all_tokens
from contextlens.features.layers.controls import (
    MEASURE,
    MEASURES,
    OTHER,
    PAGE,
    SECTION,
    SENTENCE,
    TOKEN,
    WORDS,
    other_in,
)
from contextlens.features.layers.hidden_states import (
    KINDS,
    encode_all,
    layers_snippet,
    measure,
    measure_rows,
    own_tokens,
    pair_cosines,
    sentence_arrays,
    text_notes,
)
from contextlens.features.layers.token_pairs import token_pairs
from contextlens.figures.similarity import cosine_range
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import Chance, Draw, keys_of, states_of, view_of
from tests.support.claims import unreached
from tests.support.snippets import run
from tests.support.tiny_models import FAMILIES

TEXT, PAIR = "A python slept under the lamp", "She is an engineer"
NAMES = {
    "start": "cosine to layer 0",
    "before": "cosine to layer before",
    "first": "cosine to [CLS]",
    "length": "vector length",
}


@pytest.fixture(scope="module")
def encoding(service: EncoderService) -> Encoding:
    return service.encode(BUNDLED_ID, ["I love my pet python"])[0]


# Measures


@pytest.mark.parametrize("kind", ["start", "before"])
def test_chance_is_of_all_pairs_of_different_tokens(service: EncoderService, kind: str) -> None:
    encoding = service.encode(BUNDLED_ID, ["the cat the dog the"])[0]
    found = measure(encoding, kind)
    own = np.flatnonzero(own_tokens(encoding))
    for row, layer in enumerate(found.layers):
        back = encoding.hidden[0 if kind == "start" else layer - 1]
        cosines = cosine_similarity(encoding.hidden[layer], back)
        ids = encoding.token_ids
        pairs = [cosines[i, j] for i, j in permutations(own, 2) if ids[i] != ids[j]]
        assert len(pairs) == 14, "of five tokens, three are the same"
        band = found.chance.low[row], found.chance.mean[row], found.chance.high[row]
        ends = np.quantile(pairs, [0.05, 0.95])
        assert band == pytest.approx((ends[0], np.mean(pairs), ends[1]), abs=1e-5)


def test_averages_leave_added_tokens_out_unless_there_is_nothing_else(
    service: EncoderService, encoding: Encoding
) -> None:
    found = measure(encoding, "start")
    np.testing.assert_allclose(found.averages, found.values[:, 1:-1].mean(axis=1), rtol=1e-6)
    blank = service.encode(BUNDLED_ID, [""])[0]
    empty = measure(blank, "start")
    np.testing.assert_allclose(empty.averages, empty.values.mean(axis=1), rtol=1e-6)
    assert empty.chance is None
    assert (empty.counted.tolist(), measure(blank, "first").counted.tolist()) == ([0, 1], [1])
    for text in ("hello", "hello hello Hello"):
        assert measure(service.encode(BUNDLED_ID, [text])[0], "start").chance is None


def test_a_vector_of_zeros_has_cosine_zero(encoding: Encoding) -> None:
    hidden = encoding.hidden.copy()
    hidden[2, 3] = 0
    holed = replace(encoding, hidden=hidden)
    assert measure(holed, "start").values[2, 3] == 0
    assert measure(holed, "first").values[2, 3] == 0
    assert not np.isnan(pair_cosines(hidden)).any()


# What a view chooses


@pytest.mark.parametrize("name", MEASURE.options)
def test_picture_and_table_are_the_chosen_measure(service: EncoderService, name: str) -> None:
    states = states_of(MEASURE.put(DEFAULT, name), service)
    assert states.measure_name == NAMES[states.measure.kind]
    encoding = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    own = measure(encoding, MEASURES[name])
    np.testing.assert_array_equal(states.measure.values, own.values)
    table = states.table()
    np.testing.assert_array_equal(table.iloc[:, 2:].to_numpy(float).T, own.values)
    assert table["token"].tolist() == list(encoding.tokens)
    assert all_tokens(states, picked=None).claims()[0].key.endswith(own.kind)


def test_cosines_keep_one_scale_whatever_is_looked_at(service: EncoderService) -> None:
    chosen = [
        states_of(MEASURE.put(replace(DEFAULT, layer=layer), name), service)
        for name in MEASURE.options
        for layer in (0, 3, 6)
    ]
    cosines = [states for states in chosen if states.measure.kind != "length"]
    assert len({states.scale for states in cosines} | {s.cosine_scale for s in chosen}) == 1
    (low, high) = cosines[0].scale
    assert (low, high) == cosine_range(pair_cosines(cosines[0].encoding.hidden))
    assert all(low <= token_pairs(states).cosines.min() for states in cosines)
    assert high == 1
    lengths = {states.scale for states in chosen if states.measure.kind == "length"}
    assert lengths == {(0.0, float(chosen[-1].measure.values.max()))}


def test_the_chosen_sentence_s_word_is_followed_until_another_token_is_picked(
    service: EncoderService,
) -> None:
    assert states_of(DEFAULT, service).picked == 5
    assert states_of(TOKEN.put(DEFAULT, 2), service).picked == 2
    assert states_of(view_of("two words?!"), service).picked == 2
    assert states_of(view_of("the Kontinental"), service).picked == 2  # ko ##ntine ##ntal
    assert states_of(view_of("?!"), service).picked == 1
    assert states_of(view_of("one " * 600), service).picked == 510
    assert states_of(view_of(""), service).picked == 0
    states = states_of(SENTENCE.put(DEFAULT, "B"), service)
    assert (states.index, states.encoding.text) == (1, DEFAULT.sentences[1].text)


@pytest.mark.parametrize(
    "controls",
    [
        {"measure": "nothing", "section": "nowhere", "sentence": "Z", "token": 99999},
        {"measure": 5, "section": True, "sentence": "AB", "token": -7},
        {"words": "x", "other": "no/such-model", "section": "Layers compared"},
        {"token": 1.5, "sentence": ""},
    ],
)
def test_broken_controls_from_an_address_mean_the_defaults(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={PAGE: controls}, layer=77)
    states = states_of(view, service)
    assert (states.index, states.measure.kind, states.layer, states.picked) == (0, "start", 6, 5)
    assert SECTION.of(view) in SECTION.options
    assert WORDS.of(view) == WORDS.default
    assert other_in(service.models(), BUNDLED_ID).of(view) == OTHER.default


# Notes


def check_notes(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n_own = chance.choice((1, 2, 9))
    n_unknown, n_lost = chance.randrange(n_own + 1), chance.choice((0, 1, 90))
    pair, segments = chance.random() < 0.5, chance.random() < 0.5
    notes = text_notes(n_own=n_own, n_unknown=n_unknown, n_lost=n_lost, has_pair=pair,
                       has_segments=segments)  # fmt: skip
    expected = ["unknown.all" if n_unknown == n_own else "unknown.some"] if n_unknown else []
    expected += [f"lost.{'pair' if pair else 'text'}"] if n_lost else []
    expected += [f"pair.{'segments' if segments else 'separators'}"] if pair else []
    assert [each.key for each in notes] == [f"layers.notes.{name}" for name in expected]
    numbers = {each.key.split(".")[2]: each.numbers.get("n") for each in notes}
    assert numbers.get("unknown", 0) == n_unknown
    assert numbers.get("lost", 0) == n_lost
    yield from notes


def test_every_note_is_what_the_text_has_and_none_is_dead() -> None:
    assert not unreached("layers.notes", keys_of(check_notes, 200))


def test_a_piece_of_a_word_is_called_so(service: EncoderService) -> None:
    (note,) = states_of(view_of("the Kontinental", token=3), service).notes()
    assert note.key == "layers.one.piece"
    assert note.numbers == {"n": 3, "token": "“\\#\\#ntine”", "word": "“Kontinental”"}
    assert states_of(DEFAULT, service).notes() == []


# Files, and a script


def test_files_hold_every_layer_of_every_sentence(service: EncoderService) -> None:
    encodings = encode_all(DEFAULT, service)
    found = sentence_arrays(encodings)
    for letter, encoding in zip("AB", encodings, strict=True):
        np.testing.assert_array_equal(found[f"hidden_{letter}"], encoding.hidden)
        np.testing.assert_array_equal(found[f"pooler_output_{letter}"], encoding.pooler_output)
        assert found[f"tokens_{letter}"].tolist() == list(encoding.tokens)
        assert found[f"text_{letter}"].tolist() == [encoding.text]
    pair = sentence_arrays(encode_all(view_of("one", pair="two"), service))
    assert pair["text_A"].tolist() == ["one", "two"]


def test_rows_hold_every_token_of_every_sentence_at_every_layer(service: EncoderService) -> None:
    encodings = encode_all(DEFAULT, service)
    rows = measure_rows(encodings, service.vocabulary(BUNDLED_ID))
    assert len(rows) == 7 * sum(e.n_tokens for e in encodings)
    assert {row["sentence"] for row in rows} == {"A", "B"}
    encoding = encodings[0]
    row = next(r for r in rows if r["token"] == "python" and r["layer"] == 3)
    assert row["sentence"] == "A"
    assert row["cosine to layer 0"] == pytest.approx(measure(encoding, "start").values[3, 5])
    assert row["cosine to layer before"] == pytest.approx(measure(encoding, "before").values[2, 5])
    assert row["vector length"] == pytest.approx(np.linalg.norm(encoding.hidden[3, 5]))
    assert rows[0]["cosine to layer before"] is None


RUDE = 'She said "python"\n{x} <b> 🐍 [MASK]'
# What a family changes shows in a pair, what a text changes shows in one model.
CASES = [
    *((BUNDLED_ID, text, None) for text in (TEXT, RUDE, "word " * 600)),
    *(
        (model, "She is an engineer", "One word, {many} means")
        for model in (BUNDLED_ID, *(f"folder:{family}" for family in FAMILIES))
    ),
]


@pytest.mark.parametrize(("model", "text", "pair"), CASES)
def test_the_script_gives_the_measures(
    tiny_service: EncoderService, tiny_root: Path, model: str, text: str, pair: str | None
) -> None:
    code = layers_snippet(tiny_service.load(model), text, pair)
    assert "contextlens" not in code
    found = run(code.replace("path/to/", f"{tiny_root}/"))
    encoding = tiny_service.encode(model, [text], pairs=[pair])[0]
    for kind in KINDS:
        expected = measure(encoding, kind)
        assert expected.layers == tuple(range(kind == "before", len(encoding.layers)))
        np.testing.assert_allclose(found[kind].numpy(), expected.values, rtol=1e-4, atol=2e-5)
        averages = found["averages"][kind].numpy()
        np.testing.assert_allclose(averages, expected.averages, rtol=1e-4, atol=2e-5)
        if expected.chance is not None:
            chance = found["chance"][kind].numpy()
            np.testing.assert_allclose(chance, expected.chance.mean, atol=2e-5)
    pairs = pair_cosines(encoding.hidden)
    np.testing.assert_allclose(found["pairs"].numpy(), pairs, atol=2e-5)
