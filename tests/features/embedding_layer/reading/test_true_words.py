"""Every sentence on two texts and on neighbours is read back and holds, whatever the words."""

from __future__ import annotations

import random

import pytest

from components.features.embedding_layer.measures.words import Band, Shared
from components.features.embedding_layer.reading.words import (
    neighbours_reading,
    neighbours_title,
    same_rows_reading,
    same_rows_title,
)
from tests.features.embedding_layer.reading.odd_parts import TRAINED, UNTRAINED
from tests.support.true_words import bare, cut, is_two, odd_labels

N = 2000


def test_every_sentence_on_two_texts_holds() -> None:
    chance = random.Random(3)
    for _ in range(N // 4):
        n = chance.choice((0, 1, 2, 9, 20))
        labels = odd_labels(chance, max(n, 1))
        shared = [
            Shared(i, chance.choice((i, i + 3)), i, 0.0,
                   chance.choice((0.0, 0.0, 3e-7, 0.004, 1.5, chance.random())))
            for i in range(n)
        ]  # fmt: skip
        own = chance.random() < 0.5
        said = bare(" ".join(same_rows_reading(shared, labels, own=own)))
        moved = [each for each in shared if each.output > 1e-5]
        title = same_rows_title(shared)
        assert title.startswith("No" if not n else f"{n} token")
        if not n:
            assert said == "The two texts have no token in common."
            continue
        assert said.startswith(f"{n} {'token is' if n == 1 else 'different tokens are'} in both")
        names = said.split("in both texts: ")[1].split(". It" if n == 1 else ". Their")[0]
        assert names.startswith(", ".join(f"“{cut(labels[s.first])}”" for s in shared[:8]))
        assert (" more" in names[-9:]) == (n > 8)
        assert ("share no token of their own" in said) == (not own)
        if not moved:
            assert said.endswith("even its layer 0 is the same.")
            continue
        most = max(moved, key=lambda each: each.output)
        assert f"layer 0 is the same for {n - len(moved)} of {n}: the first " in said
        assert f"at position {most.first} here and {most.second} there" in said
        number = said.split("differs by up to ")[1].split(", as")[0]
        assert float(number) == pytest.approx(most.output, rel=0.5)
        assert float(number) > 0


def test_every_sentence_on_neighbours_holds() -> None:
    chance = random.Random(4)
    for _ in range(N // 4):
        n = chance.choice((0, 1, 2, 3, 10))
        cosines = sorted((chance.uniform(-1, 1) for _ in range(n)), reverse=True)
        found = list(zip(odd_labels(chance, n), cosines, strict=True))
        band = Band(-0.2, chance.uniform(-0.1, 0.1), chance.uniform(0.1, 0.5))
        state = chance.choice((TRAINED, UNTRAINED))
        (label,) = odd_labels(chance, 1)
        said = bare(" ".join(neighbours_reading(label, found, band, state)))
        if not n:
            assert said == f"The table has no other row than that of “{cut(label)}”."
            continue
        rest = said.removeprefix(f"Nearest to “{cut(label)}” in the word table, by cosine: ")
        for name, cosine in found[:3]:
            rest = rest.removeprefix(f"“{cut(name)}” (")
            assert is_two(rest.split(")")[0], cosine)
            rest = rest.split(")", 1)[1].removeprefix(", ")
        far = cosines[0] <= band.high
        assert ("no nearer than one in twenty" in rest) == far
        assert is_two(rest.split("average ")[1].split(")")[0].split(".  ")[0][:5].rstrip(".)"),
                      band.mean)  # fmt: skip
        assert ("looks untrained" in rest) == (state is UNTRAINED)
        assert neighbours_title(label, n, 30_522) == f"Of 30,522 rows, the {n} nearest to {label}"
