"""What Start here shows beside the comparison: how far the words of each example part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from components.analysis.similarity import cosine_matrix
from components.analysis.words import word_vectors
from components.content.examples import EXAMPLES, Example
from components.core import EncoderService
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.core.words import find_word

__all__ = ["angles", "example_angles"]


def angles(cosines: FloatArray) -> FloatArray:
    """Degrees between vectors with these cosines."""
    found: FloatArray = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    return found


def example_angles(service: EncoderService, model: str) -> Mapping[str, FloatArray]:
    """(n_layers,) degrees between the first two words of each example that is meant for a model.

    Examples whose words the model drops are left out.
    """
    own = [example for example in EXAMPLES if example.model in (None, model)]
    texts = [sentence.text for example in own for sentence in example.sentences[:2]]
    encodings = iter(service.encode(model, texts))
    found = {}
    for example in own:
        both = [next(encodings), next(encodings)]
        try:
            vectors = [word_vectors(e, _span(example, i)) for i, e in enumerate(both)]
        except RequestError:
            continue
        cosines = cosine_matrix(np.stack(vectors, axis=1))[:, 0, 1]
        found[example.key] = angles(cosines)
    return found


def _span(example: Example, index: int) -> tuple[int, int]:
    sentence = example.sentences[index]
    return find_word(sentence.text, sentence.word or "", sentence.occurrence) or (
        0,
        len(sentence.text),
    )
