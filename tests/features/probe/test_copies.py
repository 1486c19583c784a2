"""Copies of tested texts among those learned from."""

from __future__ import annotations

import pytest

from contextlens.core import ModelCard
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.copies import copies_of
from contextlens.features.probe.labelled_texts import labelled_texts

LONG = "one two three four five six"


@pytest.mark.parametrize(
    ("taught", "tested", "counts"),
    [
        ("Good film", "good  film!", (1, 0)),
        ("Good film", "a good film", (0, 0)),
        (LONG, "six five FOUR three two, one", (1, 0)),
        (LONG, "one two three four five", (0, 1)),
        (LONG, f"{LONG} seven", (0, 1)),
        (LONG, "one two three four five seven", (0, 1)),
        ("one two three four five", LONG, (0, 1)),
        (LONG, "one two three four eight seven", (0, 0)),
        (LONG, f"{LONG} seven eight", (0, 0)),
        ("!", "?", (0, 0)),
        ("😴", "💩", (0, 0)),
        ("दिन", "दान", (0, 0)),
        ("caf\u00e9", "Cafe\u0301!", (1, 0)),
    ],
)
def test_copies_and_near_copies_across_a_split_are_counted(
    card: ModelCard, taught: str, tested: str, counts: tuple[int, int]
) -> None:
    texts = (taught, "something else entirely", tested, "and this is unlike all of them")
    labels = {"mood": ("up", "down", "up", "down"), "split": ("train", "train", "test", "test")}
    labelled = labelled_texts(Corpus("mine", texts, labels), "mood", card)
    assert copies_of(labelled.texts, labelled.trial) == counts
