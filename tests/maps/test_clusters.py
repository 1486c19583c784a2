"""Clusters of a map and their typical words, against scikit-learn and against sums by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy.stats import fisher_exact
from sklearn.cluster import HDBSCAN
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.metrics import adjusted_rand_score

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core.errors import RequestError
from contextlens.maps.clusters import (
    MAX_CLUSTERED,
    MIN_LIFT,
    MIN_SHARE,
    RISK,
    cluster,
    cluster_labels,
)
from contextlens.maps.points import Points
from contextlens.maps.typical import count_terms, typical_of


def typical_words(
    documents: list[str], labels: list[int] | np.ndarray, *, n_words: int = 3
) -> dict[int, tuple[str, ...]]:
    texts = tuple(dict.fromkeys(documents))
    which = np.array([texts.index(own) for own in documents], dtype=np.int64)
    return typical_of(count_terms(texts), which, np.asarray(labels, np.int64), n_words=n_words)


def blobs(n: int, *, k: int = 5, n_axes: int = 2, seed: int = 0):
    """k round clusters far apart, sizes falling, and the cluster that each point was drawn from."""
    random = np.random.default_rng(seed)
    share = np.arange(k, 0, -1) + 2.0
    own = random.choice(k, n, p=share / share.sum())
    centres = np.zeros((k, n_axes))
    centres[:, :2] = 10 * np.stack([np.cos(np.arange(k)), np.sin(np.arange(k))], axis=1)
    return (centres[own] + random.normal(0, 0.5, (n, n_axes))).astype(np.float32), own


def words_of(sentences, word=None) -> Points:
    """A point for a word of each sentence, the first where none is named."""
    names = [word or sentence.split()[0] for sentence in sentences]
    starts = [sentence.index(name) for sentence, name in zip(sentences, names, strict=True)]
    spans = np.array([(a, a + len(name)) for a, name in zip(starts, names, strict=True)])
    return Points("words", tuple(sentences), np.arange(len(sentences)), spans, tuple(names))


# Clusters


@pytest.mark.parametrize(("n", "n_axes"), [(300, 3), (5_000, 2), (MAX_CLUSTERED + 5_000, 2)])
def test_clusters_are_those_that_the_points_were_drawn_from(n: int, n_axes: int) -> None:
    places, own = blobs(n, n_axes=n_axes)
    found = cluster(places)
    inside = found >= 0
    assert inside.mean() > 0.9
    assert adjusted_rand_score(own[inside], found[inside]) > 0.99


def test_few_points_have_the_clusters_of_scikit_learn() -> None:
    places, _ = blobs(400)
    theirs = HDBSCAN(min_cluster_size=10, min_samples=5, copy=True).fit(places).labels_
    ours = cluster(places)
    assert adjusted_rand_score(theirs, ours) == 1
    assert ((theirs < 0) == (ours < 0)).all()


def test_clusters_are_numbered_from_the_largest_on() -> None:
    found = cluster(blobs(2_000)[0])
    sizes = np.bincount(found[found >= 0])
    assert len(sizes) == 5
    assert (np.diff(sizes) <= 0).all()
    assert found.dtype == np.int64


@pytest.mark.slow
@pytest.mark.parametrize("n", [500, MAX_CLUSTERED + 1])
def test_the_same_map_always_has_the_same_clusters(n: int) -> None:
    places, _ = blobs(n, seed=3)
    kept = places.copy()
    np.testing.assert_array_equal(cluster(places), cluster(places))
    np.testing.assert_array_equal(places, kept)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_too_few_points_are_in_no_cluster(n: int) -> None:
    assert (cluster(blobs(n)[0]) == np.full(n, -1)).all()


def test_points_that_fall_together_are_clustered() -> None:
    """Repeated sentences have one place: distances of 0."""
    places = np.repeat(blobs(6, k=6, seed=1)[0] + np.arange(6)[:, None], 20, axis=0)
    found = cluster(places.astype(np.float32))
    assert len(set(found)) >= 2
    assert all(len(set(found[i : i + 20])) == 1 for i in range(0, 120, 20))


def test_what_is_no_map_is_refused() -> None:
    with pytest.raises(RequestError, match=r"shape \(4,\)"):
        cluster(np.zeros(4, np.float32))
    with pytest.raises(RequestError, match="finite"):
        cluster(np.full((9, 2), np.nan, np.float32))
    with pytest.raises(RequestError, match="at least 2"):
        cluster(blobs(9)[0], least=1)


# Typical words


def by_sklearn(documents, labels) -> dict[int, dict[str, float]]:
    """c-TF-IDF as its paper has it, on scikit-learn's own counts."""
    numbers = sorted(set(labels))
    pairs = list(zip(documents, labels, strict=True))
    joined = [" ".join(text for text, own in pairs if own == number) for number in numbers]
    counter = CountVectorizer(token_pattern=r"[^\W\d_]{2,}")
    counts = counter.fit_transform(joined).toarray()
    idf = np.log(1 + counts.sum(axis=1).mean() / counts.sum(axis=0))
    weights = counts / counts.sum(axis=1, keepdims=True) * idf
    terms = counter.get_feature_names_out()
    return {
        number: {term: weight for term, weight in zip(terms, row, strict=True) if weight}
        for number, row in zip(numbers, weights, strict=True)
    }


def test_words_by_hand() -> None:
    documents = ["Snake snake river", "snake stone", "river code", "code code"]
    labels = [0, 0, 1, 1]
    # 9 words in two clusters, A = 4.5; in cluster 0: snake 3 of 5, river 1 of 5, stone 1 of 5.
    weights = {"snake": 3 / 5 * log(1 + 4.5 / 3), "stone": 1 / 5 * log(1 + 4.5 / 1)}
    weights["river"] = 1 / 5 * log(1 + 4.5 / 2)
    expected = tuple(sorted(weights, key=lambda word: -weights[word]))
    assert typical_words(documents, labels)[0] == expected == ("snake", "stone", "river")
    assert typical_words(documents, labels)[1] == ("code", "river")


def test_words_are_those_of_scikit_learn_s_counts() -> None:
    plain = [s for s in baseline_sentences() if s.isascii() and not set("'_.") & set(s[:-1])]
    labels = np.random.default_rng(0).integers(-1, 4, len(plain))
    ours = typical_words(plain, labels, n_words=8)
    every = by_sklearn(plain, labels.tolist())
    assert set(ours) == {0, 1, 2, 3}
    for number, words in ours.items():
        theirs = every[number]
        weights = [theirs[word] for word in words]
        assert weights == sorted(weights, reverse=True)
        better = [word for word, weight in theirs.items() if weight > weights[-1] + 1e-12]
        left_out = set(better) - set(words)
        assert left_out <= ENGLISH_STOP_WORDS | {"like"}
        assert len(words) == 8


def test_function_words_never_label_and_content_words_do() -> None:
    documents = ["The bank and the interest of it", "What is the fire to them"] * 5
    found = typical_words(documents, [0, 1] * 5)
    assert found == {0: ("bank", "interest"), 1: ("fire",)}


def test_what_every_cluster_talks_of_labels_none() -> None:
    documents = [f"python {word}" for word in ("cage", "cage", "code", "code")]
    assert typical_words(documents, [0, 0, 1, 1]) == {0: ("cage",), 1: ("code",)}
    assert "python" in typical_words(documents, [0, 0, 0, 0])[0]


def test_words_are_folded_whole_and_of_letters_in_any_script() -> None:
    documents = ["STRASSE Straße 2024 x C3PO don't", "हिन्दी हिन्दी поезд"]
    found = typical_words(documents, [0, 1])
    assert found[0] == ("strasse",)
    assert set(found[1]) == {"हिन्दी", "поезд"}


def test_documents_in_no_cluster_have_no_label_and_count() -> None:
    alone = typical_words(["snake stone", "code"], [0, 1])
    beside = typical_words(["snake stone", "code", "snake snake snake"], [0, 1, -1])
    assert set(beside) == {0, 1}
    assert alone[0] == ("snake", "stone")
    assert beside[0] == ("stone", "snake")


def test_labels_must_fit_the_documents() -> None:
    with pytest.raises(RequestError, match="2 documents"):
        typical_words(["a", "b"], [0])
    assert typical_words([], []) == {}


# Labels of a map


def test_labels_have_the_words_and_stand_in_the_middle() -> None:
    places, own = blobs(90, k=2)
    texts = [f"The {('snake', 'parser')[n]} number {i}" for i, n in enumerate(own)]
    points = Points("sentences", tuple(texts), np.arange(90), np.zeros((90, 2), int), tuple(texts))
    labels = cluster_labels(points, places, own)
    assert [label.words[0] for label in labels] == ["snake", "parser"]
    assert [label.n_points for label in labels] == np.bincount(own).tolist()
    for label in labels:
        np.testing.assert_allclose(label.place, np.median(places[own == label.cluster], axis=0))
        assert label.text == " · ".join(label.words)


@pytest.mark.parametrize("unit", ["sentences", "words"])
def test_words_that_name_a_cluster_are_frequent_in_it_and_rare_outside(unit) -> None:
    """Every word is checked by counting texts that hold it."""
    random = np.random.default_rng(5)
    vocabulary = [a + b + c for a in "bdfg" for b in "aeiou" for c in "klmnprst"]
    n, own = 240, np.repeat([0, 1, 2, 3, -1], [80, 60, 40, 20, 40])
    texts = []
    for group in own:
        words = random.choice(vocabulary, 6).tolist()
        if group in (0, 1) and random.random() < 0.4:
            words.append(("topical", "thematic")[group])
        texts.append(" ".join(words))
    names = tuple(texts) if unit == "sentences" else tuple(text.split()[0] for text in texts)
    spans = np.array([(0, len(name)) for name in names])
    points = Points(unit, tuple(texts), np.arange(n), spans, names)
    labels = cluster_labels(points, random.normal(size=(n, 2)), own)
    assert {label.cluster: label.words[:1] for label in labels} == {
        0: ("topical",),
        1: ("thematic",),
        2: (),
        3: (),  # junk alone: no name
    }
    for label in labels:
        inside = own == label.cluster
        for word in label.words:
            has_word = np.array([word in text.split() for text in texts])
            share, outside = has_word[inside].mean(), has_word[~inside].mean()
            assert share >= MIN_SHARE
            table = [
                [(has_word & side).sum(), (~has_word & side).sum()] for side in (inside, ~inside)
            ]
            assert fisher_exact(table, "greater").pvalue * len(points.terms.terms) <= RISK
            assert share >= MIN_LIFT * outside


def test_one_cluster_of_everything_has_no_name() -> None:
    sentences = ["python sheds skin", "python runs code"] * 5
    (label,) = cluster_labels(words_of(sentences), np.zeros((10, 2)), np.zeros(10, int))
    assert label.words == ()


def test_a_map_of_one_word_is_labelled_by_its_contexts() -> None:
    sentences = ["python sheds skin", "python eats mice"] * 8 + ["python runs code"] * 12
    clusters = np.array([0] * 16 + [1] * 12)
    labels = cluster_labels(words_of(sentences, "python"), np.zeros((28, 2)), clusters)
    assert all("python" not in label.words for label in labels)
    assert set(labels[1].words) == {"runs", "code"}


def test_a_map_of_many_words_is_labelled_by_the_words() -> None:
    """A name outweighs what stands around it; a function word labels where it names points."""
    sentences = ["the court rose"] * 12 + ["snake in court"] * 8 + ["mouse in court"] * 8
    clusters = np.array([0] * 12 + [1] * 16)
    labels = cluster_labels(words_of(sentences), np.zeros((28, 2)), clusters)
    assert labels[1].words[0] == "the"
    assert labels[0].words[:2] == ("mouse", "snake")


def test_clusters_of_signs_are_named_by_them() -> None:
    texts = ("wait.", "go.") * 6 + ("stop!", "run!") * 6
    spans = np.array([(len(t) - 1, len(t)) for t in texts])
    points = Points("tokens", texts, np.arange(24), spans, (".",) * 12 + ("!",) * 12)
    labels = cluster_labels(points, np.zeros((24, 2)), np.repeat([0, 1], 12))
    assert [label.words[0] for label in labels] == [".", "!"]


def test_a_map_without_clusters_has_no_labels() -> None:
    points = words_of(["one two", "three four"])
    assert cluster_labels(points, np.zeros((2, 2)), np.array([-1, -1])) == ()
    with pytest.raises(RequestError, match="2 points"):
        cluster_labels(points, np.zeros((3, 2)), np.array([-1, -1]))
