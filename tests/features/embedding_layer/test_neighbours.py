"""The nearest rows of the word table: which they are, in numbers, words and picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import PAGE
from contextlens.features.embedding_layer.neighbours import Neighbours, neighbours
from contextlens.features.embedding_layer.word_rows import RandomBand, random_band, row_cosines
from contextlens.ui.state.view import DEFAULT
from tests.features.embedding_layer.sums import (
    LABELS,
    TRAINED,
    UNTRAINED,
    Chance,
    Draw,
    assert_no_markup,
    keys_of,
    on,
    sum_of,
)
from tests.support.claims import unreached
from tests.support.texts import TYPED

PYTHON = 18_750  # the ID of "python"
BAND = RandomBand(-0.1, 0.02, 0.15)
RANDOM = np.random.default_rng(0)


def test_neighbours_are_those_of_the_whole_table(service: EncoderService) -> None:
    near = neighbours(sum_of(DEFAULT, service), 5, service)
    assert near is not None
    rows = service.word_rows(BUNDLED_ID, range(30_522)).astype(np.float64)
    units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosines = units @ units[PYTHON]
    best = [i for i in np.argsort(-cosines) if i != PYTHON][:10]
    assert near.token_ids == [row["ID"] for row in near.rows()] == best
    np.testing.assert_allclose(near.cosines, cosines[best], atol=1e-5)


def test_a_row_of_zeros_has_no_neighbours(tiny_service: EncoderService) -> None:
    view = replace(on("the [PAD] river"), model="folder:bert")
    embedding = sum_of(view, tiny_service)
    position = embedding.labels.index("[PAD]")
    assert neighbours(embedding, position, tiny_service) is None


def test_any_token_has_ten_neighbours(service: EncoderService) -> None:
    for text in TYPED.values():
        embedding = sum_of(on(text), service)
        result = neighbours(embedding, embedding.focus, service)
        assert result is None or len(result.rows()) == 10
        assert_no_markup([] if result is None else [*result.claims(), *result.sure()])


def test_cosines_of_rows_and_of_random_pairs_are_sklearn_s() -> None:
    one, other = RANDOM.normal(size=(4, 9)), RANDOM.normal(size=(7, 9))
    one[2] = 0
    np.testing.assert_allclose(row_cosines(one, other), cosine_similarity(one, other), atol=1e-6)
    rows = RANDOM.normal(size=(400, 20)).astype(np.float32)
    cosines = np.diag(cosine_similarity(rows[:-1], rows[1:]))
    band = random_band(rows)
    low, high = np.percentile(cosines, [5, 95])
    assert (band.low, band.mean, band.high) == pytest.approx((low, cosines.mean(), high), abs=1e-5)
    assert random_band(rows[:1]).mean == 0


def test_neighbours_have_the_band_behind_them() -> None:
    names = ["<b>", "c"]
    figure = Neighbours("a", [5, 6], names, names, [0.4, 0.3], BAND, 9, TRAINED).figure()
    assert list(figure.data[0].x) == [0.4, 0.3]
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;b&gt; 5")
    (shape,) = figure.layout.shapes
    assert (shape.x0, shape.x1, shape.layer) == (-0.1, 0.15, "below")


def check_neighbours(chance: Chance, draw: Draw) -> Iterator[Claim]:
    cosines = sorted(draw.uniform(-0.2, 1, size=chance.choice((0, 1, 3, 10))).tolist())[::-1]
    if chance.random() < 0.3:
        cosines = [cosines[0] for _ in cosines]
    names = [chance.choice(LABELS) for _ in cosines]
    band = RandomBand(*sorted(draw.uniform(-0.2, 0.6, size=3).tolist()))
    state, n_rows = chance.choice((TRAINED, UNTRAINED)), chance.choice((1, 400, 30_522))
    result = Neighbours("a*", range(len(names)), names, names, cosines, band, n_rows, state)
    claims, sure, title = result.claims(), result.sure(), result.title()
    assert title.numbers == {"n": len(names), "n_rows": n_rows, "token": "a*"}
    if not names:
        assert [claim.key for claim in claims] == [f"{PAGE}.near.alone"]
    else:
        deviation = (band.high - band.mean) / 1.645
        expected = min(1, band.mean + deviation * np.sqrt(2 * np.log(n_rows)))
        numbers = claims[0].numbers
        assert numbers["similarity"] == max(cosines)
        assert numbers["expected"] == pytest.approx(expected)
        n_ties = sum(f"{cosine:.2f}" == f"{cosines[0]:.2f}" for cosine in cosines)
        second = f" and {quoted(names[n_ties - 1])}"
        rest = {1: "", 2: second}.get(n_ties, f" and {n_ties - 1} others")
        assert numbers["nearest"] == quoted(names[0]) + rest
        far = ["near.far"] if max(cosines) <= expected else []
        cautions = ["near.untrained"] if state is UNTRAINED else far
        assert [claim.key for claim in claims[1:]] == [f"{PAGE}.{name}" for name in cautions]
        assert list(sure[0].numbers.values()) == [band.mean, band.low, band.high]
    yield from [title, *claims, *sure]


def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    keys = keys_of(check_neighbours, 500)
    assert not unreached(f"{PAGE}.near", keys)
    assert f"{PAGE}.random" in keys


def test_the_finding_is_read_whole() -> None:
    names = ["<b>", "x"]
    near = Neighbours("py*", [1, 2], names, names, [0.404, 0.396], BAND, 9, TRAINED)
    assert str(near.claims()[0]) == (
        f"Before any context, the token most similar to {quoted('py*')} is {quoted('<b>')} and "
        "“x”: cosine similarity **0.40**. (By chance alone, the closest of 9 tokens would reach "
        "about 0.19.)"
    )
