"""The closer looks of Tokens & IDs: vocabulary, rows, the way back, two tokenizers; its files."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from components.analysis.tokens import token_rows
from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.compute import (
    last_row,
    look_up,
    other_tokenizers,
    round_trips,
    table_rows,
    tokens_of,
)
from components.features.tokens.controls import KIND, KINDS, SEARCH
from components.features.tokens.reading import tokenizers_reading
from components.ui.state.view import DEFAULT
from components.ui.widgets import export
from tests.features.tokens.compute.tokenized import OTHER_KINDS, assert_whole, plain, shown
from tests.support.tokens import text_view

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
    assert (rows.ids, rows.picked) == (ids, own)
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
    ours = tokens_of(tiny_service, view.model, sentence)
    theirs = tokens_of(tiny_service, "folder:roberta", sentence)
    assert ours.tokens == ("[CLS]", "the", "us", "told", "us", "[SEP]")
    expected = tiny_service.tokenize("folder:roberta", ["The US told us"])[0]
    assert theirs.token_ids.tolist() == expected.token_ids.tolist()
    claims = tokenizers_reading(ours, theirs, ("a", "roberta"), (100, 3))
    assert "the same token IDs; roberta gives them different ones." in plain(claims)


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
