"""Every sentence and title on whole layers, read back and checked against the matrices."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.features.layers.measures.spaces import Alike, alike
from components.features.layers.reading.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
from tests.support.leading import SPAN, Numbers, layers_in, odd_values
from tests.support.leading import two as written
from tests.support.true_words import bare, read_back

N_MADE = 2000
N = r"-?\d+\.\d\d"


def assert_alike(found: Alike, *, same: bool) -> None:
    """Which layers are told as most and least alike is so, and every number is the matrix's."""
    title, said = (
        alike_title(found, same=same),
        bare(" ".join(alike_reading(found, ("*X*", "Y"), same=same))),
    )
    assert "nan" not in title + said
    cka = found.cka
    finite = [(int(i), int(j)) for i, j in np.argwhere(np.isfinite(cka))]
    cells = [(i, j) for i, j in finite if j == i + 1] if same else finite
    sign, values = -1 if same else 1, [float(cka[cell]) for cell in cells]
    numbers = rf"linear CKA (?P<cka>{N})(?:, debiased (?P<debiased>{N}))?"
    for pattern, at in (
        (rf"between layers (?P<i>\d+) and (?P<j>\d+) \({numbers}\)", None),
        (rf"layers (?P<i>\d+) and (?P<j>\d+) have {numbers}", None),
        (rf"layer (?P<i>\d+) of \*X\* and layer (?P<j>\d+) of Y[^(]*\({numbers}\)", None),
        (rf"the first and the last have {numbers}", (0, cka.shape[1] - 1)),
        (rf"their last layers have {numbers}", (len(cka) - 1, cka.shape[1] - 1)),
    ):
        for match in re.finditer(pattern, said):
            i, j = at or (int(match["i"]), int(match["j"]))
            assert match["cka"] == written(cka[i, j])
            defined = np.isfinite(found.debiased[i, j])
            assert match["debiased"] == (written(found.debiased[i, j]) if defined else None)
    if not finite:
        assert title == "Too little text to compare layers"
        assert "at least two words" in said
        return
    if not same or len(cka) > 1:
        assert f"linear CKA averages {written(np.nanmean(found.shuffled))}" in said
        assert ("needs 4 words" in said) == (found.n_words < 4)
    most = re.search(r"(?:between layers|layer) (\d+) (?:of \*X\* )?and (?:layer )?(\d+)", said)
    even = re.search(rf"(?:equally alike|of Y) \(linear CKA ({SPAN})\)", said)
    if len(cells) > 1 and Numbers(values).are_alike:
        assert even, said
        Numbers(values).assert_alike(even[1])
        assert title.endswith(f"alike ({even[1]})")
        return
    if len(cells) > 1:
        assert most, said
        among = re.search(r"(\d+) other pairs?", said)
        first = cells.index((int(most[1]), int(most[2])))
        span = re.search(r"\(([^)]*)\)$", title)[1]
        size = int(among[1]) + 1 if among else 1
        Numbers(values).assert_leads(first, size, span, sign)
        assert re.match(
            rf"(Widest gap: layers|Most alike: layer) {most[1]} and (layer )?{most[2]}\b", title
        )
        assert (re.search(r"(\d+) other", title) or ["", "0"])[1] == str(size - 1)


def odd_alike(chance: random.Random, *, same: bool) -> Alike:
    numbers = np.random.default_rng(chance.randrange(2**32))
    n, m, n_words = chance.choice((1, 2, 4, 7)), chance.choice((1, 3)), chance.choice((2, 3, 4, 30))
    m = n if same else m
    cka, debiased, shuffled = (odd_values(numbers, n, m) for _ in range(3))
    if chance.random() < 0.3:
        cka[:, numbers.random(m) < 0.5] = np.nan
        cka[numbers.random(n) < 0.3] = np.nan
        shuffled = np.where(np.isnan(cka), np.nan, shuffled)
    undefined = np.isnan(cka) | (n_words < 4)
    return Alike(cka, np.where(undefined, np.nan, debiased).astype(np.float32), shuffled, n_words)


@pytest.mark.slow
def test_every_sentence_on_layers_compared_is_true() -> None:
    chance = random.Random(4)
    for i in range(N_MADE):
        assert_alike(odd_alike(chance, same=bool(i % 2)), same=bool(i % 2))


def test_every_sentence_on_the_spread_is_true() -> None:
    chance = random.Random(5)
    for _ in range(N_MADE):
        numbers = np.random.default_rng(chance.randrange(2**32))
        n = chance.choice((2, 4, 7))
        shares = np.sort(odd_values(numbers, n, 3), axis=1)
        shares[numbers.random(n) < chance.choice((0, 0.3, 1))] = np.nan
        mean = odd_values(numbers, n) - np.float32(chance.choice((0, 0.3)))
        layer = chance.randrange(n)
        band = Band(mean, mean, mean)
        said = bare(" ".join(spread_reading(range(n), layer, band, shares, 506)))
        read_back(said, spread_claims(layer, float(mean[layer]), shares[layer]))
        assert ("principal" in said) == bool(np.isfinite(shares[layer]).all())
        assert_spread_titles(mean, shares[:, 0], spread_titles(range(n), band, shares))


def spread_claims(layer: int, mean: float, shares: np.ndarray) -> dict[str, Any]:
    def random_pairs(at: str, cosine: str, what: str) -> None:
        assert int(at) == layer
        assert cosine == written(mean)
        said = float(cosine)
        expected = "on average its" if said > 0.1 else "below 0" if said < -0.1 else "near 0"
        assert what.startswith(expected)

    def components(first: str, last: str) -> None:
        for said, share in ((first, shares[0]), (last, shares[-1])):
            known = {"under 1%": 0 < share < 0.0051, "over 99%": 0.9949 < share < 1}
            assert known.get(said, said == f"{round(100 * float(share))}%")

    return {
        rf"At layer (?P<at>\d+), two random words have an average cosine of (?P<cosine>{N}): "
        r"(?P<what>[^.]*)\.": random_pairs,
        r"Over 506 sample words, its first principal component holds (?P<first>[^.]*?) of the "
        r"variance, the first 3 hold (?P<last>[^.]*)\.": components,
    }


def assert_spread_titles(mean: np.ndarray, first: np.ndarray, titles: tuple[str, str]) -> None:
    def lead(values: Sequence[float], listed: str) -> None:
        rows = layers_in(listed)
        high = max(values)
        assert rows == [i for i, value in enumerate(values) if high - value <= 0.01]

    means = [float(value) for value in mean]
    pairs = re.fullmatch(rf"Random words most alike: (layers? [\d, to]+) \(({SPAN})\)", titles[0])
    if pairs:
        lead(means, pairs[1])
        assert not Numbers(means).are_alike
    else:
        Numbers(means).assert_alike(re.search(r"at every layer \((.*)\)$", titles[0])[1])
    finite = {i: float(v) for i, v in enumerate(first) if np.isfinite(v)}
    if not finite:
        assert titles[1] == "No variance to share"
        return
    most = re.fullmatch(r"One direction holds most at (layers? [\d, to]+) \(.*%\)", titles[1])
    if most:
        assert layers_in(most[1]) == [
            i for i, value in finite.items() if max(finite.values()) - value <= 0.01
        ]
    assert Numbers(list(finite.values())).are_alike == (most is None)


def test_what_is_said_of_a_made_model_s_layers_is_true() -> None:
    numbers = np.random.default_rng(6)
    for n_words in (0, 1, 2, 3, 4, 5, 20):
        own = numbers.normal(size=(3, n_words, 6)).astype(np.float32)
        own[1] = own[0]
        assert_alike(alike(own, own), same=True)
        assert_alike(alike(own, np.zeros_like(own)), same=False)
        assert_alike(alike(own, own[:2, ::-1]), same=False)
