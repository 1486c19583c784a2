"""Tokens & IDs, from any view to its tokens: every measured fact is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from components.analysis.tokens import token_rows
from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.compute import look_up, round_trips
from components.features.tokens.controls import CUT, HIDE, PAD, PICKED, SEARCH, SENTENCE
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.tokens.compute.tokenized import OTHER_KINDS, assert_whole, said, shown
from tests.support.texts import TYPED
from tests.support.tokens import text_view

FAMILY_TEXT = "Café 🐍 ½ <mask> [UNK],\tisn't\x00 한"


# The facts


def each_fact(kind: str) -> list[Any]:
    path = Path(__file__).parents[3] / "data" / "bert_facts.json"
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
    assert said(tokenized).startswith("The text becomes 7 tokens: 5 from the text")


def test_another_sentence_is_shown_when_it_is_chosen(service: EncoderService) -> None:
    tokenized = assert_whole(SENTENCE.put(DEFAULT, "B"), service)
    assert (tokenized.index, tokenized.tokens.text) == (1, DEFAULT.sentences[1].text)


def test_a_pair_has_segments_and_an_empty_second_text_is_none(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("I love my pet python", "It sleeps."), service)
    assert tokenized.tokens.token_type_ids.tolist() == [0] * 7 + [1] * 4
    assert "The two texts become 11 tokens" in said(tokenized)
    assert tokenized.title == "I love my pet python / It sleeps."
    tokenized = assert_whole(text_view("a text", ""), service)
    assert tokenized.labels == ("[CLS]", "a", "text", "[SEP]")
    assert tokenized.sentence.pair is None


def test_what_was_cut_off_is_counted(service: EncoderService) -> None:
    view = CUT.put(text_view("Only the beginning of this sentence reaches the model"), 8)
    tokenized = assert_whole(view, service)
    assert "3 tokens were left out" in said(tokenized)
    (trip,) = round_trips(view, service, tokenized)
    assert trip.n_lost == 17
    assert (trip.stretches[-1].text, trip.stretches[-1].fate) == ("reaches the model", "lost")


def test_both_texts_of_a_pair_are_cut_the_longer_one_first(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("one two three four five", "six seven", cut=8), service)
    assert tokenized.labels[1:4] == ("one", "two", "three")
    assert tokenized.labels[5:7] == ("six", "seven")


def test_600_tokens_are_cut_and_said(service: EncoderService) -> None:
    tokenized = assert_whole(text_view(" ".join(["python"] * 600)), service)
    assert len(tokenized.labels) == 512
    assert "90 tokens were left out" in said(tokenized)


def test_added_tokens_are_not_drawn_where_they_are_hidden(service: EncoderService) -> None:
    view = text_view("I love Paris", pad=9)
    every = shown(view, service)
    assert [faint for _, _, faint in every.boxes] == [True] + [False] * 3 + [True] * 5
    hidden = shown(HIDE.put(view, True), service)
    assert [label for label, _, _ in hidden.boxes] == ["i", "love", "paris"]
    assert hidden.tokens.n_tokens == 9


def test_padding_below_the_length_is_not_done(service: EncoderService) -> None:
    tokenized = shown(text_view("I love my pet python", pad=3), service)
    assert (tokenized.pad_to, tokenized.requested_pad, tokenized.tokens.n_tokens) == (None, 3, 7)
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
    reaches = tokenized.tokens.text_ids.max() >= 0
    assert ("No token of the text reaches" in said(tokenized)) == (not reaches)


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
    assert (tokenized.index, tokenized.picked, tokenized.max_length) == (0, usual.picked, 512)
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
    assert (tokenized.tokens.n_tokens, tokenized.max_length) == (64, 64)
