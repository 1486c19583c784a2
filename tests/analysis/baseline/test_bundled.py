"""The bundled model's own baseline: which words are sampled, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.analysis.baseline import WORDS_PER_SENTENCE, SampleWords, measure, sample_words
from components.analysis.words import POOLINGS, word_vectors
from components.content.bundled_texts import baseline_sentences
from components.core import BUNDLED_ID, EncoderService, Encoding
from components.core.words import Span, split_words


def long_words(text: str) -> list[Span]:
    return [(a, b) for a, b in split_words(text) if b - a >= 4 and text[a:b].isalpha()]


@dataclass(frozen=True)
class Sample:
    encodings: list[Encoding]
    rows: list[np.ndarray]
    spans: list[list[Span]]
    words: SampleWords


@pytest.fixture(scope="module")
def sample(service: EncoderService) -> Sample:
    texts = baseline_sentences()
    encodings = service.encode(BUNDLED_ID, texts)
    rows = [service.word_rows(BUNDLED_ID, encoding.token_ids) for encoding in encodings]
    spans = [long_words(text) for text in texts]
    return Sample(encodings, rows, spans, sample_words(encodings, rows, spans))


def test_a_few_words_of_every_sentence_are_sampled(sample: Sample) -> None:
    counts = np.bincount(sample.words.sentences, minlength=len(sample.spans))
    expected = [min(WORDS_PER_SENTENCE, len(spans)) for spans in sample.spans]
    assert counts.tolist() == expected
    n = sum(expected)
    assert n >= 800
    assert sample.words.vectors.shape == (3, n, 7, 384)
    assert sample.words.static.shape == (3, n, 384)
    assert sample.words.vectors.dtype == np.float32
    assert (np.diff(sample.words.sentences) >= 0).all()


def test_the_sampled_vectors_are_word_vectors_of_their_sentence(sample: Sample) -> None:
    for index in range(0, len(sample.words.sentences), 97):
        i = int(sample.words.sentences[index])
        for row, pooling in enumerate(POOLINGS):
            own = [word_vectors(sample.encodings[i], span, pooling) for span in sample.spans[i]]
            actual = sample.words.vectors[row, index]
            assert any(np.allclose(actual, vectors, atol=1e-6) for vectors in own)


@pytest.mark.slow
def test_no_word_is_sampled_twice(sample: Sample) -> None:
    first_layer = sample.words.vectors[0, :, 0]  # with the position in it: places tell apart
    for i in np.unique(sample.words.sentences):
        own = first_layer[sample.words.sentences == i]
        assert len(np.unique(own, axis=0)) == len(own)


@pytest.mark.slow
def test_sampling_again_gives_the_same_words(sample: Sample) -> None:
    again = sample_words(sample.encodings, sample.rows, sample.spans)
    np.testing.assert_array_equal(again.vectors, sample.words.vectors)
    np.testing.assert_array_equal(again.static, sample.words.static)


@pytest.mark.slow
def test_the_bundled_models_baseline_is_above_zero_and_centring_takes_that_away(
    sample: Sample,
) -> None:
    measured = measure(sample.words)
    assert measured.plain.shape == measured.centred.shape == (3, 4, 3, 7)
    for pooling in POOLINGS:
        plain, centred = (measured.band(pooling, centred=c) for c in (False, True))
        for band in (plain, centred):
            assert (band.low < band.mean).all()
            assert (band.mean < band.high).all()
            assert (np.abs([band.low, band.high]) < 1).all()
        assert (plain.mean > 0.01).all()
        assert (np.abs(centred.mean) < 0.01).all()


@pytest.mark.slow
def test_another_draw_of_pairs_would_give_nearly_the_same_band(sample: Sample) -> None:
    """Brute force over all pairs of the real words, at the last layer."""
    vectors = sample.words.vectors[0, :, -1]
    cosines = cosine_similarity(vectors)
    apart = sample.words.sentences[:, None] != sample.words.sentences[None]
    band = measure(sample.words).band("mean", centred=False)
    assert band.mean[-1] == pytest.approx(cosines[apart].mean(), abs=0.005)
    assert band.low[-1] == pytest.approx(np.percentile(cosines[apart], 5), abs=0.01)
    assert band.high[-1] == pytest.approx(np.percentile(cosines[apart], 95), abs=0.015)


@pytest.mark.slow
def test_words_of_several_pieces_are_more_alike_than_whole_ones(sample: Sample) -> None:
    """Held against all pairs, 43 of 100 pairs of cut words would stand out at layer 1."""
    measured = measure(sample.words)
    whole, cut = (measured.band("mean", centred=False, kind=k) for k in ("whole", "cut"))
    assert cut.mean[1] > whole.mean[1] + 0.1
    assert cut.high[1] > whole.high[1] + 0.1
