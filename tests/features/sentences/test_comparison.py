"""The comparison of sentences: cosines, the pair to read, and scripts that give the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import percentileofscore

from contextlens.analysis.similarity import cosine_matrix
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.sentences.comparison import (
    comparison,
    cosines_snippet,
    recipe_snippet,
    shares_below,
)
from contextlens.features.sentences.pair_to_read import pair_to_read
from contextlens.features.sentences.vectors import encode_texts
from contextlens.maps.vectors import RECIPE
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.snippets import run

RANDOM = np.random.default_rng(0)


def test_the_share_of_random_pairs_is_scipys_percentile() -> None:
    random = cosine_matrix(RANDOM.normal(size=(12, 5)))
    known = random[np.triu_indices(12, 1)]
    cosines = np.array([[-1.0, known[3]], [0.1, 1.0]])
    expected = [[percentileofscore(known, c, "mean") / 100 for c in row] for row in cosines]
    np.testing.assert_allclose(shares_below(cosines, random), expected, atol=1e-6)


def test_ways_disagree_about_the_pair_whose_rank_differs_most() -> None:
    one = np.array([[1, 0.9, 0.5], [0.9, 1, 0.1], [0.5, 0.1, 1]])
    other = np.array([[1, 0.2, 0.3], [0.2, 1, 0.25], [0.3, 0.25, 1]])
    pair = pair_to_read(np.stack([one, other]), ("cls", "mean"), "ABC")
    assert (pair.pair, pair.ranks, pair.cosines) == ((0, 1), [1, 3], [0.9, 0.2])
    assert [str(claim) for claim in pair.claims()] == [
        "**Read this pair, A and B:** place **1** of 3 by the first token [CLS], but place **3** "
        "by the mean of all tokens (place 1: most alike)."
    ]
    same = pair_to_read(np.stack([one, 2 * one]), ("cls", "mean"), "ABC")
    assert same.all_agree
    assert [str(claim) for claim in same.claims()] == ["**The pair A and B**"]


def test_frames_mark_the_nearest_sentences_and_are_green_where_these_mean_the_same(
    service: EncoderService,
) -> None:
    card = service.load(BUNDLED_ID)
    random = encode_texts(["One.", "Two things.", "Three."], card, service)
    result = comparison(DEFAULT, card, service, random)
    assert result is not None
    for pooling, n_right in (("mean", 4), ("cls", 2)):
        at = result.poolings.index(pooling)
        others = result.cosines[at] - 2 * np.eye(6)
        shapes = result.matrix(at).layout.shapes
        rows, columns = ([int(s[end] + 0.5) for s in shapes] for end in ("y0", "x0"))
        assert (rows, columns) == ([0, 1, 3, 4], others.argmax(axis=1)[[0, 1, 3, 4]].tolist())
        assert [s.line.color for s in shapes].count("#009E73") == n_right


def test_transformers_and_sentence_transformers_give_the_pages_cosines(
    service: EncoderService,
) -> None:
    card = service.load(BUNDLED_ID)
    rows = Sentence('A "python"\n'), Sentence("Long " * 600), Sentence("One", pair="and its pair")
    random = encode_texts(["One.", "Two things.", "Three."], card, service)
    result = comparison(replace(DEFAULT, sentences=rows), card, service, random)
    assert result is not None
    assert result.vectors.n_cut == 1
    left = run(cosines_snippet(card, rows, has_pooler=False))["cosines"]
    assert [*left, RECIPE] == list(result.poolings)
    for name, cosines in left.items():
        at = result.poolings.index(name)
        np.testing.assert_allclose(cosines.numpy(), result.cosines[at], atol=1e-5)
    assert result.recipe_equals == ""  # a long text is read further by the mean
    assert result.title(RECIPE) == "The model's own recipe"
    ready = comparison(DEFAULT, card, service, random)
    assert ready is not None
    assert (ready.recipe_equals, ready.title(RECIPE)) == (
        "mean", "Own recipe: mean of all tokens"
    )  # fmt: skip
    own = run(recipe_snippet(card, rows))["cosines"]
    np.testing.assert_allclose(own.numpy(), result.cosines[-1], atol=1e-5)
