"""The angles between the words of the examples, against the model's own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from components.analysis.words import word_vectors
from components.content.examples import EXAMPLES
from components.core import BUNDLED_ID, EncoderService
from components.core.words import find_word
from components.features.home.compute import angles, example_angles


def test_angles_are_those_of_the_cosines() -> None:
    found = angles(np.array([1.0, 0.5, 0.0, -1.0, 1.0000001]))
    assert found.tolist() == pytest.approx([0, 60, 90, 180, 0])


def test_each_example_s_first_two_words_are_compared(service: EncoderService) -> None:
    found = example_angles(service, BUNDLED_ID)
    assert set(found) == {example.key for example in EXAMPLES if example.model is None}
    for example in EXAMPLES[:3]:
        first, second = example.sentences[:2]
        vectors = [
            word_vectors(service.encode(BUNDLED_ID, [s.text])[0], find_word(s.text, s.word))
            for s in (first, second)
        ]
        for row in (0, 3, 6):
            a, b = vectors[0][row], vectors[1][row]
            cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
            assert np.cos(np.radians(found[example.key][row])) == pytest.approx(cosine, abs=1e-5)
