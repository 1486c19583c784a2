"""Words as the means of their tokens, and the sample's words."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from contextlens.features.layers.controls import MAX_COMPARED_WORDS
from contextlens.features.layers.word_vectors import join, sample_choice, words_of
from tests.support.tiny_models import TYPICAL

TEXTS = ["I love my pet python", "Its unbelievability is overrated, she said."]


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in TYPICAL)])
def test_words_are_the_means_of_their_tokens(tiny_service: EncoderService, model: str) -> None:
    encodings = tiny_service.encode(model, TEXTS, pairs=[None, "One word, many meanings"])
    found = words_of(encodings)
    for (sentence, which, word), own in zip(
        found.keys, np.swapaxes(found.vectors, 0, 1), strict=True
    ):
        encoding = encodings[sentence]
        start, end = split_words((encoding.text, encoding.pair)[which])[word]
        inside = [
            i
            for i in range(encoding.n_tokens)
            if encoding.text_ids[i] == which
            and encoding.offsets[i, 0] < end
            and encoding.offsets[i, 1] > start
        ]
        np.testing.assert_allclose(own, encoding.hidden[:, inside].mean(axis=1), atol=1e-5)
    assert len(set(found.keys)) == len(found.keys) >= 15


def test_there_are_at_most_so_many_words_and_none_in_blank_texts(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, ["one two three four " * 100] * 2)
    assert len(words_of(encodings).keys) == MAX_COMPARED_WORDS
    assert words_of(service.encode(BUNDLED_ID, ["", "  "])).vectors.shape == (7, 0, 384)


def test_runs_of_sentences_join_to_what_one_run_gives(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, [*TEXTS, "A third one"])
    parts = [words_of(encodings[:2]), words_of(encodings[2:])]
    joined, whole = join(parts, [2, 1]), words_of(encodings)
    assert joined.keys == whole.keys
    np.testing.assert_array_equal(joined.vectors, whole.vectors)


def test_the_sample_s_words_are_long_few_and_always_the_same() -> None:
    texts = TEXTS * 5
    chosen = sample_choice(texts)
    assert chosen == sample_choice(texts)
    for text, own in zip(texts, chosen, strict=True):
        words = [text[start:end] for start, end in split_words(text)]
        assert len(own) <= 4
        assert all(len(words[i]) >= 4 and words[i].isalpha() for i in own)
