from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.analysis.words import POOLINGS, Pooling, pool, token_positions, word_vectors
from contextlens.core import BUNDLED_ID, EncoderService, Tokens
from contextlens.core.errors import RequestError
from contextlens.core.words import find_word, split_words
from tests.support.tiny_models import TYPICAL

ENGINEER = "She is a MachineLearning Engineer and works in California"


def tokens_of(service: EncoderService, text: str, **arguments: Any) -> Tokens:
    return service.tokenize(BUNDLED_ID, [text], **arguments)[0]


def pieces(service: EncoderService, text: str, span: tuple[int, int] | None) -> list[str]:
    assert span is not None
    tokens = tokens_of(service, text)
    return [tokens.tokens[i] for i in token_positions(tokens, span)]


# Positions


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        (ENGINEER, "MachineLearning", ["machine", "##lea", "##rn", "##ing"]),
        (ENGINEER, "California", ["california"]),
        ("Sinan loves a beautiful day", "Sinan", ["sin", "##an"]),
        ("I love my pet python", "python", ["python"]),
        ("a 🐍 bit me", "🐍", ["[UNK]"]),
        ("مرحبا my snake", "snake", ["snake"]),
        ("Don’t go", "Don’t", ["don", "’", "t"]),
        ("Naïve café", "café", ["cafe"]),
    ],
)
def test_a_word_is_the_tokens_that_share_its_characters(
    service: EncoderService, text: str, word: str, expected: list[str]
) -> None:
    assert pieces(service, text, find_word(text, word)) == expected


def test_any_occurrence_of_a_word_can_be_meant(service: EncoderService) -> None:
    text = "The bank by the bank is a Bank"
    found = [
        int(token_positions(tokens_of(service, text), find_word(text, "bank", n) or (0, 0))[0])
        for n in range(3)
    ]
    assert found == [2, 5, 8]


def test_a_phrase_is_all_its_tokens_and_none_of_its_neighbours(service: EncoderService) -> None:
    start = ENGINEER.index("Learning")
    span = (start, ENGINEER.index(" and"))
    assert pieces(service, ENGINEER, span) == ["##lea", "##rn", "##ing", "engineer"]


def test_a_piece_is_whole_even_where_the_span_cuts_it(service: EncoderService) -> None:
    assert pieces(service, "pythons", (0, 1)) == ["python"]
    assert pieces(service, "pythons", (2, 7)) == ["python", "##s"]
    assert pieces(service, "My [MASK] is a python", (3, 9)) == ["[MASK]"]


def test_the_whole_text_is_every_token_but_the_added_ones(service: EncoderService) -> None:
    tokens = tokens_of(service, ENGINEER, pad_to=20)
    positions = token_positions(tokens, (0, len(ENGINEER)))
    np.testing.assert_array_equal(positions, np.flatnonzero(tokens.text_ids == 0))
    assert not tokens.special_tokens_mask[positions].any()


def test_words_of_the_pair_are_found_in_the_pair(service: EncoderService) -> None:
    text, pair = "Which python is it?", "It is a Burmese python."
    tokens = tokens_of(service, text, pairs=[pair])
    in_text = token_positions(tokens, find_word(text, "python") or (0, 0))
    in_pair = token_positions(tokens, find_word(pair, "python") or (0, 0), text_id=1)
    assert in_text.tolist() == [2]
    second = tokens.tokens.index("[SEP]")
    assert all(position > second for position in in_pair)
    assert [tokens.tokens[i] for i in in_pair] == ["python"]


@pytest.mark.parametrize("family", TYPICAL)
def test_in_every_family_tokens_cover_their_word(tiny_service: EncoderService, family: str) -> None:
    text = "The teacher's unbelievable python slept, and 3.5 umbrellas were talking!"
    tokens = tiny_service.tokenize(f"folder:{family}", [text])[0]
    seen: set[int] = set()
    for start, end in split_words(text):
        positions = token_positions(tokens, (start, end))
        offsets = tokens.offsets[positions]
        assert offsets[:, 0].min() <= start
        assert offsets[:, 1].max() >= end
        assert (tokens.text_ids[positions] == 0).all()
        seen |= set(positions.tolist())
    own = np.flatnonzero(tokens.text_ids == 0)
    # A lone "▁" of a Unigram tokenizer stands for white space and is part of no word.
    assert all(not text[slice(*tokens.offsets[i])].strip() for i in set(own.tolist()) - seen)


# Words without tokens


def test_a_word_that_was_cut_off_is_refused_in_a_sentence(service: EncoderService) -> None:
    text = "word " * 600 + "python"
    tokens = tokens_of(service, text)
    assert tokens.n_truncated == 601 + 2 - 512
    with pytest.raises(RequestError) as caught:
        token_positions(tokens, (len(text) - 6, len(text)))
    message = str(caught.value)
    assert "“python”" in message
    assert str(tokens.n_truncated) in message
    assert "cut off" in message
    assert message.endswith(".")


def test_a_character_that_the_tokenizer_drops_is_refused(service: EncoderService) -> None:
    with pytest.raises(RequestError, match="drops"):
        token_positions(tokens_of(service, "\x00"), (0, 1))
    text = "a \x00 snake"
    assert pieces(service, text, find_word(text, "snake")) == ["snake"]
    with pytest.raises(RequestError, match="drops"):
        token_positions(tokens_of(service, text), (2, 3))


def test_a_dropped_character_before_the_cut_is_not_called_cut_off(service: EncoderService) -> None:
    tokens = tokens_of(service, "\x00 " + "word " * 600)
    with pytest.raises(RequestError, match="drops"):
        token_positions(tokens, (0, 1))


def test_a_long_word_is_shortened_in_the_message(service: EncoderService) -> None:
    text = "word " * 600 + "x" * 5000
    with pytest.raises(RequestError) as caught:
        token_positions(tokens_of(service, text), (3000, len(text)))
    assert "…”" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_the_pairs_own_text_is_named_in_the_message(service: EncoderService) -> None:
    tokens = tokens_of(service, "snake", pairs=["a \x00"])
    with pytest.raises(RequestError, match="“U\\+0000”"):
        token_positions(tokens, (2, 3), text_id=1)
    alone = tokens_of(service, "snake")
    with pytest.raises(RequestError):
        token_positions(alone, (0, 5), text_id=1)


# Pooling


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=4, max_side=6),
        elements=st.floats(-1000, 1000, width=32, allow_subnormal=False),
    )
)
@settings(deadline=None)
def test_pooling_is_numpys(vectors: np.ndarray) -> None:
    expected = vectors.astype(np.float64).mean(axis=-2)
    np.testing.assert_allclose(pool(vectors, "mean"), expected, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(pool(vectors, "first"), vectors[..., 0, :])
    np.testing.assert_array_equal(pool(vectors, "last"), vectors[..., -1, :])
    assert {pool(vectors, pooling).dtype for pooling in POOLINGS} == {np.dtype(np.float32)}


# Vectors


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_word_has_one_vector_for_each_layer(service: EncoderService, pooling: Pooling) -> None:
    encoding = service.encode(BUNDLED_ID, [ENGINEER])[0]
    vectors = word_vectors(encoding, find_word(ENGINEER, "MachineLearning") or (0, 0), pooling)
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    own = encoding.hidden[:, 4:8]
    expected = {"mean": own.mean(axis=1), "first": own[:, 0], "last": own[:, -1]}[pooling]
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)


def test_a_word_of_the_pair_has_vectors_too(service: EncoderService) -> None:
    encoding = service.encode(BUNDLED_ID, ["Which snake?"], pairs=["A python"])[0]
    position = encoding.tokens.index("python")
    np.testing.assert_array_equal(
        word_vectors(encoding, (2, 8), text_id=1), encoding.hidden[:, position]
    )
