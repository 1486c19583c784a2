"""Sizes of results in memory: never less than their contents."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.core.sizes import size_of


@dataclass(frozen=True)
class Result:
    name: str
    numbers: Any


ARRAY = np.zeros(1_000)
TEXT = "a" * 500


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (ARRAY, [ARRAY.nbytes]),
        (TEXT, [sys.getsizeof(TEXT)]),
        (Result(TEXT, ARRAY), [sys.getsizeof(TEXT), ARRAY.nbytes]),
        (Result(TEXT, (ARRAY, [ARRAY])), [sys.getsizeof(TEXT), 2 * ARRAY.nbytes]),
        ({TEXT: ARRAY}, [sys.getsizeof(TEXT), ARRAY.nbytes]),
        (tuple(float(n) for n in range(1_000)), [1_000 * sys.getsizeof(1.0)]),
        (((TEXT, 1.0),) * 3, [3 * sys.getsizeof(TEXT)]),
        (None, [0]),
    ],
)
def test_all_that_is_in_a_result_counts(value: Any, held: list[int]) -> None:
    assert sum(held) <= size_of(value) <= sum(held) + 20_000


def test_a_result_that_says_its_size_is_believed() -> None:
    assert size_of(SimpleNamespace(nbytes=7)) == 7
    assert size_of(Result) < 5_000  # the class is no result
