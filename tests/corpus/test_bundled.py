"""The bundled corpus, and what the bundled model makes of it: where it parts senses, and where not.

The thresholds state facts measured on the model's pinned weights, with room around them.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import cosine_similarity

from components.analysis.words import token_positions, word_vectors
from components.content.bundled_texts import ambiguous_words, sentiment_sentences
from components.core import BUNDLED_ID, EncoderService
from components.core.words import find_word
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus

CORPUS = ambiguous_corpus()
WORDS = tuple(dict.fromkeys(CORPUS.labels["word"]))
N_LAYERS = 6


def test_it_has_every_sentence_of_the_file_in_its_order() -> None:
    assert CORPUS.name == "Ambiguous words"
    assert CORPUS.texts == tuple(entry.text for entry in ambiguous_words())
    assert not CORPUS.notes


def test_every_sentence_has_its_labels_and_its_word() -> None:
    assert list(CORPUS.labels) == ["word", "sense"]
    assert CORPUS.spans is not None
    columns = (CORPUS.texts, CORPUS.spans, *CORPUS.labels.values(), ambiguous_words())
    for text, span, word, sense, entry in zip(*columns, strict=True):
        assert (word, sense) == (entry.word, f"{entry.word}: {entry.sense}")
        assert span == find_word(text, word)
        assert text[slice(*span)].casefold() == word


def test_a_sense_read_alone_names_one_word() -> None:
    pairs = set(zip(CORPUS.labels["word"], CORPUS.labels["sense"], strict=True))
    assert len({sense for _, sense in pairs}) == len(pairs)
    assert {"python: animal", "python: language"} <= {sense for _, sense in pairs}


def test_it_is_made_once_and_its_labels_cannot_be_changed() -> None:
    assert ambiguous_corpus() is CORPUS
    with pytest.raises(TypeError):
        CORPUS.labels["word"] = ()  # type: ignore[index]
    parts = {"labels": dict(CORPUS.labels), "spans": CORPUS.spans}
    assert Corpus("again", CORPUS.texts, **parts).digest == CORPUS.digest


def test_the_sentiment_corpus_has_every_sentence_of_its_file_with_its_labels() -> None:
    corpus, entries = sentiment_corpus(), sentiment_sentences()
    assert corpus.name == "Sentiment"
    assert corpus.texts == tuple(entry.text for entry in entries)
    assert list(corpus.labels) == ["sentiment", "kind", "split"]
    for title, own in corpus.labels.items():
        assert own == tuple(getattr(entry, title) for entry in entries), title
    assert corpus.spans is None
    assert not corpus.notes


def test_the_sentiment_corpus_is_made_once_and_its_labels_cannot_be_changed() -> None:
    assert sentiment_corpus() is sentiment_corpus()
    with pytest.raises(TypeError):
        sentiment_corpus().labels["sentiment"] = ()  # type: ignore[index]


# What the bundled model makes of it


@pytest.fixture(scope="module")
def vectors(service: EncoderService) -> np.ndarray:
    """(n_layers + 1, n_sentences, n_dims): the chosen words at each layer."""
    encodings = service.encode(BUNDLED_ID, CORPUS.texts)
    found = zip(encodings, CORPUS.spans or (), strict=True)
    return np.stack([word_vectors(encoding, span) for encoding, span in found], axis=1)


def of_word(word: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a word's sentences, and their senses."""
    rows = np.flatnonzero(np.array(CORPUS.labels["word"]) == word)
    return rows, np.array(CORPUS.labels["sense"])[rows]


def same_sense_neighbours(vectors: np.ndarray, word: str) -> np.ndarray:
    """(n_layers + 1,) share of a word's occurrences whose nearest other one has its sense."""
    rows, senses = of_word(word)
    shares = []
    for layer in vectors[:, rows]:
        cosines = cosine_similarity(layer)
        np.fill_diagonal(cosines, -np.inf)
        shares.append((senses[cosines.argmax(axis=1)] == senses).mean())
    return np.array(shares)


def silhouettes(vectors: np.ndarray, word: str) -> np.ndarray:
    """(n_layers + 1,) mean silhouette of a word's senses by cosine."""
    rows, senses = of_word(word)
    return np.array([silhouette_score(v, senses, metric="cosine") for v in vectors[:, rows]])


@pytest.mark.slow
def test_a_word_is_always_nearest_to_itself_elsewhere(vectors: np.ndarray) -> None:
    """Whatever the sentence does, the nearest of all occurrences is one of the same word."""
    words = np.array(CORPUS.labels["word"])
    for layer in vectors:
        cosines = cosine_similarity(layer)
        np.fill_diagonal(cosines, -np.inf)
        np.testing.assert_array_equal(words[cosines.argmax(axis=1)], words)


def test_at_layer_0_only_the_place_tells_occurrences_apart(
    service: EncoderService, vectors: np.ndarray
) -> None:
    """So nearest neighbours there are ties, and say nothing of senses."""
    rows, _ = of_word("python")
    tokens = service.tokenize(BUNDLED_ID, CORPUS.texts)
    spans = CORPUS.spans or ()
    places = np.array([token_positions(tokens[i], spans[i])[0] for i in rows])
    same_place = places[:, None] == places
    assert same_place.sum() > len(rows), "some occurrences share their place"
    alike = cosine_similarity(vectors[0, rows])
    np.testing.assert_allclose(alike[same_place], 1, rtol=0, atol=1e-5)
    assert alike[~same_place].max() < 0.999


def test_the_encoder_parts_the_two_pythons(vectors: np.ndarray) -> None:
    """Not at layer 0, in part at layer 1, most at layer 5; the last layer takes some back."""
    parted = silhouettes(vectors, "python")
    assert len(parted) == N_LAYERS + 1
    assert parted[0] < 0.05
    assert parted[0] + 0.1 < parted[1] < parted[N_LAYERS] - 0.04
    assert parted.argmax() == 5
    assert parted[5] > parted[N_LAYERS] + 0.04


def test_most_pythons_but_not_all_have_a_neighbour_of_their_sense(vectors: np.ndarray) -> None:
    """By chance 0.48 would; the share, too, is lower at layer 1 and highest before the end."""
    shares = same_sense_neighbours(vectors, "python")
    assert 0.6 < shares[1] < 0.75 < shares[N_LAYERS] < 0.85
    assert shares[1] < shares[4:6].min() - 0.05
    assert shares[4:6].min() > shares[N_LAYERS]


def test_the_model_hardly_parts_the_two_bats(vectors: np.ndarray) -> None:
    """Bat keeps the lowest silhouette of all words, near zero at every layer; python the best."""
    highest = {word: silhouettes(vectors, word).max() for word in WORDS}
    assert min(highest, key=highest.__getitem__) == "bat"
    assert highest["bat"] < 0.05
    assert max(highest, key=highest.__getitem__) == "python"
    assert same_sense_neighbours(vectors, "bat")[1:].max() < 0.65


def test_over_all_words_the_layers_help_and_leave_much_to_do(vectors: np.ndarray) -> None:
    shares = np.mean([same_sense_neighbours(vectors, word) for word in WORDS], axis=0)
    assert 0.5 < shares[1] < 0.6 < shares[N_LAYERS] < 0.75
