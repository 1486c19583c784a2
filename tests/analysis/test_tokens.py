"""Kinds, labels, lost parts, tables and pieces: beside transformers and brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from contextlens.analysis.tokens import (
    cut_words,
    find_pieces,
    kinds,
    labels,
    lost_spans,
    source,
    token_rows,
)
from contextlens.analysis.words import token_positions
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from tests.support.tiny_models import BYTES, TYPICAL

by_family = pytest.mark.parametrize("family", TYPICAL)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
ODD = (
    "Café İstanbul ÜBER ﬁne",
    "🤗 漢字 hello 👩‍👧",
    "a  b\tc\n",
    "",
    "   ",
    "[CLS] hi </s> <mask> [MASK] [UNK]",
    "nul\x00 x\x01",
    "אני אוהב and مرحبا",
    "unbelievabilityness",
)


@pytest.fixture(scope="module")
def reference(tiny_root: Path) -> dict[str, Any]:
    return {name: AutoTokenizer.from_pretrained(tiny_root / name) for name in TYPICAL}


def shared(one: tuple[int, int], other: tuple[int, int]) -> int:
    """The number of characters that two spans share."""
    return min(one[1], other[1]) - max(one[0], other[0])


# Kinds and labels


@by_family
@pytest.mark.parametrize("text", ODD)
def test_added_and_padding_are_as_transformers_has_them(
    tiny_service: EncoderService, reference: dict[str, Any], family: str, text: str
) -> None:
    tokens = tiny_service.tokenize(f"folder:{family}", [text], pad_to=60)[0]
    theirs = reference[family](
        text, padding="max_length", max_length=60, return_special_tokens_mask=True
    )
    found = kinds(tokens, tiny_service.vocabulary(f"folder:{family}"))
    expected = [
        "padding" if not mask else "special" if special else "own"
        for mask, special in zip(
            theirs["attention_mask"], theirs["special_tokens_mask"], strict=True
        )
    ]
    assert [kind if kind in ("padding", "special") else "own" for kind in found] == expected


@by_family
def test_unknown_ones_have_the_unknown_id_and_typed_special_ones_were_typed(
    tiny_service: EncoderService, reference: dict[str, Any], family: str
) -> None:
    tokenizer = reference[family]
    typed = " ".join(tokenizer.all_special_tokens)
    for text in (*ODD, typed):
        tokens = tiny_service.tokenize(f"folder:{family}", [text])[0]
        found = kinds(tokens, tiny_service.vocabulary(f"folder:{family}"))
        for i, kind in enumerate(found):
            token_id = int(tokens.token_ids[i])
            if kind == "unknown":
                assert token_id == tokenizer.unk_token_id
            if kind == "typed special":
                assert tokenizer.convert_ids_to_tokens(token_id) in tokenizer.all_special_tokens
                assert source(tokens, i).strip() in tokenizer.all_special_tokens
    assert found.count("typed special") == len(tokenizer.all_special_tokens)


def test_a_typed_unknown_token_is_not_called_unknown(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["my [UNK] 🐍 [MASK]"])[0]
    found = kinds(tokens, service.vocabulary(BUNDLED_ID))
    assert found == ("special", "token", "typed special", "unknown", "typed special", "special")


@settings(deadline=None)
@given(text=texts)
def test_a_continuation_goes_on_with_the_word_before_it(service: EncoderService, text: str) -> None:
    tokens = service.tokenize(BUNDLED_ID, [text])[0]
    for i, kind in enumerate(kinds(tokens, service.vocabulary(BUNDLED_ID))):
        if kind == "continuation":
            spans = split_words(text)
            inside = [
                max(range(len(spans)), key=lambda n: shared(spans[n], (start, end)))
                for start, end in tokens.offsets[i - 1 : i + 1].tolist()
            ]
            assert inside[0] == inside[1]


@pytest.mark.parametrize("text", ["नमस्ते", "cafe\u0301", "مَرْحَبًا", "ได้", "👩\u200d👧", "क्षि"])
def test_no_mark_is_cut_off_though_the_tokenizer_strips_it(
    service: EncoderService, text: str
) -> None:
    """Its characters are all with one token or another, and the word keeps all tokens."""
    tokens = service.tokenize(BUNDLED_ID, [f"a {text} b"])[0]
    positions = token_positions(tokens, (2, 2 + len(text)))
    assert "".join(source(tokens, i) for i in positions) == text
    assert list(positions) == list(range(2, tokens.n_tokens - 2))


def test_words_of_two_texts_are_not_joined(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python"], pairs=["python"])[0]
    found = kinds(tokens, service.vocabulary(BUNDLED_ID))
    assert found == ("special", "token", "special", "token", "special")


@by_family
def test_labels_are_the_pieces_or_the_characters_where_pieces_are_bytes(
    tiny_service: EncoderService, family: str
) -> None:
    vocabulary = tiny_service.vocabulary(f"folder:{family}")
    for text in ODD:
        tokens = tiny_service.tokenize(f"folder:{family}", [text])[0]
        written = labels(tokens, vocabulary)
        assert all(label.strip() for label in written)
        if family not in BYTES:
            assert written == tokens.tokens
        else:
            own = [source(tokens, i) for i in range(tokens.n_tokens)]
            pairs = zip(written, own, tokens.tokens, strict=True)
            assert all(label == (text if text.strip() else piece) for label, text, piece in pairs)


# Lost


@by_family
@settings(deadline=None)
@given(n=st.integers(5, 30), extra=st.integers(0, 20))
def test_what_was_lost_begins_behind_the_last_token_that_fits(
    tiny_service: EncoderService, family: str, n: int, extra: int
) -> None:
    text = " ".join(["python", "teachings", "the"][i % 3] for i in range(extra))
    tokens = tiny_service.tokenize(f"folder:{family}", [text], max_length=n)[0]
    lost, second = lost_spans(tokens)
    assert second is None
    assert (lost is None) == (tokens.n_truncated == 0)
    if lost is not None:
        assert lost[1] == len(text)
        kept = tokens.offsets[tokens.text_ids == 0]
        assert text[int(kept[:, 1].max()) : lost[0]].strip() == ""
        assert not text[lost[0]].isspace()


def test_of_a_pair_both_ends_may_be_lost(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["a b c d e"], pairs=["f g h i j"], max_length=7)[0]
    first, second = lost_spans(tokens)
    assert ("a b c d e"[slice(*first)], "f g h i j"[slice(*second)]) == ("c d e", "h i j")
    assert tokens.n_truncated == 6


# Words


@by_family
def test_cut_words_are_the_words_with_several_tokens(
    tiny_service: EncoderService, family: str
) -> None:
    text = "The teacher's unbelievable python, a python and teachings"
    tokens = tiny_service.tokenize(f"folder:{family}", [text])[0]
    written = labels(tokens, tiny_service.vocabulary(f"folder:{family}"))
    expected: dict[str, tuple[str, ...]] = {}
    for n, (start, end) in enumerate(split_words(text)):
        own = tuple(written[i] for i in range(tokens.n_tokens) if tokens.word_ids[i] == n)
        if len(own) > 1:
            expected.setdefault(text[start:end], own)
    assert cut_words(tokens, written) == list(expected.items())


def test_a_word_cut_off_in_its_middle_does_not_stand_for_the_whole_one(
    service: EncoderService,
) -> None:
    text = "unbelievability and unbelievability"
    whole = service.tokenize(BUNDLED_ID, [text])[0]
    cut = service.tokenize(BUNDLED_ID, [text], max_length=whole.n_tokens - 2)[0]
    assert cut_words(cut, cut.tokens) == cut_words(whole, whole.tokens)


# The table


@by_family
@settings(deadline=None)
@given(text=texts)
def test_the_table_has_a_row_for_each_token(
    tiny_service: EncoderService, family: str, text: str
) -> None:
    model = f"folder:{family}"
    vocabulary = tiny_service.vocabulary(model)
    tokens = tiny_service.tokenize(model, [text], pairs=["a pair"], pad_to=None)[0]
    rows = token_rows(tokens, vocabulary)
    assert [row["position"] for row in rows] == list(range(tokens.n_tokens))
    assert [row["token"] for row in rows] == list(tokens.tokens)
    assert [row["ID"] for row in rows] == tokens.token_ids.tolist()
    assert [row["mask"] for row in rows] == tokens.attention_mask.tolist()
    segments = tokens.token_type_ids
    assert [row["segment"] for row in rows] == (
        [None] * len(rows) if segments is None else segments.tolist()
    )
    assert [row["kind"] for row in rows] == list(kinds(tokens, vocabulary))
    for row, which in zip(rows, tokens.text_ids.tolist(), strict=True):
        own = (text, "a pair")[which]
        if which < 0:
            assert (row["characters"], row["from"], row["to"], row["word"]) == ("", *[None] * 3)
        else:
            assert row["characters"] == own[row["from"] : row["to"]]
        if row["word"] is not None:
            a, b = split_words(own)[row["word"]]
            assert a < row["to"]
            assert b > row["from"]
    assert {type(value) for row in rows for value in row.values()} <= {str, int, type(None)}


def test_added_tokens_can_be_left_out(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["I love [MASK]"], pad_to=12)[0]
    rows = token_rows(tokens, service.vocabulary(BUNDLED_ID), special=False)
    assert [row["token"] for row in rows] == ["i", "love", "[MASK]"]


# Pieces that a query finds in the vocabulary


@pytest.mark.parametrize("kind", ["all", "start", "continuation", "special"])
@pytest.mark.parametrize("query", ["an", "##an", "##", "", "[", "python", "sinan", "ZZ", "é"])
def test_pieces_that_begin_with_a_query_are_found(
    service: EncoderService, query: str, kind: Any
) -> None:
    vocabulary = service.vocabulary(BUNDLED_ID)
    expected = [
        i
        for i, piece in enumerate(vocabulary.pieces)
        if (piece.startswith(query) or piece.removeprefix("##").startswith(query))
        and kind in ("all", vocabulary.kinds[i])
    ]
    found = find_pieces(vocabulary, query, kind=kind)
    assert sorted(found) == expected
    exact = [i for i in found if query in (vocabulary.pieces[i], vocabulary.texts[i])]
    assert found[: len(exact)] == sorted(exact)
    assert found[len(exact) :] == sorted(set(found) - set(exact))


def test_a_query_is_looked_for_as_typed_and_as_read(service: EncoderService) -> None:
    vocabulary = service.vocabulary(BUNDLED_ID)
    assert find_pieces(vocabulary, "An") == []
    assert find_pieces(vocabulary, "An", "an") == find_pieces(vocabulary, "an")
    assert find_pieces(vocabulary, "an", "an") == find_pieces(vocabulary, "an")


@by_family
def test_an_empty_query_gives_every_piece_once(tiny_service: EncoderService, family: str) -> None:
    vocabulary = tiny_service.vocabulary(f"folder:{family}")
    assert find_pieces(vocabulary, "") == list(range(len(vocabulary.pieces)))
    each = [find_pieces(vocabulary, "", kind=k) for k in ("start", "continuation", "special")]
    assert sorted([*each[0], *each[1], *each[2]]) == list(range(len(vocabulary.pieces)))
