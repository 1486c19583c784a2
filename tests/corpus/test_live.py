"""A corpus in memory answers what one on disk does, with the vectors that the model gives."""

from __future__ import annotations

import numpy as np
import pytest

from components.analysis.words import word_vectors
from components.core import BUNDLED_ID, EncoderService
from components.core.errors import CorpusError
from components.core.words import find_words
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.corpus.searchable import SearchableCorpus
from tests.support.texts import AWKWARD
from tests.support.tiny_models import FAMILIES

TEXTS = (
    "A python slept under the lamp. The python woke.",
    "She wrote a program in Python",
    "no snake here, only ice cream!",
)


def corpus_of(*texts: str, **own: object) -> Corpus:
    return Corpus("Some texts", texts, **own)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def live(tiny_service: EncoderService) -> LiveCorpus:
    labels = {"kind": ("snake", "language", ""), "split": ("train", "test", "dev")}
    own = corpus_of(*TEXTS, labels=labels)
    return LiveCorpus(own, tiny_service, "folder:bert", split="split")


def test_it_is_a_searchable_corpus(live: LiveCorpus) -> None:
    own: SearchableCorpus = live
    assert (own.title, own.model, own.n_texts) == ("Some texts", "folder:bert", 3)
    assert own.layers == (0, 1, 2, 3)
    assert own.n_dims == 32
    assert own.columns == ("kind", "split")
    assert own.split == "split"
    assert not own.has_targets


def test_every_occurrence_is_found_not_the_first_of_each_text(live: LiveCorpus) -> None:
    found = live.occurrences("PYTHON")
    assert found.word == "python"
    assert found.texts.tolist() == [0, 0, 1]
    assert found.surfaces == ("python", "python", "Python")
    assert found.left == ("a", "the", "in")
    assert found.right == ("slept", "woke", "")
    for text, span, surface in zip(found.texts, found.spans, found.surfaces, strict=True):
        assert TEXTS[text][slice(*span)] == surface
    assert (np.diff(found.rows) > 0).all()
    assert found.n_total == 3
    assert len(live.occurrences("lizard")) == 0


def test_words_are_counted_with_nearest_spellings_and_those_that_contain_one(
    live: LiveCorpus,
) -> None:
    assert live.words()[0].word == "python"
    assert live.words()[0].n == 3
    assert [own.word for own in live.words("s")] == ["she", "slept", "snake"]
    assert live.similar("pyton")[0].word == "python"
    assert "python" not in [own.word for own in live.similar("python")]
    assert [own.word for own in live.inside("ream")] == ["cream"]
    assert live.inside("python") == live.inside("") == live.similar("") == ()
    assert live.similar("x" * 10_000) == ()
    assert sum(own.n for own in live.words(n=1_000)) == live.n_occurrences


def test_the_vectors_are_the_means_of_the_words_tokens(
    live: LiveCorpus, tiny_service: EncoderService
) -> None:
    found = live.occurrences("python")
    for layer in live.layers:
        vectors = live.vectors(found, layer)
        assert vectors.dtype == np.float32
        for vector, text, span in zip(vectors, found.texts, found.spans, strict=True):
            (encoding,) = tiny_service.encode("folder:bert", [TEXTS[text]])
            expected = word_vectors(encoding, tuple(span))[layer]
            np.testing.assert_allclose(vector, expected, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_a_vector_for_each_occurrence(
    tiny_service: EncoderService, family: str
) -> None:
    texts = (*TEXTS, *AWKWARD.values())
    live = LiveCorpus(corpus_of(*texts), tiny_service, f"folder:{family}")
    own = live.at(np.arange(live.n_occurrences))
    vectors = live.vectors(own, live.layers[-1])
    assert len(vectors) == live.n_occurrences > 20
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=1) > 0).all()


def test_nearest_is_a_search_through_all_of_them(live: LiveCorpus) -> None:
    found = live.occurrences("python")
    vectors = live.vectors(found, 2)
    own = live.nearest(vectors[1], 2, 2, word="python")
    assert own.rows[0] == found.rows[1]
    assert own.cosines[0] == pytest.approx(1, abs=1e-5)
    every = live.nearest(vectors[1], 2, 1_000)
    assert len(every) == live.n_occurrences
    assert every.rows[0] == found.rows[1]
    assert (np.diff(every.cosines) <= 1e-6).all()
    assert live.at(every.rows[:2]).surfaces[0] == "python"
    assert len(live.nearest(vectors[1], 2, 5, word="lizard")) == 0


def test_a_sample_is_the_same_for_the_same_seed(live: LiveCorpus) -> None:
    one, other = (live.occurrences("python", most=2, seed=1) for _ in range(2))
    assert one.rows.tolist() == other.rows.tolist()
    assert one.is_sample
    assert one.n_total == 3
    np.testing.assert_array_equal(
        live.vectors(one, 1), live.vectors(live.occurrences("python"), 1)[[*_places(live, one)]]
    )


def _places(live: LiveCorpus, own: object) -> list[int]:
    rows = live.occurrences("python").rows.tolist()
    return [rows.index(row) for row in own.rows.tolist()]  # type: ignore[attr-defined]


def test_a_marked_span_is_a_target_though_it_be_two_words(tiny_service: EncoderService) -> None:
    spans = ((2, 8), (23, 29), (20, 29))
    live = LiveCorpus(corpus_of(*TEXTS, spans=spans), tiny_service, "folder:bert")
    assert live.has_targets
    assert live.occurrences("python").is_target.tolist() == [True, False, True]
    (text,) = live.occurrences("ice cream").texts
    assert text == 2
    assert live.occurrences("ice cream").left == ("only",)
    assert live.occurrences("ice cream").is_target.all()
    assert not live.occurrences("cream").is_target.any()


def test_words_cut_off_by_the_models_length_are_left_out_and_counted(
    tiny_service: EncoderService,
) -> None:
    long = "word " * 100 + "python"
    live = LiveCorpus(corpus_of(long, "a python"), tiny_service, "folder:bert")
    assert live.occurrences("python").texts.tolist() == [1]
    assert live.n_cut == 101 - len(live.occurrences("word"))
    assert live.n_cut > 30


def test_what_is_not_there_is_said_in_a_sentence(live: LiveCorpus) -> None:
    found = live.occurrences("python")
    with pytest.raises(CorpusError, match=r"no vectors of layer 9; it has layers 0 to 3\."):
        live.vectors(found, 9)
    with pytest.raises(CorpusError, match="no column “sense”; it has: “kind”, “split”"):
        live.column("sense", found.texts)
    with pytest.raises(CorpusError, match="has 32 numbers, and one of 5"):
        live.nearest(np.ones(5), 0, 3)
    with pytest.raises(CorpusError, match="texts 0 to 2"):
        live.text(np.array([3]))
    with pytest.raises(CorpusError, match="one of another was asked"):
        live.at(np.array([-1]))


def test_a_corpus_without_words_has_none(tiny_service: EncoderService) -> None:
    for texts in ((), ("!?", "…")):
        live = LiveCorpus(corpus_of(*texts), tiny_service, "folder:bert")
        assert live.n_occurrences == 0
        assert live.words() == ()
        assert len(live.occurrences("a")) == 0
        assert live.vectors(live.occurrences("a"), 0).shape == (0, 32)


@pytest.mark.slow
def test_the_bundled_words_are_all_targets(service: EncoderService) -> None:
    corpus = ambiguous_corpus()
    live = LiveCorpus(corpus, service, BUNDLED_ID)
    for word in dict.fromkeys(corpus.labels["word"]):
        found = live.occurrences(word)
        own = [i for i, known in enumerate(corpus.labels["word"]) if known == word]
        marked = found.take(np.flatnonzero(found.is_target))
        assert marked.texts.tolist() == own
        assert set(live.column("word", marked.texts)) == {word}
    assert live.words("python")[0].n == sum(
        len(find_words(text, "python")) for text in corpus.texts
    )


@pytest.mark.slow
def test_the_sentiment_set_marks_no_word(service: EncoderService) -> None:
    live = LiveCorpus(sentiment_corpus(), service, BUNDLED_ID, split="split")
    assert not live.has_targets
    assert live.split == "split"
    assert not live.occurrences("the").is_target.any()
