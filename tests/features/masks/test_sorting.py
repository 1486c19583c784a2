"""What sorting by length saves, counted once more."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.masks.sorting import Saving, Sorting, saving, sorting
from contextlens.ui.state.view import DEFAULT
from tests.features.masks.odd import batch_of, view_of
from tests.support.claims import read, unreached


@given(st.lists(st.integers(1, 512), min_size=1, max_size=40), st.integers(1, 12))
def test_sorting_saves_what_is_left_out_and_full_batches_never_lose(
    found: list[int], size: int
) -> None:
    def computed(ordered: list[int]) -> int:
        batches = [ordered[i : i + size] for i in range(0, len(ordered), size)]
        return sum(max(batch) for batch in batches for _ in batch)

    result = saving(found, size)
    assert result == Saving(
        size, sum(found), computed(found), computed(sorted(found, reverse=True))
    )
    assert result.real <= min(result.by_length, result.given)
    if len(found) % size == 0:
        assert 0 <= result.padding_sorted <= result.padding_given < 1
        assert 0 <= result.saved < 1


@pytest.mark.parametrize(("found", "size"), [([], 2), ([3], 0)])
def test_nothing_cannot_be_sorted(found: list[int], size: int) -> None:
    with pytest.raises(RequestError):
        saving(found, size)


def test_the_samples_and_the_own_sentences_are_sorted(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    masks = batch_of(view_of("one two three", "x", "one two three", "x"), service)
    result = sorting(masks, service, card)
    assert [each.size for each in result.own] == [1, 2, 4]
    assert [each.given for each in result.own] == [16, 20, 20]
    assert [each.by_length for each in result.own] == [16, 16, 20]
    assert [round(each.padding_sorted, 2) for each in result.own] == [0, 0, 0.2]
    assert [row["padding when sorted"] for row in result.rows()] == ["0%", "0%", "20%"]
    assert result.sample == sorting(batch_of(DEFAULT, service), service, card).sample
    assert result.sample.size == 32
    assert 0 < result.sample.padding_sorted < result.sample.padding_given < 1


def check_saving(lengths: list[int], size: int) -> list[Claim]:
    def padding(order: list[int]) -> tuple[float, int]:
        batches = [order[i : i + size] for i in range(0, len(order), size)]
        n = sum(len(batch) * max(batch) for batch in batches)
        return 1 - sum(lengths) / n, n

    result = Sorting(saving(lengths, size), len(lengths))
    title, (sample,) = result.title(), result.claims()
    (before, given), (after, by_length) = padding(lengths), padding(sorted(lengths)[::-1])
    assert sample.numbers["before"] == pytest.approx(before)
    assert sample.numbers["after"] == title.numbers["after"] == pytest.approx(after)
    case = title.key.rpartition(".")[2]
    assert (case == "nothing") == (by_length >= given)
    if case == "cuts":
        assert after < before
    return [title, sample]


def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    chance = random.Random(1)
    keys = read(check_saving([99, 100, 99, 100, *[100] * 93, 50], 2))  # 2 of 9,800
    for _ in range(500):
        lengths = [chance.randint(1, 20) for _ in range(chance.randint(1, 9))]
        keys |= read(check_saving(lengths, chance.choice((1, 2, 4))))
    assert not unreached("masks.saving", keys)
