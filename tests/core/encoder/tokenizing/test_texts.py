"""From texts and pairs to tokens: facts, offsets, words and odd input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import BUNDLED_ID, EncoderService, Tokens
from contextlens.core.words import split_words
from tests.core.encoder.tokenizing.cutting import KINDS, by_kind
from tests.support.tiny_models import FROM_PADDING, TWO_SEGMENTS

ODD_TEXTS = {
    "emoji": "I 🐍 Python 👩‍🚀 and 🇫🇷!",
    "right to left": "אני אוהב פייתון, وأحب القهوة",
    "html": "<b onclick=\"alert('x')\">bank</b> &amp; <script>",
    "nul": "py\x00thon\x00",
    "typed specials": "[MASK] <mask> [CLS] <s> [SEP] </s> [PAD] <pad> [UNK] <unk>",
    "combining": "e\u0301 n\u0303 naïve ﬁne ½ Ⅷ",
    "white space": "  two\t\ttabs\n\nand lines  ",
    "no spaces": "你好世界 ありがとう",
    "one long word": "a" * 150,
    "empty": "",
    "only spaces": "   ",
}
SPECIALS = dict.fromkeys(FROM_PADDING, "<mask>")


def source(tokens: Tokens, i: int) -> str:
    """The text that a token came from."""
    return tokens.text if tokens.text_ids[i] == 0 else str(tokens.pair)


def slices(tokens: Tokens) -> list[str]:
    """The piece of text behind each token."""
    return [source(tokens, i)[a:b] for i, (a, b) in enumerate(tokens.offsets)]


def test_token_facts_of_the_uncased_vocabulary(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    for fact in facts["tokenization"]:
        tokens = service.tokenize(BUNDLED_ID, [fact["text"]], pad_to=fact.get("pad_to"))[0]
        for name in ("token_ids", "attention_mask", "token_type_ids"):
            if name in fact:
                assert getattr(tokens, name).tolist() == fact[name], fact["text"]
        if "tokens" in fact:
            assert list(tokens.tokens) == fact["tokens"]


def test_offsets_give_each_token_its_text(service: EncoderService) -> None:
    for tokens in service.tokenize(BUNDLED_ID, baseline_sentences()):
        for token, piece in zip(tokens.tokens[1:-1], slices(tokens)[1:-1], strict=True):
            if token != "[UNK]" and piece.isascii():
                assert piece.lower() == token.removeprefix("##")
        covered = {i for a, b in tokens.offsets for i in range(a, b)}
        assert {i for i, c in enumerate(tokens.text) if not c.isspace()} <= covered


@by_kind
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_texts_are_cut_as_transformers_cuts_them(
    text: str, model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    tokens = cut(text)
    limit = 512 if model == BUNDLED_ID else 64
    expected = reference[model](
        text,
        truncation=True,
        max_length=limit,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    assert tokens.token_ids.tolist() == expected["input_ids"]
    assert list(tokens.tokens) == reference[model].convert_ids_to_tokens(expected["input_ids"])
    assert tokens.special_tokens_mask.tolist() == expected["special_tokens_mask"]
    assert [tuple(row) for row in tokens.offsets] == expected["offset_mapping"]
    assert tokens.attention_mask.all()


@by_kind
def test_odd_texts_can_be_encoded(model: str, tiny_service: EncoderService) -> None:
    for text, encoding in zip(
        ODD_TEXTS.values(), tiny_service.encode(model, list(ODD_TEXTS.values())), strict=True
    ):
        assert encoding.text == text
        assert encoding.hidden.shape[1] == encoding.n_tokens
        assert np.isfinite(encoding.hidden).all()


def test_no_texts_give_no_tokens(model: str, tiny_service: EncoderService) -> None:
    assert tiny_service.tokenize(model, []) == []
    assert tiny_service.encode(model, []) == []


def test_nul_disappears_from_the_tokens_but_not_from_the_text(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["a py\x00thon"])[0]
    assert list(tokens.tokens) == ["[CLS]", "a", "python", "[SEP]"]
    assert slices(tokens)[2] == "py\x00thon"


def test_a_typed_mask_is_the_special_id_but_not_an_added_token(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    mask = SPECIALS.get(model.removeprefix("folder:"), "[MASK]")
    tokens = cut(f"I {mask} you")
    i = tokens.token_ids.tolist().index(reference[model].mask_token_id)
    assert tokens.tokens[i] == mask
    assert tokens.special_tokens_mask[i] == 0
    assert tokens.text_ids[i] == 0
    assert slices(tokens)[i].strip() == mask


def test_the_bytes_of_an_emoji_all_point_to_it(tiny_service: EncoderService) -> None:
    tokens = tiny_service.tokenize("folder:roberta", ["a🐍b"])[0]
    assert slices(tokens)[1:-1] == ["a", "🐍", "🐍", "🐍", "🐍", "b"]
    assert tokens.word_ids[2:6].tolist() == [1, 1, 1, 1]


def test_words_are_unicode_words_not_the_tokenizers_own(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["She isn't here, is 3.14 embeddings"])[0]
    words: dict[int, list[str]] = {}
    for token, word in zip(tokens.tokens, tokens.word_ids.tolist(), strict=True):
        words.setdefault(word, []).append(token)
    assert words == {
        -1: ["[CLS]", "[SEP]"],
        0: ["she"],
        1: ["isn", "'", "t"],
        2: ["here"],
        3: [","],
        4: ["is"],
        5: ["3", ".", "14"],
        6: ["em", "##bed", "##ding", "##s"],
    }


@by_kind
def test_each_token_lies_in_its_word(cut: Callable[..., Tokens]) -> None:
    for text in baseline_sentences()[:60]:
        tokens = cut(text)
        spans = split_words(text)
        for (a, b), word in zip(tokens.offsets, tokens.word_ids, strict=True):
            if text[a:b].strip():
                assert spans[word][0] < b
                assert spans[word][1] > a
        assert np.all(np.diff(tokens.word_ids[tokens.word_ids >= 0]) >= 0)
        if not tokens.n_truncated:
            assert set(range(len(spans))) == {w for w in tokens.word_ids.tolist() if w >= 0}


def test_pairs_keep_their_texts_apart(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    text, pair = "the bank", "of the river is green"
    tokens = cut(text, pair)
    expected = reference[model](text, pair, return_special_tokens_mask=True)
    assert tokens.token_ids.tolist() == expected["input_ids"]
    assert tokens.special_tokens_mask.tolist() == expected["special_tokens_mask"]
    assert tokens.text_ids.tolist() == [-1 if s is None else s for s in expected.sequence_ids()]
    assert (tokens.text, tokens.pair) == (text, pair)
    for which, whole in enumerate((text, pair)):
        ours = tokens.text_ids == which
        covered = {i for a, b in tokens.offsets[ours] for i in range(a, b)}
        assert {i for i, c in enumerate(whole) if c != " "} <= covered <= set(range(len(whole)))
        # A token that is only a space (RoBERTa has some) belongs to no word.
        words = set(tokens.word_ids[ours].tolist()) - {-1}
        assert words == set(range(len(whole.split())))


def test_segments_are_told_where_the_model_has_them(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    family = model.removeprefix("folder:")
    tokens = cut("the bank", "of the river")
    if family in {BUNDLED_ID, *TWO_SEGMENTS}:
        # ALBERT's tokenizer returns segments only on request.
        asked = reference[model]("the bank", "of the river", return_token_type_ids=True)
        expected = asked["token_type_ids"]
        assert tokens.token_type_ids is not None
        assert tokens.token_type_ids.tolist() == expected
        assert set(expected) == {0, 1}
    else:
        assert tokens.token_type_ids is None


def test_arrays_are_int64_and_read_only(cut: Callable[..., Tokens]) -> None:
    tokens = cut("a python slept", "by the river", pad_to=40)
    arrays = {
        field.name: value
        for field in dataclasses.fields(tokens)
        if isinstance(value := getattr(tokens, field.name), np.ndarray)
    }
    assert len(arrays) >= 6
    for name, array in arrays.items():
        assert array.dtype == np.int64, name
        assert array.shape == ((40, 2) if name == "offsets" else (40,)), name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@settings(deadline=None, max_examples=50)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_is_cut_as_transformers_cuts_it(
    text: str, tiny_service: EncoderService, reference: dict[str, Any]
) -> None:
    for model in KINDS:
        tokenizer = reference[model]
        tokens = tiny_service.tokenize(model, [text])[0]
        limit = 512 if model == BUNDLED_ID else 64
        expected = tokenizer(text, truncation=True, max_length=limit)["input_ids"]
        assert tokens.token_ids.tolist() == expected
        starts, ends = tokens.offsets[tokens.text_ids == 0].T
        assert np.all(starts >= 0)
        assert np.all(starts <= ends)
        assert np.all(ends <= len(text))
        assert np.all(np.diff(starts) >= 0)
        n_words = len(split_words(text))
        assert np.all((tokens.word_ids >= -1) & (tokens.word_ids < n_words))
