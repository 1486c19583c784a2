"""The soak: what it says of memory, and that it asks all that it says."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.load.soak import Soak, plateau, soak, table


def test_memory_that_grows_at_the_start_alone_is_flat() -> None:
    level, above = plateau([100, 400, 700, 990, 1_000, 1_000, 1_010, 1_000])
    assert level == 1_000
    assert above == pytest.approx(0.01)


def test_memory_that_goes_on_growing_is_not() -> None:
    assert plateau([float(mb) for mb in range(100, 1_100)])[1] > 0.2


def test_what_was_wrong_is_told() -> None:
    found = Soak(
        n=Counter({"page": 3}),
        seconds=Counter({"page": 0.3}),  # type: ignore[arg-type]
        wrong=Counter({"page: no answer": 2}),
        memory={"app": [500.0] * 9},
        took=2.0,
    )
    told = table(found)
    assert "3 requests in 2 s" in told
    assert "100.0 ms  page" in told
    assert "2 x page: no answer" in told
    assert "app: 500, 500, 500, 500, 500 MB" in told


@pytest.mark.cluster
def test_a_short_soak_asks_of_every_kind_and_finds_nothing_wrong() -> None:
    found = asyncio.run(soak(400, 240))
    assert found.wrong == Counter()
    assert found.n.total() == 400
    assert len(found.n) == 12
    assert set(found.memory) == {"app", "service"}
