"""How texts become tokens: facts, offsets, words, pairs, padding, truncation and odd input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from components.content.sample import baseline_sentences
from components.core import BUNDLED_ID, EncoderService, Tokens
from components.core.errors import RequestError, TextError
from components.core.words import split_words
from tests.support.tiny_models import FAMILIES

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
SPECIALS = {"albert": "[MASK]", "roberta": "<mask>", "xlm-roberta": "<mask>", "mpnet": "<mask>"}


@pytest.fixture(scope="module")
def reference(tiny_root: Path, bundled_folder: Path) -> dict[str, Any]:
    """Each model's tokenizer as transformers reads it."""
    folders = {f"folder:{name}": tiny_root / name for name in FAMILIES}
    folders[BUNDLED_ID] = bundled_folder
    return {model: AutoTokenizer.from_pretrained(folder) for model, folder in folders.items()}


KINDS = (BUNDLED_ID, "folder:roberta", "folder:xlm-roberta")
"""One model for each way of cutting: WordPiece, byte pairs, Unigram."""

by_kind = pytest.mark.parametrize("model", KINDS, indirect=True)


@pytest.fixture(params=[BUNDLED_ID, *(f"folder:{name}" for name in FAMILIES)])
def model(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def cut(tiny_service: EncoderService, model: str) -> Callable[..., Tokens]:
    """Tokenizes one text (and pair) with the model of the test."""

    def one(text: str, pair: str | None = None, pad_to: int | None = None) -> Tokens:
        pairs = None if pair is None else [pair]
        return tiny_service.tokenize(model, [text], pairs=pairs, pad_to=pad_to)[0]

    return one


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


def test_vocabulary_facts(service: EncoderService, facts: dict[str, Any]) -> None:
    ids = facts["vocabulary"]["ids"]
    assert service.load(BUNDLED_ID).vocabulary_size == facts["vocabulary"]["size"]
    tokens = service.tokenize(BUNDLED_ID, ["an sinan"], pad_to=8)[0]
    assert list(tokens.tokens) == ["[CLS]", "an", "sin", "##an", "[SEP]", *["[PAD]"] * 3]
    named = dict(zip(tokens.tokens, tokens.token_ids.tolist(), strict=True))
    assert {name: named[name] for name in ids} == ids


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
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_odd_texts_can_be_encoded(text: str, model: str, tiny_service: EncoderService) -> None:
    encoding = tiny_service.encode(model, [text])[0]
    assert encoding.text == text
    assert encoding.hidden.shape[1] == encoding.n_tokens
    assert np.isfinite(encoding.hidden).all()


def test_an_empty_text_is_only_special_tokens(cut: Callable[..., Tokens]) -> None:
    tokens = cut("")
    assert tokens.n_tokens == 2
    assert tokens.special_tokens_mask.tolist() == [1, 1]
    assert tokens.word_ids.tolist() == [-1, -1]
    assert tokens.n_truncated == 0


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
        # A token that is nothing but a space (RoBERTa has such) belongs to no word.
        words = set(tokens.word_ids[ours].tolist()) - {-1}
        assert words == set(range(len(whole.split())))


def test_segments_are_told_where_the_model_has_them(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    family = model.removeprefix("folder:")
    tokens = cut("the bank", "of the river")
    if family in {"distilbert", "mpnet"}:
        assert tokens.token_type_ids is None
    elif family not in {"roberta", "xlm-roberta"}:
        # ALBERT's tokenizer hands its segments out only when asked.
        asked = reference[model]("the bank", "of the river", return_token_type_ids=True)
        expected = asked["token_type_ids"]
        assert tokens.token_type_ids is not None
        assert tokens.token_type_ids.tolist() == expected
        assert set(expected) == {0, 1}


def test_a_pair_that_is_none_is_no_pair(model: str, tiny_service: EncoderService) -> None:
    alone, paired = tiny_service.tokenize(model, ["a snake"] * 2, pairs=[None, "a river"])
    assert alone.pair is None
    assert alone.n_tokens < paired.n_tokens
    assert set(alone.text_ids.tolist()) == {-1, 0}


def test_padding_equals_that_of_transformers(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    tokens = cut("a python slept", pad_to=30)
    expected = reference[model](
        "a python slept",
        padding="max_length",
        max_length=30,
        return_special_tokens_mask=True,
        return_offsets_mapping=True,
    )
    assert tokens.n_tokens == 30
    assert tokens.token_ids.tolist() == expected["input_ids"]
    assert tokens.attention_mask.tolist() == expected["attention_mask"]
    assert tokens.special_tokens_mask.tolist() == expected["special_tokens_mask"]
    assert [tuple(row) for row in tokens.offsets] == expected["offset_mapping"]
    padding = tokens.attention_mask == 0
    assert padding.any()
    assert {tokens.tokens[i] for i in np.flatnonzero(padding)} == {reference[model].pad_token}
    assert set(tokens.word_ids[padding].tolist()) == {-1}
    assert set(tokens.text_ids[padding].tolist()) == {-1}


def test_padding_to_the_exact_length_adds_nothing(cut: Callable[..., Tokens]) -> None:
    n_tokens = cut("a python slept").n_tokens
    assert cut("a python slept", pad_to=n_tokens).attention_mask.tolist() == [1] * n_tokens


@by_kind
@pytest.mark.parametrize("pad_to", [3, 1, 0, -5, 100_000])
def test_padding_that_does_not_fit_is_refused(pad_to: int, cut: Callable[..., Tokens]) -> None:
    with pytest.raises(RequestError, match=str(pad_to)):
        cut("a python slept", pad_to=pad_to)


def test_padding_beyond_the_models_length_is_refused(
    model: str, tiny_service: EncoderService
) -> None:
    limit = tiny_service.load(model).max_length
    assert limit == (512 if model == BUNDLED_ID else 64)
    assert tiny_service.tokenize(model, ["a"], pad_to=limit)[0].n_tokens == limit
    for call in (tiny_service.tokenize, tiny_service.encode):
        with pytest.raises(RequestError):
            call(model, ["a"], pad_to=limit + 1)


def test_six_hundred_tokens_are_cut_and_counted(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 600])[0]
    assert tokens.n_tokens == 512
    assert tokens.tokens[-1] == "[SEP]"
    assert tokens.n_truncated == 600 - 510
    assert service.encode(BUNDLED_ID, ["python " * 600])[0].hidden.shape[1] == 512


def test_tokens_lost_from_a_pair_are_counted(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 400], pairs=["snake " * 300])[0]
    assert tokens.n_tokens == 512
    assert tokens.n_truncated == 400 + 300 - 509
    assert {0, 1} <= set(tokens.text_ids.tolist())
    assert tokens.text.count("python") == 400


@by_kind
@pytest.mark.parametrize("pair", [None, "b " * 41])
def test_what_was_lost_is_the_difference_to_the_whole(
    pair: str | None, model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    whole = len(reference[model]("a " * 700, pair, verbose=False)["input_ids"])
    tokens = cut("a " * 700, pair)
    limit = 512 if model == BUNDLED_ID else 64
    assert (tokens.n_tokens, tokens.n_truncated) == (limit, whole - limit)


def test_a_text_that_fits_exactly_loses_nothing(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 510])[0]
    assert (tokens.n_tokens, tokens.n_truncated) == (512, 0)


def test_one_long_text_does_not_cut_its_neighbours(service: EncoderService) -> None:
    texts = ["short", "python " * 600, "also short"]
    found = service.tokenize(BUNDLED_ID, texts)
    assert [t.n_truncated for t in found] == [0, 90, 0]
    assert [t.n_tokens for t in found] == [3, 512, 4]


@pytest.mark.parametrize("method", ["tokenize", "encode"])
@pytest.mark.parametrize(
    "bad",
    ["\ud83d", "half \udc0d a snake", None, 7, b"bytes", ["a", "list"]],
    ids=["high", "low", "None", "int", "bytes", "list"],
)
def test_what_is_not_a_text_is_refused(method: str, bad: Any, service: EncoderService) -> None:
    call = getattr(service, method)
    with pytest.raises(TextError):
        call(BUNDLED_ID, ["fine", bad])
    if bad is not None:
        with pytest.raises(TextError):
            call(BUNDLED_ID, ["fine"], pairs=[bad])


@pytest.mark.parametrize("method", ["tokenize", "encode"])
def test_a_lone_text_instead_of_a_list_is_refused(method: str, service: EncoderService) -> None:
    call = getattr(service, method)
    with pytest.raises(RequestError):
        call(BUNDLED_ID, "one text")
    with pytest.raises(RequestError):
        call(BUNDLED_ID, ["one text"], pairs="x")


@pytest.mark.parametrize("pairs", [[], ["one"], ["one", "two", "three"]], ids=len)
def test_pairs_of_another_number_are_refused(pairs: list[str], service: EncoderService) -> None:
    for call in (service.tokenize, service.encode):
        with pytest.raises(RequestError):
            call(BUNDLED_ID, ["a", "b"], pairs=pairs)


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
