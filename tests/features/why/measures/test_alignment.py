"""Which token stands for which: by place, or as equal ones in the same order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService
from components.features.why.measures import Alignment, align


def aligned(service: EncoderService, first: str, second: str, **how: int) -> Alignment:
    return align(*service.tokenize(BUNDLED_ID, [first, second], **how))


def test_of_equal_length_each_stands_for_the_one_at_its_place(service: EncoderService) -> None:
    found = aligned(service, "I love my pet python", "I love coding in python")
    assert found == Alignment(tuple((i, i) for i in range(7)), True, (), (), 5)


def test_padding_has_no_part(service: EncoderService) -> None:
    texts = "I love my pet python", "I love coding in python"
    assert aligned(service, *texts, pad_to=20) == aligned(service, *texts)


def test_of_other_lengths_what_is_alone_is_named(service: EncoderService) -> None:
    found = aligned(service, "The food was good", "The food was not very good")
    assert found.pairs == ((0, 0), (1, 1), (2, 2), (3, 3), (4, 6), (5, 7))
    assert (found.first_alone, found.second_alone) == ((), (4, 5))
    assert not found.same_length
    assert found.n_equal == 6


def test_what_is_replaced_by_as_many_is_aligned(service: EncoderService) -> None:
    found = aligned(service, "A cat slept", "A dog slept so well")
    assert (2, 2) in found.pairs
    assert found.n_equal == len(found.pairs) - 1


@given(st.lists(st.sampled_from(["cat", "dog", "a", "the", "bit"]), max_size=8), st.data())
def test_pairs_are_one_to_one_and_in_order(
    service: EncoderService, words: list[str], data: st.DataObject
) -> None:
    others = data.draw(st.lists(st.sampled_from(["cat", "dog", "a", "the", "bit"]), max_size=8))
    first, second = " ".join(words), " ".join(others)
    found, turned = aligned(service, first, second), aligned(service, second, first)
    for side, alone in ((0, found.first_alone), (1, found.second_alone)):
        own = [pair[side] for pair in found.pairs]
        n = len((words, others)[side]) + 2
        assert own == sorted(set(own))
        assert sorted([*own, *alone]) == list(range(n))
    assert len(turned.pairs) > 1
    assert found.turned.turned == found


@pytest.mark.parametrize("text", ["", "one", "word " * 600])
def test_a_text_stands_for_itself(service: EncoderService, text: str) -> None:
    found = aligned(service, text, text)
    assert found.n_equal == len(found.pairs)
    assert not found.first_alone + found.second_alone
