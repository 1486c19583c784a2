"""From a view to what Tokens & IDs shows: every measured fact, any text, any address."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contextlens.analysis.tokens import token_rows
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.tokens.compute import (
    last_row,
    look_up,
    other_tokenizers,
    round_trips,
    table_rows,
)
from contextlens.features.tokens.controls import HIDE, KIND, KINDS, PAD, PICKED, SEARCH, SENTENCE
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.tokens.shown import assert_whole, said, shown
from tests.support.texts import TYPED
from tests.support.tokens import text_view

OTHER_KINDS = [f"folder:{kind}" for kind in ("roberta", "albert", "mpnet", "electra")]
FAMILY_TEXT = "Café 🐍 ½ <mask> [UNK],\tisn't\x00 한"
FACTS = json.loads((Path(__file__).parents[2] / "data" / "bert_facts.json").read_text("utf-8"))


# The facts


@pytest.mark.parametrize("fact", FACTS["tokenization"], ids=lambda fact: fact["text"][:20])
def test_every_measured_fact_is_shown(service: EncoderService, fact: dict[str, Any]) -> None:
    view = text_view(fact["text"])
    view = PAD.put(view, fact["pad_to"]) if "pad_to" in fact else view
    tokenized = assert_whole(view, service)
    table = pd.DataFrame(token_rows(tokenized.tokens, tokenized.vocabulary))
    columns = {"ID": "token_ids", "token": "tokens", "mask": "attention_mask"}
    for column, name in {**columns, "segment": "token_type_ids"}.items():
        assert table[column].tolist() == fact.get(name, table[column].tolist())
    assert [kind == "padding" for kind in tokenized.kinds] == (table["mask"] == 0).tolist()
    n_pad = int((table["mask"] == 0).sum())
    assert (f"{n_pad} positions are padding" in said(tokenized)) == (n_pad > 0)
    if "decoded" in fact:
        assert service.decode(view.model, tokenized.tokens.token_ids) == fact["decoded"]


def test_the_vocabularys_facts_are_shown(service: EncoderService) -> None:
    known = FACTS["vocabulary"]
    tokenized = shown(DEFAULT, service)
    assert len(tokenized.vocabulary.pieces) == known["size"]
    for piece, token_id in known["ids"].items():
        assert token_id in look_up(SEARCH.put(DEFAULT, piece), service, tokenized).ids
        assert tokenized.vocabulary.pieces[token_id] == piece
    assert len(look_up(SEARCH.put(DEFAULT, " "), service, tokenized).ids) == known["size"]
    tokens = shown(PAD.put(text_view("I love Paris"), 7), service).tokens
    assert set(tokens.token_ids[5:].tolist()) == {known["pad_id"]}


# The sentence


def test_the_chosen_sentence_is_shown(service: EncoderService) -> None:
    tokenized = assert_whole(DEFAULT, service)
    assert tokenized.labels == ("[CLS]", "i", "love", "my", "pet", "python", "[SEP]")
    assert (tokenized.index, tokenized.picked, tokenized.picked_id) == (0, 5, 18750)
    tokenized = assert_whole(SENTENCE.put(DEFAULT, "B"), service)
    assert (tokenized.index, tokenized.tokens.text) == (1, DEFAULT.sentences[1].text)


def test_a_pair_has_segments_and_is_cut_the_longer_text_first(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("I love my pet python", "It sleeps."), service)
    assert tokenized.tokens.token_type_ids.tolist() == [0] * 7 + [1] * 4
    assert tokenized.title == "I love my pet python / It sleeps."
    tokenized = assert_whole(text_view("one two three four five", "six seven", cut=8), service)
    assert tokenized.labels[1:4] == ("one", "two", "three")
    assert tokenized.labels[5:7] == ("six", "seven")


def test_what_was_cut_off_is_counted(service: EncoderService) -> None:
    view = text_view("Only the beginning of this sentence reaches the model", cut=8)
    tokenized = assert_whole(view, service)
    assert "3 tokens were left out" in said(tokenized)
    (trip,) = round_trips(view, service, tokenized)
    assert trip.n_lost == 17
    assert (trip.stretches[-1].text, trip.stretches[-1].fate) == ("reaches the model", "lost")


def test_added_tokens_are_faint_or_hidden(service: EncoderService) -> None:
    view = text_view("I love Paris", pad=9)
    assert [faint for *_, faint in shown(view, service).boxes] == [True] + [False] * 3 + [True] * 5
    hidden = shown(HIDE.put(view, True), service)
    assert [label for label, *_ in hidden.boxes] == ["i", "love", "paris"]


def test_padding_below_the_length_is_not_done(service: EncoderService) -> None:
    tokenized = shown(text_view("I love my pet python", pad=3), service)
    assert (tokenized.pad_to, tokenized.requested_pad, tokenized.tokens.n_tokens) == (None, 3, 7)
    assert "pad_to" not in tokenized.passport.settings


@pytest.mark.parametrize(
    ("word", "token", "picked"),
    [(None, -1, 1), (None, 7, 1), (None, 6, 6), ((14, 20), -1, 5), ((14, 20), 2, 2)],
)
def test_a_token_is_picked_by_the_view_or_the_chosen_word(
    service: EncoderService, word: tuple[int, int] | None, token: int, picked: int
) -> None:
    sentence = Sentence("I love my pet python", None, word)
    view = PICKED.put(ViewState(BUNDLED_ID, (sentence,)), token)
    assert shown(view, service).picked == picked


# Any text, any address, any family


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_shown(service: EncoderService, text: str) -> None:
    tokenized = assert_whole(text_view(text, search=text), service)
    assert tokenized.tokens.text == text
    reaches = tokenized.tokens.text_ids.max() >= 0
    assert ("No token of the text reaches" in said(tokenized)) == (not reaches)


BROKEN: tuple[dict[str, Any], ...] = (
    {"pad": "16", "cut": "8", "token": "3", "sentence": "Z", "kind": "Nouns", "search": 9},
    {"pad": True, "cut": False, "token": 10**9, "sentence": "", "kind": 5.5, "search": True},
    {"pad": -5, "cut": 10**12, "token": -7, "sentence": "AB", "hide": "yes", "unheard of": 1},
    {"pad": 7.5, "sentence": "\U0010ffff", "hide": 1},
)


@pytest.mark.parametrize("controls", BROKEN, ids=range(len(BROKEN)))
def test_broken_settings_from_an_address_are_as_none(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    tokenized, usual = assert_whole(view, service), shown(DEFAULT, service)
    assert tokenized.boxes == usual.boxes
    assert (tokenized.index, tokenized.picked, tokenized.max_length) == (0, usual.picked, 512)
    ids, usual_ids = (look_up(v, service, usual).ids for v in (view, DEFAULT))
    assert ids == usual_ids


@pytest.mark.parametrize(("controls", "n"), [({"pad": 10**9}, 512), ({"cut": 0}, 3)])
def test_lengths_from_an_address_are_brought_between_their_bounds(
    service: EncoderService, controls: dict[str, Any], n: int
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    assert assert_whole(view, service).tokens.n_tokens == n


@pytest.mark.parametrize("model", OTHER_KINDS)
def test_every_kind_of_tokenizer_is_shown(tiny_service: EncoderService, model: str) -> None:
    tokenized = assert_whole(text_view(FAMILY_TEXT, "second", model=model, pad=60), tiny_service)
    ours = tiny_service.tokenize(model, [FAMILY_TEXT], pairs=["second"], pad_to=60)[0]
    assert [token_id for _, token_id, _ in tokenized.boxes] == ours.token_ids.tolist()


# The closer looks


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
    [("Sinan naps", 2, "Sinan"), ("Sinan naps", 0, "[CLS]"), ("x", 4, "Naïve")],
)
def test_the_word_of_the_picked_token_is_looked_up(
    service: EncoderService, text: str, token: int, word: str
) -> None:
    view = text_view(text, "(Naïve)" if text == "x" else None, pad=9, token=token)
    result = look_up(view, service, shown(view, service))
    assert result.query == word
    assert result.ids == look_up(SEARCH.put(view, word), service, shown(view, service)).ids
    assert (result.cut is None) == word.startswith("[")


@pytest.mark.parametrize("model", [BUNDLED_ID, *OTHER_KINDS])
def test_a_picked_word_is_cut_as_it_is_in_its_text(
    tiny_service: EncoderService, model: str
) -> None:
    text = "tokens love nanorobots unbelievably tokens"
    words = shown(text_view(text, model=model), tiny_service).tokens.word_ids
    for position in np.flatnonzero(words >= 0).tolist():
        view = text_view(text, model=model, token=position)
        tokenized = shown(view, tiny_service)
        result = look_up(view, tiny_service, tokenized)
        in_text = tokenized.tokens.token_ids[words == words[position]].tolist()
        assert result.tokens.token_ids[result.tokens.word_ids >= 0].tolist() == in_text
        assert result.cut is not None


@pytest.mark.parametrize(
    ("position", "ids", "picked"),
    [(0, list(range(98, 105)), 3), (8, [0, 1, 2, 3], 0)],
)
def test_a_tokens_row_stands_among_its_neighbours(
    service: EncoderService, position: int, ids: list[int], picked: int
) -> None:
    tokenized = shown(text_view("I love my pet python", pad=9, token=position), service)
    rows = table_rows(tokenized, service, service.load(BUNDLED_ID))
    assert rows is not None
    assert (rows.ids, rows.picked) == (ids, picked)
    np.testing.assert_array_equal(rows.values, service.word_rows(BUNDLED_ID, ids))
    assert rows.names[picked] == f"{ids[picked]}  {tokenized.tokens.tokens[position]}"


def test_an_id_behind_the_table_has_no_row(service: EncoderService) -> None:
    tokenized = shown(DEFAULT, service)
    for size, has_row in ((18751, True), (18750, False)):
        card = replace(service.load(BUNDLED_ID), vocabulary_size=size)
        assert last_row(tokenized.vocabulary, card) == size - 1
        assert (table_rows(tokenized, service, card) is not None) == has_row


def test_what_casing_and_accents_become_is_counted(service: EncoderService) -> None:
    view = text_view("Zoë ordered a CRÈME", "Élan 🐍")
    first, second = round_trips(view, service, shown(view, service))
    assert {change.way: change.count for change in first.changes} == {"capitals": 5, "accents": 2}
    assert (first.n_rewritten, first.n_unknown, first.decoded) == (7, 0, "zoe ordered a creme")
    assert (second.text, second.n_unknown, second.n_rewritten) == ("Élan 🐍", 1, 1)


def test_other_tokenizers_are_all_but_the_own_the_cased_one_first(
    tiny_service: EncoderService,
) -> None:
    others = list(other_tokenizers(DEFAULT, tiny_service))
    assert set(others) == {spec.id for spec in tiny_service.models()} - {BUNDLED_ID}
    assert others[0] == "google-bert/bert-base-cased"


# Downloads


def test_the_arrays_are_the_services_and_the_passport_names_the_lengths(
    service: EncoderService,
) -> None:
    tokenized = shown(text_view("Sinan's =1+1 🐍", "two", pad=30), service)
    ours = service.tokenize(BUNDLED_ID, ["Sinan's =1+1 🐍"], pairs=["two"], pad_to=30)[0]
    arrays = tokenized.arrays()
    for name in ("token_ids", "attention_mask", "token_type_ids", "offsets", "tokens"):
        np.testing.assert_array_equal(arrays[name], getattr(ours, name))
    assert (str(arrays["text"]), str(arrays["pair"])) == (ours.text, "two")
    passport = tokenized.passport
    assert passport.checksum == service.load_tokenizer(BUNDLED_ID).checksum
    settings = {"checksum_of": "tokenizer files", "max_length": 512, "pad_to": 30}
    assert passport.settings == settings
