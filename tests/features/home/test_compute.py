"""The cosines between the words of the examples, against the model's own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.words import word_vectors
from contextlens.content.examples import EXAMPLES
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word
from contextlens.features.home.compute import example_cosines


def test_each_example_s_words_are_compared_with_its_first(service: EncoderService) -> None:
    found = example_cosines(service, BUNDLED_ID)
    assert set(found) == {example.key for example in EXAMPLES if example.model is None}
    for example in EXAMPLES[:5]:
        vectors = [
            word_vectors(service.encode(BUNDLED_ID, [s.text])[0], find_word(s.text, s.word))
            for s in example.sentences
        ]
        assert found[example.key].shape == (len(vectors), 7)
        for row in (0, 3, 6):
            a = vectors[0][row]
            cosines = [a @ b[row] / np.linalg.norm(a) / np.linalg.norm(b[row]) for b in vectors]
            assert found[example.key][:, row] == pytest.approx(cosines, abs=1e-5)
