"""From a view to what Attention shows: the model's own weights, for any text and any address."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.attention import compute
from components.features.attention.compute import AttentionView, attention_view
from components.features.attention.reading import attention_notes, attention_reading
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets.export import to_csv, to_npz
from tests.features.attention.shown import LONG, PAIR, seen, view_on
from tests.support.tiny_models import FAMILIES


def whole(service: EncoderService, sentence: Sentence, model: str = BUNDLED_ID) -> np.ndarray:
    pairs = None if sentence.pair is None else [sentence.pair]
    (encoding,) = service.encode(model, [sentence.text], pairs=pairs, attentions=True)
    return encoding.attentions


def opening(service: EncoderService) -> np.ndarray:
    return whole(service, DEFAULT.sentences[0])


def labels(attention: AttentionView) -> list[str]:
    return [item.label for item in attention.grid.rows]


def assert_shows(attention: AttentionView, expected: np.ndarray) -> None:
    """The grid, its table and its rows have these weights."""
    np.testing.assert_allclose(attention.grid.weights, expected, atol=1e-5)
    table = compute.weights_table(attention).iloc[:, 1:]
    np.testing.assert_allclose(table.to_numpy(float), expected, atol=1e-5)
    rows = [row["weight"] for row in compute.weight_rows(attention)]
    np.testing.assert_allclose(rows, expected.ravel(), atol=1e-5)


# Which weights


def test_it_opens_on_the_head_that_looks_most_at_the_token_before(service: EncoderService) -> None:
    attentions = opening(service)
    before = [[np.diagonal(head, -1).mean() for head in layer] for layer in attentions]
    layer, head = np.unravel_index(np.argmax(before), (6, 12))
    attention = seen(service)
    assert (attention.selection.layer, attention.selection.head) == (layer + 1, head)
    assert_shows(attention, attentions[layer, head])


def test_any_head_can_be_chosen(service: EncoderService) -> None:
    assert_shows(seen(service, head="3.7"), opening(service)[2, 7])


@pytest.mark.parametrize("layer", [1, 4, None])
def test_means_and_rollout(service: EncoderService, layer: int | None) -> None:
    means = opening(service).mean(axis=1)
    last = layer or 6
    assert_shows(seen(service, show="Layer", layer=layer), means[last - 1])
    assert_shows(seen(service, show="All", layer=layer), means.mean(axis=0))
    through = np.eye(means.shape[-1])
    for mean in means[:last]:
        through = (0.5 * mean + 0.5 * np.eye(len(mean))) @ through
    assert_shows(seen(service, show="Rollout", layer=layer), through)


@pytest.mark.parametrize("layer", [0, 99])
def test_a_layer_without_attention_gives_the_last(service: EncoderService, layer: int) -> None:
    means = opening(service).mean(axis=1)
    assert_shows(seen(service, show="Layer", layer=layer), means[-1])


def test_special_tokens_can_be_hidden(service: EncoderService) -> None:
    part = opening(service).mean(axis=(0, 1))[1:-1, 1:-1]
    assert_shows(seen(service, show="All", special="Hide"), part)
    shares = part / part.sum(axis=1, keepdims=True)
    assert_shows(seen(service, show="All", special="Hide, rows to 1"), shares)


def test_words_merge_their_sub_tokens(service: EncoderService) -> None:
    attention = seen(service, Sentence("Pure unbelievability"), unit="Words")
    assert labels(attention) == ["[CLS]", "pure", "unbelievability", "[SEP]"]
    np.testing.assert_allclose(attention.grid.weights.sum(axis=1), 1, atol=1e-5)


@pytest.mark.slow
def test_padding_is_shown_and_gets_exactly_nothing(service: EncoderService) -> None:
    attention = seen(service, show="All", pad=10)
    assert labels(attention)[7:] == ["[PAD]"] * 3
    assert attention.grid.weights[:7, 7:].max() == 0
    assert seen(service, pad=5).pad_to is None
    assert seen(service, pad=10**9).encoding.n_tokens == 512


def test_a_pair_can_be_seen_from_one_text_to_the_other(service: EncoderService) -> None:
    own = whole(service, PAIR).mean(axis=(0, 1))
    (encoding,) = service.encode(BUNDLED_ID, [PAIR.text], pairs=[PAIR.pair])
    first, second = (np.flatnonzero(encoding.text_ids == which) for which in (0, 1))
    forth = seen(service, PAIR, show="All", direction="First to second")
    assert_shows(forth, own[np.ix_(first, second)])
    back = seen(service, PAIR, show="All", direction="Second to first")
    assert_shows(back, own[np.ix_(second, first)])
    alone = seen(service, direction="First to second")
    assert alone.grid.is_square
    assert alone.grid.weights.shape == (7, 7)


@pytest.mark.parametrize("family", [*FAMILIES, "bert-without-pooler"])
def test_every_family_works(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    attention = seen(tiny_service, PAIR, model=model, show="All", sort="word")
    assert_shows(attention, whole(tiny_service, PAIR, model).mean(axis=(0, 1)))
    assert len(compute.heads_table(attention)) == 12
    notes = [note.key.rpartition(".")[2] for note in attention_notes(attention)]
    assert ("no_segments" in notes) == (not tiny_service.load(model).has_segments)
    unknown = Sentence("\U0001f984")
    assert seen(tiny_service, unknown, model=model, unit="Words", special="Hide").grid.weights.size


def test_roberta_s_tokens_are_shown_as_text(tiny_service: EncoderService) -> None:
    found = labels(seen(tiny_service, Sentence("A python, sleeping"), model="folder:roberta"))
    assert {"A", "python"} & set(found)
    assert not any(label.startswith("Ġ") and len(label) > 1 for label in found)


# Which token


def test_the_picked_token_is_the_views_the_chosen_words_or_the_first(
    service: EncoderService,
) -> None:
    assert seen(service, side="to", token=4).picked == ("to", 4)
    sentence = DEFAULT.sentences[0]
    assert seen(service).picked == ("from", 5)  # [CLS] i love my pet python [SEP]
    assert seen(service, replace(sentence, word=None)).picked == ("from", 1)
    assert seen(service, special="Hide", token=0).picked == ("from", 4)  # [CLS] is gone
    assert seen(service, token=10**9).picked == ("from", 5)
    assert seen(service, Sentence("")).picked == ("from", 0)


# Any text


TEXTS = {
    "one token": "a",
    "empty": "",
    "spaces": "   ",
    "unknown": "\U0001f984",
    "markup": "<img src=x onerror=alert(1)> **bold** $x$ [a](b) :smile:",
    "controls": "nul \x00 bell \x07",
    "right to left": "שלום عليكم",
    "typed special": "[CLS] my [MASK] [PAD]",
}


@pytest.mark.parametrize("show", ["One head", "Rollout"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_works(service: EncoderService, text: str, show: str) -> None:
    for own in ({}, {"special": "Hide, rows to 1", "unit": "Words"}):
        view = view_on(Sentence(text), show=show, **own)
        attention = attention_view(view, service, service.load(BUNDLED_ID))
        assert attention.grid.weights.size
        read = attention_reading(attention.selection, attention.grid, attention.picked)
        said = " ".join(map(str, [*read, *attention_notes(attention)]))
        assert "<img" not in re.sub(r"\\(.)", "", said)


@pytest.mark.slow
def test_a_text_of_512_tokens_is_cut_and_a_head_that_was_let_go_is_asked_for(
    service: EncoderService,
) -> None:
    first = seen(service, Sentence(LONG))
    assert first.grid.weights.shape == (512, 512)
    assert first.encoding.n_truncated
    layer, head = next(place for place in first.order if first.heads.whole(*place) is None)
    other = seen(service, Sentence(LONG), head=f"{layer}.{head}")
    own = whole(service, Sentence(LONG))[layer - 1, head]
    np.testing.assert_allclose(other.weights, own, atol=1e-5)
    np.testing.assert_allclose(other.weights.mean(), 1 / 512, atol=1e-6)


def test_eight_sentences_can_be_chosen_from(service: EncoderService) -> None:
    sentences = [Sentence(f"python number {word}") for word in "abcdefgh"]
    assert "h" in labels(seen(service, *sentences, sentence="H"))
    assert "a" in labels(seen(service, *sentences, sentence="Z"))


def test_no_sentence_at_all_is_an_empty_one(service: EncoderService) -> None:
    view = ViewState(BUNDLED_ID, ())
    attention = attention_view(view, service, service.load(BUNDLED_ID))
    assert labels(attention) == ["[CLS]", "[SEP]"]


BROKEN = [
    {"show": "Nonsense", "head": "99.99", "sort": "nothing"},
    {"show": 3, "head": 1.5, "sort": True, "token": "x", "side": 1},
    {"head": "1.2.3", "token": -7, "side": "over"},
    {"token": 10**9},
    {"pad": -5, "special": "?", "unit": "?", "direction": "?", "sentence": "AB"},
    {"sentence": "ÿ", "head": ""},
]


@pytest.mark.parametrize("own", BROKEN, ids=range(len(BROKEN)))
def test_broken_controls_fall_back_to_what_there_is(
    service: EncoderService, own: dict[str, Any]
) -> None:
    usual, broken = seen(service), seen(service, **own)
    assert_shows(broken, usual.grid.weights)
    assert (broken.picked, broken.order) == (usual.picked, usual.order)
    assert broken.passport == usual.passport


# Tables and files


def test_the_table_of_heads_is_sorted_and_true(service: EncoderService) -> None:
    table = compute.heads_table(seen(service, sort="first"))
    attentions = opening(service)
    assert len(table) == 72
    assert table["[CLS]"].is_monotonic_decreasing
    for _, row in table.iloc[::9].iterrows():
        own = attentions[int(row["layer"]) - 1, int(row["head"])]
        assert row["[CLS]"] == pytest.approx(own[:, 0].mean(), abs=1e-5)
        assert row["next token"] == pytest.approx(np.diagonal(own, 1).mean(), abs=1e-5)


def test_heads_can_be_sorted_by_the_narrowest_spread(service: EncoderService) -> None:
    widest, narrowest = (
        compute.heads_table(seen(service, sort=by))["entropy (bits)"] for by in ("entropy", "focus")
    )
    assert widest.is_monotonic_decreasing
    assert narrowest.is_monotonic_increasing


@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_columns_have_names_of_their_own_where_special_tokens_share_one(
    tiny_service: EncoderService, family: str
) -> None:
    attention = seen(tiny_service, model=f"folder:{family}")
    same = replace(attention.selection, names={"first": "<s>", "separators": "<s>"})
    columns = list(compute.heads_table(replace(attention, selection=same)).columns)
    assert columns[4:6] == ["<s>", "<s> (others)"]


@pytest.mark.parametrize("side", ["from", "to"])
def test_the_picked_tokens_table_has_its_row_or_column(service: EncoderService, side: str) -> None:
    attention = seen(service, PAIR, side=side, token=3, show="All")
    weights = attention.grid.weights
    table = compute.picked_table(attention)
    own = weights[3] if side == "from" else weights[:, 3]
    np.testing.assert_array_equal(table.iloc[:, 2], own)
    assert list(table.columns[:2]) == ["position", "token"]
    assert table.columns[2] == f"{side} {labels(attention)[3]}"
    assert list(table["token"]) == labels(attention)


def test_files_carry_the_numbers_and_the_passport(service: EncoderService) -> None:
    attention = seen(service, PAIR, show="Rollout", unit="Words")
    data = to_csv(compute.weight_rows(attention), attention.passport).decode("utf-8-sig")
    assert '"show": "rollout"' in data
    assert '"unit": "words"' in data
    arrays = np.load(io.BytesIO(to_npz(compute.arrays(attention), attention.passport)))
    np.testing.assert_array_equal(arrays["weights"], attention.grid.weights)
    np.testing.assert_array_equal(arrays["attention"], attention.weights)
    assert arrays["habits"].shape == (6, 12, 6)


def test_the_passport_names_what_is_shown(service: EncoderService) -> None:
    head = seen(service, head="3.7", special="Hide").passport.settings
    assert (head["show"], head["layer"], head["head"]) == ("head", 3, 7)
    assert head["special_tokens"] == "hide"
    mean = seen(service, show="All").passport.settings
    assert (mean["show"], mean["unit"], mean["direction"]) == ("all", "tokens", "all")
    assert not {"layer", "head"} & set(mean)
