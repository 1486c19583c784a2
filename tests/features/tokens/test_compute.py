"""Tokens & IDs, from any view to all that its page shows: every measured fact is there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from components.analysis.tokens import token_rows
from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.compute.looks import (
    last_row,
    look_up,
    other_tokenizers,
    round_trips,
    table_rows,
    tokenized_by_both,
)
from components.features.tokens.compute.sentence import TokenizedSentence, tokenized_sentence
from components.features.tokens.controls import (
    CUT,
    HIDE,
    KIND,
    KINDS,
    PAD,
    PICKED,
    SEARCH,
    SENTENCE,
)
from components.features.tokens.figures import there_and_back, tokens_svg
from components.features.tokens.reading.tokens import (
    back_reading,
    tokenizers_reading,
    tokens_reading,
    twins_reading,
)
from components.features.tokens.reading.vocabulary import vocabulary_reading
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets import export
from components.ui.widgets.chips import visible
from tests.support.texts import TYPED
from tests.support.tokens import text_view

FAMILY_TEXT = "Café 🐍 ½ <mask> [UNK],\tisn't\x00 한"
OTHER_KINDS = ("roberta", "albert", "mpnet", "electra")


def shown(view: ViewState, service: EncoderService) -> TokenizedSentence:
    return tokenized_sentence(view, service, service.load_tokenizer(view.model))


def plain(sentences: Iterable[str]) -> str:
    """A reading, without Markdown's signs."""
    return re.sub(r"\\(.)", r"\1", " ".join(sentences)).replace("**", "")


def said(tokenized: TokenizedSentence) -> str:
    return plain(tokens_reading(tokenized.tokens, tokenized.kinds, tokenized.labels))


def assert_whole(view: ViewState, service: EncoderService) -> TokenizedSentence:
    """The page and each of its closer looks can be made of a view, and hold together."""
    tokenized = shown(view, service)
    n = tokenized.tokens.n_tokens
    assert len(tokenized.kinds) == len(tokenized.labels) == n
    assert len(token_rows(tokenized.tokens, tokenized.vocabulary)) == n
    assert 0 <= tokenized.picked < n
    assert len(tokens_svg(tokenized.boxes, tokenized.title)) < 100_000
    assert said(tokenized)
    assert tokenized.passport.settings["max_length"] == tokenized.cut
    found = look_up(view, service, tokenized)
    assert vocabulary_reading(
        found.query, found.normalized, found.tokens, tokenized.vocabulary, n_found=len(found.ids)
    )
    rows = table_rows(tokenized, service, service.load(view.model))
    assert rows is not None
    assert rows.ids[rows.own] == tokenized.picked_id
    for trip in round_trips(view, service, tokenized):
        assert "".join(part.text for part in trip.parts) == trip.text
        assert back_reading(trip.decoded, trip.text, trip.n_rewritten, trip.n_unknown, trip.n_lost)
        parts = [(visible(part.text), part.fate) for part in trip.parts]
        assert there_and_back(parts, visible(trip.decoded)).startswith('<div class="back">')
    assert twins_reading(tokenized.tokens)
    return tokenized


# The facts


def each_fact(kind: str) -> list[Any]:
    path = Path(__file__).parents[2] / "data" / "bert_facts.json"
    return json.loads(path.read_text(encoding="utf-8"))[kind]


@pytest.mark.parametrize("fact", each_fact("tokenization"), ids=lambda fact: fact["text"][:20])
def test_every_measured_fact_is_shown(service: EncoderService, fact: dict[str, Any]) -> None:
    view = text_view(fact["text"])
    view = PAD.put(view, fact["pad_to"]) if "pad_to" in fact else view
    tokenized = assert_whole(view, service)
    table = pd.DataFrame(token_rows(tokenized.tokens, tokenized.vocabulary))
    assert table["ID"].tolist() == fact["token_ids"]
    assert table["token"].tolist() == fact.get("tokens", table["token"].tolist())
    mask = fact.get("attention_mask", table["mask"].tolist())
    assert table["mask"].tolist() == mask
    assert [kind == "padding" for kind in tokenized.kinds] == [own == 0 for own in mask]
    n_pad = mask.count(0)
    assert (f"{n_pad} positions are padding" in said(tokenized)) == (n_pad > 0)
    assert table["segment"].tolist() == fact.get("token_type_ids", table["segment"].tolist())
    if "decoded" in fact:
        assert service.decode(view.model, tokenized.tokens.token_ids) == fact["decoded"]


def test_the_vocabularys_facts_are_shown(service: EncoderService, facts: dict[str, Any]) -> None:
    known = facts["vocabulary"]
    tokenized = shown(DEFAULT, service)
    assert len(tokenized.vocabulary.pieces) == known["size"]
    for piece, token_id in known["ids"].items():
        found = look_up(SEARCH.put(DEFAULT, piece), service, tokenized)
        assert token_id in found.ids
        assert tokenized.vocabulary.pieces[token_id] == piece
    assert len(look_up(SEARCH.put(DEFAULT, " "), service, tokenized).ids) == known["size"]
    tokens = shown(PAD.put(text_view("I love Paris"), 7), service).tokens
    assert set(tokens.token_ids[5:].tolist()) == {known["pad_id"]}


# The sentence


def test_the_opening_view_is_the_first_sentence(service: EncoderService) -> None:
    tokenized = assert_whole(DEFAULT, service)
    assert tokenized.tokens.text == DEFAULT.sentences[0].text
    assert tokenized.labels == ("[CLS]", "i", "love", "my", "pet", "python", "[SEP]")
    assert (tokenized.index, tokenized.picked, tokenized.picked_id) == (0, 5, 18750)
    assert said(tokenized).startswith("This text becomes 7 tokens, 5 of its own")


def test_another_sentence_is_shown_when_it_is_chosen(service: EncoderService) -> None:
    tokenized = assert_whole(SENTENCE.put(DEFAULT, "B"), service)
    assert (tokenized.index, tokenized.tokens.text) == (1, DEFAULT.sentences[1].text)


def test_a_pair_has_segments_and_an_empty_second_text_is_none(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("I love my pet python", "It sleeps."), service)
    assert tokenized.tokens.token_type_ids.tolist() == [0] * 7 + [1] * 4
    assert "This pair of texts becomes 11 tokens" in said(tokenized)
    assert tokenized.title == "I love my pet python / It sleeps."
    tokenized = assert_whole(text_view("a text", ""), service)
    assert tokenized.labels == ("[CLS]", "a", "text", "[SEP]")
    assert tokenized.sentence.pair is None


def test_what_was_cut_off_is_counted(service: EncoderService) -> None:
    view = CUT.put(text_view("Only the beginning of this sentence reaches the model"), 8)
    tokenized = assert_whole(view, service)
    assert "3 tokens do not fit and are left out" in said(tokenized)
    (trip,) = round_trips(view, service, tokenized)
    assert trip.n_lost == 17
    assert (trip.parts[-1].text, trip.parts[-1].fate) == ("reaches the model", "lost")


def test_both_texts_of_a_pair_are_cut_the_longer_one_first(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("one two three four five", "six seven", cut=8), service)
    assert tokenized.labels[1:4] == ("one", "two", "three")
    assert tokenized.labels[5:7] == ("six", "seven")


def test_600_tokens_are_cut_and_said(service: EncoderService) -> None:
    tokenized = assert_whole(text_view(" ".join(["python"] * 600)), service)
    assert len(tokenized.labels) == 512
    assert "90 tokens do not fit and are left out" in said(tokenized)


def test_added_tokens_are_not_drawn_where_they_are_hidden(service: EncoderService) -> None:
    view = text_view("I love Paris", pad=9)
    every = shown(view, service)
    assert [faint for _, _, faint in every.boxes] == [True] + [False] * 3 + [True] * 5
    hidden = shown(HIDE.put(view, True), service)
    assert [label for label, _, _ in hidden.boxes] == ["i", "love", "paris"]
    assert hidden.tokens.n_tokens == 9


def test_padding_below_the_length_is_not_done(service: EncoderService) -> None:
    tokenized = shown(text_view("I love my pet python", pad=3), service)
    assert (tokenized.pad_to, tokenized.pad_asked, tokenized.tokens.n_tokens) == (None, 3, 7)
    assert "pad_to" not in tokenized.passport.settings


@pytest.mark.parametrize(
    ("word", "asked", "picked"),
    [
        (None, -1, 1),
        ((14, 20), -1, 5),
        ((14, 20), 2, 2),
        (None, 7, 1),
        (None, 6, 6),
        ((7, 9), -9, 3),
    ],
)
def test_a_token_is_picked_by_the_view_or_the_chosen_word(
    service: EncoderService, word: tuple[int, int] | None, asked: int, picked: int
) -> None:
    sentence = Sentence("I love my pet python", None, word)
    view = PICKED.put(ViewState(BUNDLED_ID, (sentence,)), asked)
    assert shown(view, service).picked == picked


def test_the_unknown_token_has_its_reason(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("My 🐍 naps"), service)
    assert (tokenized.kinds[2], tokenized.labels[2]) == ("unknown", "[UNK]")
    assert list(tokenized.reasons) == [2]
    assert tokenized.reasons[2].startswith("🐍 (U+1F40D) is not in the vocabulary")


# Any text, any address, any family


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_shown(service: EncoderService, text: str) -> None:
    tokenized = assert_whole(text_view(text, search=text), service)
    assert tokenized.tokens.text == text
    assert ("no token of its own" in said(tokenized)) == (not tokenized.tokens.text_ids.max() >= 0)


BROKEN: tuple[dict[str, Any], ...] = (
    {"pad": "16"},
    {"pad": True},
    {"pad": -5},
    {"pad": 7.5},
    {"cut": 10**12},
    {"cut": "8"},
    {"cut": False},
    {"token": 10**9},
    {"token": -7},
    {"token": "3"},
    {"sentence": "Z"},
    {"sentence": ""},
    {"sentence": "AB"},
    {"sentence": "\U0010ffff"},
    {"sentence": "@"},
    {"sentence": 3},
    {"kind": "Nouns"},
    {"kind": 5.5},
    {"search": 9},
    {"search": True},
    {"hide": "yes"},
    {"hide": 1},
    {"unheard of": 1},
)


@pytest.mark.parametrize("controls", BROKEN, ids=repr)
def test_broken_settings_from_an_address_are_as_none(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    tokenized, usual = assert_whole(view, service), shown(DEFAULT, service)
    assert tokenized.boxes == usual.boxes
    assert (tokenized.index, tokenized.picked, tokenized.cut) == (0, usual.picked, 512)
    found, ours = (look_up(v, service, usual).ids for v in (view, DEFAULT))
    assert found == ours


@pytest.mark.parametrize(
    ("controls", "n"), [({"pad": 10**9}, 512), ({"cut": 0}, 3), ({"cut": -1}, 3)]
)
def test_lengths_from_an_address_are_brought_between_their_bounds(
    service: EncoderService, controls: dict[str, Any], n: int
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    assert assert_whole(view, service).tokens.n_tokens == n


@pytest.mark.parametrize("family", OTHER_KINDS)
def test_every_kind_of_tokenizer_is_shown(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    tokenized = assert_whole(text_view(FAMILY_TEXT, "second", model=model, pad=60), tiny_service)
    ours = tiny_service.tokenize(model, [FAMILY_TEXT], pairs=["second"], pad_to=60)[0]
    assert [token_id for _, token_id, _ in tokenized.boxes] == ours.token_ids.tolist()


def test_another_model_brings_the_lengths_in_order(tiny_service: EncoderService) -> None:
    view = text_view("The python slept", pad=300, cut=400)
    assert shown(view, tiny_service).tokens.n_tokens == 300
    tokenized = shown(replace(view, model="folder:roberta"), tiny_service)
    assert (tokenized.tokens.n_tokens, tokenized.cut) == (64, 64)


# The closer looks


@pytest.mark.parametrize("query", ["", "  ", "zzyzx", "\x00", "🐍", "<b>", "[MASK]", "a" * 200])
def test_any_query_to_the_vocabulary_is_answered(service: EncoderService, query: str) -> None:
    assert_whole(SEARCH.put(DEFAULT, query), service)


@pytest.mark.parametrize(
    ("kind", "n_all"), [("Words", 30522 - 5828 - 5), ("Continuations", 5828), ("Special", 5)]
)
def test_the_vocabulary_is_browsed_by_kind(service: EncoderService, kind: str, n_all: int) -> None:
    tokenized = shown(DEFAULT, service)
    vocabulary, view = tokenized.vocabulary, KIND.put(DEFAULT, kind)
    for token_id in look_up(SEARCH.put(view, "an"), service, tokenized).ids:
        assert vocabulary.kinds[token_id] == KINDS[kind]
        assert vocabulary.texts[token_id].startswith("an")
    assert len(look_up(SEARCH.put(view, " "), service, tokenized).ids) == n_all


@pytest.mark.parametrize(
    ("text", "token", "word"),
    [
        ("Sinan naps", 2, "Sinan"),
        ("Sinan naps", 4, "naps"),
        ("Sinan naps", 0, "[CLS]"),
        ("Sinan naps", 7, "[PAD]"),
        ("x", 4, "Naïve"),
    ],
)
def test_the_word_of_the_picked_token_is_looked_up(
    service: EncoderService, text: str, token: int, word: str
) -> None:
    view = text_view(text, "(Naïve)" if text == "x" else None, pad=9, token=token)
    found = look_up(view, service, shown(view, service))
    assert found.query == word
    assert found.ids == look_up(SEARCH.put(view, word), service, shown(view, service)).ids
    assert (found.cut is None) == word.startswith("[")
    if found.cut is not None:
        assert found.cut.pieces == tuple(found.tokens.tokens[1:-1])


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{kind}" for kind in OTHER_KINDS)])
def test_a_picked_word_is_cut_as_it_is_in_its_text(
    tiny_service: EncoderService, model: str
) -> None:
    text = "tokens love nanorobots unbelievably tokens"
    words = shown(text_view(text, model=model), tiny_service).tokens.word_ids
    for position in np.flatnonzero(words >= 0).tolist():
        view = text_view(text, model=model, token=position)
        tokenized = shown(view, tiny_service)
        found = look_up(view, tiny_service, tokenized)
        own = tokenized.tokens.token_ids[words == words[position]].tolist()
        alone = found.tokens.token_ids[found.tokens.word_ids >= 0].tolist()
        assert alone == own, found.query
        assert found.cut is not None


@pytest.mark.parametrize(
    ("position", "ids", "own"),
    [
        (0, [98, 99, 100, 101, 102, 103, 104], 3),
        (8, [0, 1, 2, 3], 0),
        (2, list(range(2290, 2297)), 3),
    ],
)
def test_a_tokens_row_stands_among_its_neighbours(
    service: EncoderService, position: int, ids: list[int], own: int
) -> None:
    tokenized = shown(text_view("I love my pet python", pad=9, token=position), service)
    rows = table_rows(tokenized, service, service.load(BUNDLED_ID))
    assert rows is not None
    assert (rows.ids, rows.own) == (ids, own)
    np.testing.assert_array_equal(rows.values, service.word_rows(BUNDLED_ID, ids))
    assert rows.names[own] == f"{ids[own]}  {tokenized.tokens.tokens[position]}"


def test_an_id_behind_the_table_has_no_row(service: EncoderService) -> None:
    card = replace(service.load(BUNDLED_ID), vocabulary_size=20)
    tokenized = shown(DEFAULT, service)
    assert last_row(tokenized.vocabulary, card) == 19
    assert table_rows(tokenized, service, card) is None


def test_what_casing_and_accents_become_is_counted(service: EncoderService) -> None:
    view = text_view("Zoë ordered a CRÈME", "Élan 🐍")
    first, second = round_trips(view, service, shown(view, service))
    assert {change.way: change.count for change in first.changes} == {"capitals": 5, "accents": 2}
    assert (first.n_rewritten, first.n_unknown, first.decoded) == (7, 0, "zoe ordered a creme")
    assert (second.text, second.n_unknown, second.n_rewritten) == ("Élan 🐍", 1, 1)


def test_other_tokenizers_are_all_but_the_own_the_cased_one_first(
    tiny_service: EncoderService,
) -> None:
    every = [spec.id for spec in tiny_service.models()]
    others = list(other_tokenizers(DEFAULT, tiny_service))
    assert sorted(others) == sorted(set(every) - {BUNDLED_ID})
    assert others[0] == "google-bert/bert-base-cased"


def test_two_tokenizers_cut_the_whole_sentence(tiny_service: EncoderService) -> None:
    view = text_view("The US told us", cut=4, pad=30)
    sentence = shown(view, tiny_service).sentence
    ours, theirs = tokenized_by_both(view, tiny_service, sentence, "folder:roberta")
    assert ours.tokens == ("[CLS]", "the", "us", "told", "us", "[SEP]")
    expected = tiny_service.tokenize("folder:roberta", ["The US told us"])[0]
    assert theirs.token_ids.tolist() == expected.token_ids.tolist()
    assert "and others in roberta" in plain(tokenizers_reading(ours, theirs, ("a", "roberta")))


# Downloads


@pytest.mark.parametrize("text", ["Sinan's =1+1 🐍, CRÈME", "", "a # b\n+c"])
def test_the_csv_is_the_table_with_its_passport(service: EncoderService, text: str) -> None:
    tokenized = shown(text_view(text, "two", pad=30), service)
    rows = token_rows(tokenized.tokens, tokenized.vocabulary)
    data = export.to_csv(rows, tokenized.passport)
    frame = pd.read_csv(io.BytesIO(data), comment="#", keep_default_na=False)
    assert frame["ID"].tolist() == tokenized.tokens.token_ids.tolist()
    for written, token in zip(frame["token"], tokenized.tokens.tokens, strict=True):
        assert written in (token, f"'{token}")
    lines = data.decode("utf-8-sig").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    assert json.loads(head["checksum"]) == service.load_tokenizer(BUNDLED_ID).checksum
    assert json.loads(head["settings"]) == {
        "checksum_of": "tokenizer files",
        "max_length": 512,
        "pad_to": 30,
    }
    body = [line for line in lines if not line.startswith("# ")]
    assert not any(re.match(r"\"?[=+@]", cell) for row in csv.reader(body) for cell in row)


def test_the_npz_is_the_services_arrays(service: EncoderService) -> None:
    tokenized = shown(DEFAULT, service)
    data = export.to_npz(tokenized.arrays(), tokenized.passport)
    ours = service.tokenize(BUNDLED_ID, [DEFAULT.sentences[0].text])[0]
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        for name in ("token_ids", "attention_mask", "token_type_ids", "offsets"):
            np.testing.assert_array_equal(arrays[name], getattr(ours, name))
        assert arrays["tokens"].tolist() == list(ours.tokens)
        assert str(arrays["text"]) == ours.text
        assert json.loads(str(arrays["passport"]))["model"] == BUNDLED_ID
