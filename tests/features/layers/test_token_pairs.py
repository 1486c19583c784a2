"""The cosine of every two tokens: beside scikit-learn, in words, and as a heatmap."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.layers.token_pairs import TokenPairs, token_pairs
from contextlens.ui.state.view import DEFAULT
from tests.features.layers.odd import (
    LABELS,
    Chance,
    Draw,
    drawn,
    keys_of,
    odd_values,
    placed,
    states_of,
    tied,
    view_of,
)
from tests.support.claims import unreached
from tests.support.texts import LONG

RANDOM = np.random.default_rng(0)
SCALE = (-0.2, 1.0)


def pairs_of(matrix: np.ndarray, labels: Sequence[str], own: np.ndarray | None = None):
    mask = np.ones(len(labels), bool) if own is None else own
    return TokenPairs(matrix, labels, mask, 3, None, SCALE)


def check_pairs(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n = chance.choice((1, 2, 3, 9))
    matrix = odd_values(draw, n, n)
    matrix = np.triu(matrix, 1) + np.triu(matrix, 1).T + np.eye(n, dtype=np.float32)
    own = draw.random(n) < chance.choice((0, 0.6, 1))
    labels = [chance.choice(LABELS) for _ in range(n)]
    average = chance.choice((None, 0.02))
    result = replace(pairs_of(matrix, labels, own), random_cosine=average)
    title, claims = result.title(), result.claims()
    yield from [title, *claims]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if own[i] and own[j]]
    values = [float(matrix[pair]) for pair in pairs]
    if not pairs:
        assert (title.key, claims[0].key) == ("layers.pairs.title.none", "layers.pairs.none")
        return
    assert [e.key for e in claims if e.key.endswith("random")] == (
        [] if average is None else ["layers.pairs.random"]
    )
    assert claims[0].numbers["average"] == pytest.approx(np.mean(values), abs=1e-6)
    most, least = tied(values), tied(values, sign=-1)
    if most is None or least is None:
        assert claims[0].key == f"layers.pairs.{'even' if len(pairs) > 1 else 'single'}"
        assert title.key.endswith("even" if len(pairs) > 1 else "single")
        return
    assert title.numbers["n"] == len(most)
    numbers = claims[0].numbers
    assert (numbers["high"], numbers["low"]) == (max(values), min(values))
    for name, best in (("most", most), ("least", least)):
        more = len(best) - 1
        others = f" (and {more} other pair{'s' if more > 1 else ''})" if more else ""
        both = [" and ".join(placed(i, labels) for i in pairs[k]) for k in best]
        assert numbers[name] in [one + others for one in both]


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    names = {f"layers.pairs.names.{n}" for n in (1, 2, 3)}
    assert not unreached("layers.pairs", keys_of(check_pairs, 500) | names)


def test_a_title_is_read_whole() -> None:
    matrix = np.array([[1, -0.25], [-0.25, 1]], np.float32)
    assert str(pairs_of(matrix, ("my", "i")).title()) == "“my” and “i”: similarity −0.25"


def test_pairs_are_those_of_the_chosen_layer(service: EncoderService) -> None:
    result = token_pairs(states_of(replace(DEFAULT, layer=3), service))
    hidden = service.encode(BUNDLED_ID, [DEFAULT.sentences[0].text])[0].hidden
    np.testing.assert_allclose(result.cosines, cosine_similarity(hidden[3]), atol=1e-5)
    headers = [f"{i} {label}" for i, label in enumerate(result.labels)]
    assert list(result.table().columns) == headers


def test_pairs_of_a_long_text_have_no_table(service: EncoderService) -> None:
    result = token_pairs(states_of(replace(view_of(LONG), layer=3), service))
    assert result.cosines.shape == (512, 512)
    assert result.table() is None


@pytest.mark.parametrize("n", [4, 30])
def test_the_heatmap_shows_the_matrix(n: int) -> None:
    matrix = RANDOM.uniform(-0.2, 1, size=(n, n)).astype(np.float32)
    names = [f"t{i}" for i in range(n)]
    figure = pairs_of(matrix, names).figure()
    np.testing.assert_allclose(drawn(figure), matrix, atol=1e-4)
    assert list(figure.data[0].x) == list(figure.data[0].y) == names


def test_titles_are_escaped_and_few_bytes_go_to_the_browser() -> None:
    matrix = RANDOM.uniform(size=(512, 512)).astype(np.float32)
    figure = pairs_of(matrix, ["<b>"] * 512).figure()
    assert "“&lt;b&gt;” at position" in figure.layout.title.text
    assert len(figure.to_json()) < 1_900_000
    assert "bdata" in json.loads(figure.to_json())["data"][0]["z"]
