"""From a view to what Attention shows: the model's own weights, for any text and any address."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.tokens import labels as token_labels
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.attention.attention import AttentionView, Pick, attention_view
from contextlens.features.attention.controls import SCOPES
from contextlens.features.attention.grid import Arrangement, arrange
from contextlens.features.attention.rollout import rollout
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.attention.examples import LONG, PAIR, SECOND_TEXT, TEXT, attention_on
from tests.support.snippets import run
from tests.support.tiny_models import FAMILIES

LONG_WORDS = Sentence(TEXT, SECOND_TEXT)


def whole(service: EncoderService, sentence: Sentence, model: str = BUNDLED_ID) -> np.ndarray:
    pairs = None if sentence.pair is None else [sentence.pair]
    (encoding,) = service.encode(model, [sentence.text], pairs=pairs, attentions=True)
    return encoding.attentions


@pytest.fixture
def opening(service: EncoderService) -> np.ndarray:
    """All weights of the opening sentence."""
    return whole(service, DEFAULT.sentences[0])


def labels(attention: AttentionView) -> list[str]:
    return [item.label for item in attention.grid.rows]


def assert_shows(attention: AttentionView, expected: np.ndarray) -> None:
    """The grid, its table and its rows have these weights."""
    table = attention.grid.table().iloc[:, 1:].to_numpy(float)
    rows = np.reshape([row["weight"] for row in attention.rows()], expected.shape)
    for weights in (attention.grid.weights, table, rows):
        np.testing.assert_allclose(weights, expected, atol=1e-5)


# Which weights


def test_it_opens_on_the_head_that_joins_two_words_most(
    service: EncoderService, opening: np.ndarray
) -> None:
    # [CLS] i love my pet python [SEP]: two words that are no neighbours, "python" one of them
    joins = opening.copy()
    for i, j in np.ndindex(7, 7):
        if 5 not in (i, j) or min(i, j) == 0 or max(i, j) == 6 or abs(i - j) < 2:
            joins[..., i, j] = -1
    layer, head, row, column = np.unravel_index(joins.argmax(), joins.shape)
    attention = attention_on(service)
    assert (attention.selection.layer, attention.selection.head) == (layer + 1, head)
    assert attention.pick == Pick("from", row, column)
    assert_shows(attention, opening[layer, head])
    assert_shows(attention_on(service, head="3.7"), opening[2, 7])
    assert_shows(attention_on(service, sort="previous"), opening[0, 2])


def test_two_chosen_words_choose_the_head_that_joins_them_most(
    service: EncoderService, opening: np.ndarray
) -> None:
    for how in ({}, {"special": "Hide, rows to 1"}):
        attention = attention_on(service, side="to", token=2, other=4, **how)
        joins = opening[..., 4, 2].astype(float)
        if how:
            joins = joins / opening[..., 4, 1:6].sum(axis=-1)
        np.testing.assert_allclose(attention.navigator.joins, joins, atol=1e-6)
        layer, head = np.unravel_index(joins.argmax(), joins.shape)
        assert (attention.selection.layer, attention.selection.head) == (layer + 1, head)
        assert attention.share == pytest.approx(joins.max(), abs=1e-6)
    other = attention_on(service, side="to", token=2, other=4, head="3.7")
    assert (other.selection.layer, other.selection.head) == (3, 7)


@pytest.mark.parametrize(("layer", "last"), [(1, 1), (4, 4), (None, 6), (0, 6), (99, 6)])
def test_means_and_rollout(
    service: EncoderService, opening: np.ndarray, layer: int | None, last: int
) -> None:
    means = opening.mean(axis=1)
    assert_shows(attention_on(service, show="Layer", layer=layer), means[last - 1])
    assert_shows(attention_on(service, show="All", layer=layer), means.mean(axis=0))
    assert_shows(attention_on(service, show="Rollout", layer=layer), rollout(means[:last]))


def test_padding_is_shown_and_gets_exactly_nothing(service: EncoderService) -> None:
    attention = attention_on(service, show="All", pad=10)
    assert labels(attention)[7:] == ["[PAD]"] * 3
    assert attention.grid.weights[:7, 7:].max() == 0
    assert [attention_on(service, pad=pad).pad_to for pad in (5, 7, 8)] == [None, None, 8]
    assert attention_on(service, pad=10**9).encoding.n_tokens == 512


@pytest.mark.parametrize(
    ("controls", "arrangement"),
    [
        ({"special": "Hide"}, Arrangement("hide")),
        ({"special": "Hide, rows to 1"}, Arrangement("renormalise")),
        ({"unit": "Words"}, Arrangement(words=True)),
        ({"direction": "First to second"}, Arrangement(direction="forth")),
        ({"direction": "Second to first"}, Arrangement(direction="back")),
    ],
)
def test_the_controls_arrange_a_pair(
    service: EncoderService, controls: dict[str, str], arrangement: Arrangement
) -> None:
    attention = attention_on(service, PAIR, show="All", **controls)
    encoding = attention.encoding
    names = token_labels(encoding, service.vocabulary(BUNDLED_ID))
    mean = whole(service, PAIR).mean(axis=(0, 1))
    assert_shows(attention, arrange(mean, encoding, attention.kinds, names, arrangement).weights)
    assert attention.arrangement == arrangement
    assert attention_on(service, direction="Second to first").arrangement == Arrangement()


@pytest.mark.parametrize("family", [*FAMILIES, "bert-without-pooler"])
def test_every_family_works(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    attention = attention_on(tiny_service, PAIR, model=model, show="All", sort="word")
    assert_shows(attention, whole(tiny_service, PAIR, model).mean(axis=(0, 1)))
    assert len(attention.navigator.table()) == 12
    assert not any(label.startswith("Ġ") and label != "Ġ" for label in labels(attention))
    notes = [note.key.rpartition(".")[2] for note in attention.notes()]
    assert ("no_segments" in notes) == (not tiny_service.load(model).has_segments)
    unknown = Sentence("\U0001f984")
    assert attention_on(
        tiny_service, unknown, model=model, unit="Words", special="Hide"
    ).grid.weights.size


@pytest.mark.parametrize(
    ("model", "window", "local"),
    [
        ("folder:modernbert", 4, (2, 3)),
        ("folder:gemma3_text", 8, (2, 3)),
        ("folder:embedding_gemma2_text", 8, (2,)),
    ],
)
def test_a_local_layer_is_called_local_and_has_no_weight_far_away(
    model: str, window: int, local: tuple[int, ...], tiny_service: EncoderService
) -> None:
    card = tiny_service.load(model)
    assert (card.local_layers, card.window) == (local, window)
    for layer in (1, 2, 3):
        own = {"show": "Layer", "layer": layer}
        attention = attention_on(tiny_service, LONG_WORDS, model=model, **own)
        places = np.arange(attention.encoding.n_tokens)
        far = np.abs(places[:, None] - places) > window
        assert far.any()
        assert (attention.weights[far] == 0).all() == (layer in local)
        assert (attention.weights[~far] > 0).all()
        told = [note for note in attention.notes() if "local" in note.key]
        keys = ["attention.note.local.shown"] if layer in local else []
        assert [note.key for note in told] == keys
        assert all(note.numbers == {"layer": layer, "window": window} for note in told)
    for show, layer, numbers in (
        ("All", 3, {"n": len(local), "n_layers": 3, "window": window}),
        ("Rollout", 2, {"n": 1, "n_layers": 2, "window": window}),
    ):
        own = {"show": show, "layer": layer}
        notes = attention_on(tiny_service, LONG_WORDS, model=model, **own).notes()
        assert (notes[0].key, notes[0].numbers) == ("attention.note.local.within", numbers)


# Which token


def picked(attention: AttentionView) -> tuple[str, str]:
    grid, pick = attention.grid, attention.pick
    return grid.rows[pick.row].label, grid.columns[pick.column].label


def test_an_address_with_one_token_has_its_strongest_partner(service: EncoderService) -> None:
    attention = attention_on(service, side="to", token=4)
    assert attention.pick.side == "to"
    assert picked(attention)[1] == "pet"
    assert picked(attention)[0] not in ("pet", "[CLS]")
    assert picked(attention_on(service, token=3, other=4)) == ("my", "pet")
    usual = attention_on(service).pick
    assert attention_on(service, token=10**9).pick == usual
    assert attention_on(service, special="Hide", token=0).grid.rows[0].label == "i"  # no [CLS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He came", ("he", "came")),  # neighbours, if there is nothing else
        ("snake", ("snake", "[CLS]", "[SEP]")),
        ("no no no", ("no", "no")),
        ("", ("[CLS]", "[SEP]")),
    ],
)
def test_a_short_text_joins_what_it_has(
    service: EncoderService, text: str, expected: tuple[str, str]
) -> None:
    attention = attention_on(service, Sentence(text))
    assert set(picked(attention)) <= set(expected)
    assert attention.pick.row != attention.pick.column


def test_a_chosen_word_is_one_of_the_two(service: EncoderService) -> None:
    text = "The nurse told the doctor that she was tired"
    for span in ((4, 9), (19, 25), (31, 34)):
        found = picked(attention_on(service, Sentence(text, word=span)))
        assert text[slice(*span)] in found
        assert not {"the", "that", "was", "[CLS]", "[SEP]"} & set(found)


# Any text


@pytest.mark.parametrize(
    "text", ["a", "", "\U0001f984", "<img src=x onerror=alert(1)> **b** $x$", "[CLS] [MASK]"]
)
def test_any_text_works(service: EncoderService, text: str) -> None:
    for how in ({}, {"special": "Hide, rows to 1", "unit": "Words", "show": "Rollout"}):
        attention = attention_on(service, Sentence(text), **how)
        assert attention.grid.weights.size
        claims = [attention.headline(), *attention.claims(), *attention.notes()]
        sentences = " ".join(map(str, claims))
        assert "<img" not in re.sub(r"\\(.)", "", sentences)


def test_a_text_of_512_tokens_is_cut_and_a_head_that_was_let_go_is_asked_for(
    service: EncoderService,
) -> None:
    first = attention_on(service, Sentence(LONG))
    assert first.grid.weights.shape == (512, 512)
    assert first.encoding.n_truncated
    layer, head = next(p for p in first.navigator.order if first.navigator.heads.whole(*p) is None)
    other = attention_on(service, Sentence(LONG), head=f"{layer}.{head}")
    weights = whole(service, Sentence(LONG))[layer - 1, head]
    np.testing.assert_allclose(other.weights, weights, atol=1e-5)
    assert other.share == pytest.approx(other.navigator.joins[layer - 1, head], abs=1e-5)


def test_any_number_of_sentences_can_be_chosen_from(service: EncoderService) -> None:
    sentences = [Sentence(f"python number {word}") for word in "abcdefgh"]
    assert "h" in labels(attention_on(service, *sentences, sentence="H"))
    assert "a" in labels(attention_on(service, *sentences, sentence="Z"))
    nothing = attention_view(ViewState(BUNDLED_ID, ()), service, service.load(BUNDLED_ID))
    assert labels(nothing) == ["[CLS]", "[SEP]"]


BROKEN: list[dict[str, Any]] = [
    {"show": "Nonsense", "head": "99.99", "sort": "nothing", "token": 10**9},
    {"show": 3, "head": 1.5, "sort": True, "token": "x", "side": 1},
    {"head": "1.2.3", "token": -7, "side": "over", "sentence": "ÿ"},
    {"pad": -5, "special": "?", "unit": "?", "direction": "?", "sentence": "AB", "head": ""},
]


@pytest.mark.parametrize("controls", BROKEN, ids=range(len(BROKEN)))
def test_broken_controls_fall_back_to_what_there_is(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    usual, broken = attention_on(service), attention_on(service, **controls)
    assert_shows(broken, usual.grid.weights)
    assert (broken.pick, broken.navigator.order) == (usual.pick, usual.navigator.order)
    assert broken.passport == usual.passport


# Files


def test_the_arrays_hold_what_is_shown_and_what_is_behind_it(service: EncoderService) -> None:
    attention = attention_on(service, PAIR, show="Rollout", unit="Words")
    arrays = attention.arrays()
    np.testing.assert_array_equal(arrays["weights"], attention.grid.weights)
    np.testing.assert_array_equal(arrays["attention"], attention.weights)
    assert arrays["habits"].shape == (6, 12, 6)
    settings = attention.passport.settings
    assert (settings["show"], settings["unit"]) == ("rollout", "words")


def test_the_passport_names_what_is_shown(service: EncoderService) -> None:
    head = attention_on(service, head="3.7", special="Hide").passport.settings
    assert (head["show"], head["layer"], head["head"]) == ("head", 3, 8)
    assert head["special_tokens"] == "hide"
    mean = attention_on(service, show="All").passport.settings
    settings = {"show": "all", "unit": "tokens", "direction": "all"}
    assert mean.items() >= settings.items()
    assert not {"layer", "head"} & set(mean)


# The script


def assert_script_agrees(attention: AttentionView, folder: Path | None = None) -> None:
    """The script gives the weights that are shown, and the numbers that stand beside them."""
    code = attention.snippet()
    if folder is not None:
        code = code.replace(f"path/to/{folder.name}", str(folder))
    found, heads = run(code), attention.navigator.heads
    np.testing.assert_allclose(found["attention"].numpy(), attention.grid.weights, atol=2e-5)
    selected = attention.navigator.selected
    habits = np.mean([heads.habits[layer - 1, head] for layer, head in selected], axis=0)
    names = [*attention.selection.habit_names, "entropy in bits"]
    assert list(found["measured"]) == list(found["even"]) == names
    np.testing.assert_allclose([found["measured"][name] for name in names], habits, atol=1e-4)
    np.testing.assert_allclose([found["even"][name] for name in names], heads.even, atol=1e-4)
    real = [i for i, row in enumerate(attention.grid.rows) if row.kind != "padding"]
    received = attention.grid.weights[real].mean(axis=0)
    np.testing.assert_allclose(found["received"].numpy(), received, atol=2e-5)


@pytest.mark.parametrize(("family", "show"), [*zip(FAMILIES, cycle(SCOPES), strict=False)])
def test_the_snippet_gives_every_familys_weights(
    tiny_service: EncoderService, tiny_root: Path, family: str, show: str
) -> None:
    own = {"show": show, "special": "Hide, rows to 1", "unit": "Words", "head": "2.1"}
    attention = attention_on(tiny_service, LONG_WORDS, model=f"folder:{family}", layer=2, **own)
    assert_script_agrees(attention, tiny_root / family)


@pytest.mark.parametrize(
    ("show", "special", "unit", "direction"),
    [
        ("One head", "Show", "Tokens", "All"),
        ("One head", "Show", "Words", "First to second"),
        ("Layer", "Hide", "Tokens", "Second to first"),
        ("All", "Hide, rows to 1", "Tokens", "First to second"),
        ("Rollout", "Hide", "Words", "All"),
    ],
)
def test_the_snippet_arranges_as_the_page_does(
    service: EncoderService, show: str, special: str, unit: str, direction: str
) -> None:
    own = {"show": show, "special": special, "unit": unit, "direction": direction, "pad": 30}
    attention = attention_on(service, LONG_WORDS, sort="next", layer=4, **own)
    assert attention.pad_to == 30
    assert_script_agrees(attention)


@pytest.mark.slow
def test_the_snippet_reads_any_text(service: EncoderService) -> None:
    for text in ("", 'a "quoted"\n\\text \U0001f984', "word " * 600):
        assert_script_agrees(attention_on(service, Sentence(text), show="Rollout"))
