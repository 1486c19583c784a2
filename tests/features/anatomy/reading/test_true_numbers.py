"""Every sentence on models beside each other and on one array's numbers is read back and holds."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from components.features.anatomy.measures.weights import weight_statistics
from components.features.anatomy.reading import models_reading, models_title, weights_reading
from tests.features.anatomy.reading.odd_models import of
from tests.support.true_words import bare

N = 2000


def test_every_sentence_on_models_side_by_side_holds() -> None:
    chance = random.Random(2)
    for _ in range(N // 4):
        names = chance.sample(("base", "large", "x", "*y*", "z"), chance.randint(1, 5))
        rows = [
            {"model": name, "parameters": chance.choice((chance.randint(9, 10**9), 109_482_240)),
             "billion multiply-adds": chance.choice((None, chance.uniform(0.1, 50)))}
            for name in names
        ]  # fmt: skip
        title, counts = models_title(rows), [row["parameters"] for row in rows]
        if title.startswith("From"):
            low, high = re.match(r"From (\S+) to (\S+) million parameters$", title).groups()
            assert low != high
            assert float(low) == pytest.approx(min(counts) / 1e6, rel=0.006)
            assert float(high) == pytest.approx(max(counts) / 1e6, rel=0.006)
        else:
            assert max(counts) / min(counts) < 1.02
        said = [*map(bare, models_reading(rows, 128, base="base", large="large"))]
        by_name = {row["model"]: row for row in rows}
        if not {"base", "large"} <= set(by_name):
            assert "not both allowed" in said[0]
            continue
        assert len(said) == 1 + (names[0] not in ("base", "large"))
        for sentence, one in zip(said, ("large", names[0]), strict=False):
            check_ratio(sentence, by_name[one], by_name["base"])


def check_ratio(said: str, one: dict, base: dict) -> None:
    assert said.startswith(f"{one['model']} has ")
    numbers = [float(n) for n in re.findall(r"\d+\.\d\d", said)]
    work = [row["billion multiply-adds"] for row in (one, base)]
    expected = [one["parameters"] / base["parameters"]]
    if None in work:
        assert said.endswith("; a text of 128 tokens does not fit in both.")
    else:
        expected.append(work[0] / work[1])
    assert numbers == pytest.approx(expected, abs=0.0051)


def test_every_sentence_on_an_array_s_numbers_holds() -> None:
    chance, draw = random.Random(3), np.random.default_rng(3)
    for _ in range(N // 4):
        shape = chance.choice(((1,), (9,), (1, 9), (2, 5), (12, 12), (20, 5)))
        array = chance.choice((1e-6, 1e-3, 1, 50)) * draw.normal(size=shape)
        array = array + chance.choice((0, 0, 1))
        array = np.full(shape, chance.choice((0.0, 1.0, 0.3))) if chance.random() < 0.1 else array
        array = (array * np.logspace(0, -chance.choice((0, 3)), shape[-1])).astype(np.float32)
        stats, n_rows = weight_statistics(array), chance.choice((None, 900))
        check_array(of(" ".join(weights_reading("w", stats, n_rows))), array, n_rows)


def check_array(said: str, array: np.ndarray, n_rows: int | None) -> None:
    flat = array.astype(float).ravel()
    assert said.startswith("`w`" if n_rows is None else f"A sample of {len(array)} rows of `w`")
    if flat.min() == flat.max():
        value = float(said.rpartition(" is ")[2].rstrip("."))
        assert value == pytest.approx(flat[0], rel=1e-3)
        return
    number = r"(-?\d[\d.e+-]*?)"
    low, high, mean, std = re.search(
        rf"values from {number} to {number} around {number}, with a standard deviation of "
        rf"{number}\.(?: |$)", said
    ).groups()  # fmt: skip
    told = dict(zip((low, high, mean, std), (flat.min(), flat.max(), flat.mean(), flat.std()),
                    strict=False))  # fmt: skip
    for shown, value in told.items():
        assert abs(float(shown) - value) <= max(0.005001 if flat.std() >= 0.02 else 0,
                                                1e-5 * abs(value), 1e-12)  # fmt: skip
        assert shown != "-0.00"
    assert float(low) < float(high)
    if array.ndim == 1:
        assert said.endswith("which has no singular values.")
        return
    values = np.linalg.svd(array.astype(float), compute_uv=False) ** 2
    if len(values) == 1:
        assert said.endswith("It has a single singular value.")
        return
    own, all_, random_ = map(int, re.search(
        r"(\d+) of its (\d+) singular values hold 90 % of the sum of squares; in a random matrix "
        r"of this shape it takes (\d+)", said).groups())  # fmt: skip
    assert all_ == len(values)
    held = values.cumsum() / values.sum()
    assert held[own - 1] >= 0.9 - 1e-6
    assert own == 1 or held[own - 2] < 0.9 + 1e-6
    assert said.endswith("some directions count for more than others.") == (own < 0.9 * random_)
