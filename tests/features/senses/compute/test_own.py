"""A sentence of one's own: the sense or group it falls to, and why it cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import EncoderService
from components.features.senses.words import LONGEST_SENTENCE
from tests.features.senses.compute.live_senses import SENSES, TEXTS, live, shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no snake of that name", "“python” does not occur in your sentence"),
        ("pythons", "does not occur in your sentence"),
        ("python " * 2_000, f"and at most {LONGEST_SENTENCE:,} are compared."),
        ("word " * 200 + "python", "lies beyond the part of your sentence that the model reads."),
    ],
)
def test_a_sentence_that_cannot_be_compared_says_why(
    tiny_service: EncoderService, text: str, said: str
) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=text)
    assert own.sentence is not None
    assert said in own.sentence.problem
    assert own.cosines is None
    assert own.sentence.text == text
    assert len(own.concordance.lines) == 8


def test_a_sentence_of_the_corpus_is_nearest_to_itself(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[6], sort="cosine")
    assert own.sentence is not None
    assert own.sentence.near[0] == 6
    assert own.sentence.cosines[6] == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(own.sentence.places[own.layer], own.places[6], atol=1e-4)
    assert own.concordance.lines[0].place == 6
    fall = own.sentence.match
    assert fall is not None
    assert fall.kind == "sense"
    assert set(fall.names) == {"snake", "language"}
    assert fall.margin == pytest.approx(fall.cosines[0] - fall.cosines[1], abs=1e-6)
    expected = "in"
    expected = "between" if fall.margin < fall.low_margin else expected
    expected = "unlike" if fall.cosines[0] < fall.low_cosine else expected
    assert own.separation is not None
    low = own.separation.interval[0]
    expected = "unclear" if round(100 * low) <= round(100 * own.uses.trial.chance) else expected
    assert fall.verdict == expected


def test_without_labels_a_sentence_falls_to_a_group(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service), own=TEXTS[0], groups="2")
    assert own.sentence is not None
    assert own.sentence.match is not None
    assert own.sentence.match.kind == "group"
    alone = shown(tiny_service, live(tiny_service), own=TEXTS[0] + " python")
    assert alone.sentence is not None
    assert alone.sentence.match is None
    assert alone.sentence.n_more == 1
