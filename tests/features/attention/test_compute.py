"""From a view to what Attention shows: the model's own weights, for any text and any address."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.tokens import labels as token_labels
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.attention import compute
from contextlens.features.attention.compute import (
    AttentionView,
    attention_view,
    habit_texts,
    habits_caption,
    head_titles,
    sort_titles,
)
from contextlens.features.attention.measures import Arrangement, arrange, rollout
from contextlens.features.attention.reading import attention_notes, attention_reading
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.attention.shown import LONG, PAIR, seen
from tests.support.tiny_models import FAMILIES


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
    table = compute.weights_table(attention).iloc[:, 1:].to_numpy(float)
    rows = np.reshape([row["weight"] for row in compute.weight_rows(attention)], expected.shape)
    for weights in (attention.grid.weights, table, rows):
        np.testing.assert_allclose(weights, expected, atol=1e-5)


# Which weights


def test_it_opens_on_the_head_that_looks_most_at_the_token_before(
    service: EncoderService, opening: np.ndarray
) -> None:
    before = [[np.diagonal(head, -1).mean() for head in layer] for layer in opening]
    layer, head = np.unravel_index(np.argmax(before), (6, 12))
    attention = seen(service)
    assert (attention.selection.layer, attention.selection.head) == (layer + 1, head)
    assert_shows(attention, opening[layer, head])
    assert_shows(seen(service, head="3.7"), opening[2, 7])


@pytest.mark.parametrize(("layer", "last"), [(1, 1), (4, 4), (None, 6), (0, 6), (99, 6)])
def test_means_and_rollout(
    service: EncoderService, opening: np.ndarray, layer: int | None, last: int
) -> None:
    means = opening.mean(axis=1)
    assert_shows(seen(service, show="Layer", layer=layer), means[last - 1])
    assert_shows(seen(service, show="All", layer=layer), means.mean(axis=0))
    assert_shows(seen(service, show="Rollout", layer=layer), rollout(means[:last]))


@pytest.mark.slow
def test_padding_is_shown_and_gets_exactly_nothing(service: EncoderService) -> None:
    attention = seen(service, show="All", pad=10)
    assert labels(attention)[7:] == ["[PAD]"] * 3
    assert attention.grid.weights[:7, 7:].max() == 0
    assert [seen(service, pad=pad).pad_to for pad in (5, 7, 8)] == [None, None, 8]
    assert seen(service, pad=10**9).encoding.n_tokens == 512


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
    attention = seen(service, PAIR, show="All", **controls)
    encoding = attention.encoding
    names = token_labels(encoding, service.vocabulary(BUNDLED_ID))
    mean = whole(service, PAIR).mean(axis=(0, 1))
    assert_shows(attention, arrange(mean, encoding, attention.kinds, names, arrangement).weights)
    assert attention.arrangement == arrangement
    assert seen(service, direction="Second to first").arrangement == Arrangement()


@pytest.mark.parametrize("family", [*FAMILIES, "bert-without-pooler"])
def test_every_family_works(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    attention = seen(tiny_service, PAIR, model=model, show="All", sort="word")
    assert_shows(attention, whole(tiny_service, PAIR, model).mean(axis=(0, 1)))
    assert len(compute.heads_table(attention)) == 12
    assert not any(label.startswith("Ġ") and label != "Ġ" for label in labels(attention))
    notes = [note.key.rpartition(".")[2] for note in attention_notes(attention)]
    assert ("no_segments" in notes) == (not tiny_service.load(model).has_segments)
    unknown = Sentence("\U0001f984")
    assert seen(tiny_service, unknown, model=model, unit="Words", special="Hide").grid.weights.size


# Which token


def test_the_picked_token_is_the_views_the_chosen_words_or_the_last_words(
    service: EncoderService,
) -> None:
    assert seen(service, side="to", token=4).picked == ("to", 4)
    sentence = DEFAULT.sentences[0]
    assert seen(service).picked == ("from", 5)  # [CLS] i love my pet python [SEP]
    assert seen(service, replace(sentence, word=None)).picked == ("from", 5)
    marked = replace(sentence, text="I love it!", word=None)
    assert seen(service, marked).picked == ("from", 3)
    assert seen(service, special="Hide", token=0).picked == ("from", 4)  # [CLS] is gone
    assert seen(service, token=10**9).picked == ("from", 5)
    assert seen(service, Sentence("")).picked == ("from", 0)


# Any text


@pytest.mark.parametrize(
    "text", ["a", "", "\U0001f984", "<img src=x onerror=alert(1)> **b** $x$", "[CLS] [MASK]"]
)
def test_any_text_works(service: EncoderService, text: str) -> None:
    for how in ({}, {"special": "Hide, rows to 1", "unit": "Words", "show": "Rollout"}):
        attention = seen(service, Sentence(text), **how)
        assert attention.grid.weights.size
        claims = attention_reading(attention.selection, attention.grid, attention.picked)
        sentences = " ".join(map(str, [*claims, *attention_notes(attention)]))
        assert "<img" not in re.sub(r"\\(.)", "", sentences)


@pytest.mark.slow
def test_a_text_of_512_tokens_is_cut_and_a_head_that_was_let_go_is_asked_for(
    service: EncoderService,
) -> None:
    first = seen(service, Sentence(LONG))
    assert first.grid.weights.shape == (512, 512)
    assert first.encoding.n_truncated
    layer, head = next(place for place in first.order if first.heads.whole(*place) is None)
    other = seen(service, Sentence(LONG), head=f"{layer}.{head}")
    weights = whole(service, Sentence(LONG))[layer - 1, head]
    np.testing.assert_allclose(other.weights, weights, atol=1e-5)


def test_any_number_of_sentences_can_be_chosen_from(service: EncoderService) -> None:
    sentences = [Sentence(f"python number {word}") for word in "abcdefgh"]
    assert "h" in labels(seen(service, *sentences, sentence="H"))
    assert "a" in labels(seen(service, *sentences, sentence="Z"))
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
    usual, broken = seen(service), seen(service, **controls)
    assert_shows(broken, usual.grid.weights)
    assert (broken.picked, broken.order) == (usual.picked, usual.order)
    assert broken.passport == usual.passport


# Tables and files


def test_the_table_of_heads_is_sorted_and_true(
    service: EncoderService, opening: np.ndarray
) -> None:
    table = compute.heads_table(seen(service, sort="first"))
    assert len(table) == 72
    assert table["[CLS]"].is_monotonic_decreasing
    for _, row in table.iloc[::9].iterrows():
        head = opening[int(row["layer"]) - 1, int(row["head"])]
        assert row["[CLS]"] == pytest.approx(head[:, 0].mean(), abs=1e-5)
        assert row["next token"] == pytest.approx(np.diagonal(head, 1).mean(), abs=1e-5)
    spreads = [compute.heads_table(seen(service, sort=by)) for by in ("entropy", "focus")]
    assert spreads[0]["entropy (bits)"].is_monotonic_decreasing
    assert spreads[1]["entropy (bits)"].is_monotonic_increasing


def test_columns_have_names_of_their_own_where_special_tokens_share_one(
    service: EncoderService,
) -> None:
    attention = seen(service)
    same = replace(attention.selection, names={"first": "<s>", "separators": "<s>"})
    columns = list(compute.heads_table(replace(attention, selection=same)).columns)
    assert columns[4:6] == ["<s>", "<s> (others)"]


@pytest.mark.parametrize("side", ["from", "to"])
def test_the_picked_tokens_table_has_its_row_or_column(service: EncoderService, side: str) -> None:
    attention = seen(service, PAIR, side=side, token=3, show="All")
    weights = attention.grid.weights
    table = compute.picked_table(attention)
    expected = weights[3] if side == "from" else weights[:, 3]
    np.testing.assert_array_equal(table.iloc[:, 2], expected)
    assert list(table.columns[:2]) == ["position", "token"]
    assert table.columns[2] == f"{side} {labels(attention)[3]}"
    assert list(table["token"]) == labels(attention)


def test_the_arrays_hold_what_is_shown_and_what_is_behind_it(service: EncoderService) -> None:
    attention = seen(service, PAIR, show="Rollout", unit="Words")
    arrays = compute.arrays(attention)
    np.testing.assert_array_equal(arrays["weights"], attention.grid.weights)
    np.testing.assert_array_equal(arrays["attention"], attention.weights)
    assert arrays["habits"].shape == (6, 12, 6)
    settings = attention.passport.settings
    assert (settings["show"], settings["unit"]) == ("rollout", "words")


def test_the_passport_names_what_is_shown(service: EncoderService) -> None:
    head = seen(service, head="3.7", special="Hide").passport.settings
    assert (head["show"], head["layer"], head["head"]) == ("head", 3, 7)
    assert head["special_tokens"] == "hide"
    mean = seen(service, show="All").passport.settings
    settings = {"show": "all", "unit": "tokens", "direction": "all"}
    assert mean.items() >= settings.items()
    assert not {"layer", "head"} & set(mean)


# Names


def test_heads_are_said_with_the_habit_that_they_are_sorted_by(service: EncoderService) -> None:
    attention, narrow = seen(service), seen(service, sort="focus")
    values = attention.heads.habits
    titles = head_titles(attention)
    assert len(titles) == 72
    assert next(iter(titles.items())) == ("1.2", "Layer 1, head 2 · over 99%")
    assert habit_texts(attention)[2][7] == f"previous token {values[2, 7, 0]:.4f}"
    assert head_titles(narrow)["3.7"].endswith(f"{values[2, 7, -1]:.2f} bits")
    assert habit_texts(narrow)[2][7] == f"entropy {values[2, 7, -1]:.4f} bits"


def test_orders_are_named_by_the_models_own_special_tokens(tiny_service: EncoderService) -> None:
    tokens = {"bert": ("[CLS]", "[SEP]"), "roberta": ("<s>", "</s>")}
    for family, (first, others) in tokens.items():
        titles = sort_titles(seen(tiny_service, model=f"folder:{family}"))
        assert titles[:5] == ["previous token", "next token", first, others, "same word"]
        assert titles[5:] == ["least focused", "most focused"]


def test_the_bars_say_what_they_are_about(service: EncoderService) -> None:
    captions = {
        "One head": "Layer 3, head 7: attention to … (can overlap)",
        "Layer": "Layer 4, average of heads: attention to … (can overlap)",
        "All": "Average of all heads: attention to … (can overlap)",
        "Rollout": "Average of heads, layers 1 to 4: attention to … (can overlap)",
    }
    for show, caption in captions.items():
        assert habits_caption(seen(service, show=show, head="3.7", layer=4)) == caption
