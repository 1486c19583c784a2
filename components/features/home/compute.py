"""The data of Start here besides the comparison: angles between the words of each example."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from components.analysis.similarity import cosine_matrix
from components.analysis.words import word_vectors
from components.content.examples import EXAMPLES
from components.core import EncoderService
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.ui.state.view import from_example
from components.ui.widgets.comparison.compute import counted_span

__all__ = ["angles", "example_angles"]


def angles(cosines: FloatArray) -> FloatArray:
    """Degrees between vectors with these cosines."""
    degrees: FloatArray = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    return degrees


def example_angles(service: EncoderService, model: str) -> Mapping[str, FloatArray]:
    """(n_layers,) degrees between the first two words of each example that is meant for a model.

    Examples whose words the model cannot read are left out.
    """
    sentences = {e.key: from_example(e).sentences[:2] for e in EXAMPLES if e.model in (None, model)}
    encodings = iter(service.encode(model, [s.text for both in sentences.values() for s in both]))
    by_example = {}
    for key, both in sentences.items():
        encoded = [(next(encodings), counted_span(sentence) or (0, 0)) for sentence in both]
        with suppress(RequestError):
            vectors = np.stack([word_vectors(*occurrence) for occurrence in encoded], axis=1)
            by_example[key] = angles(cosine_matrix(vectors)[:, 0, 1])
    return by_example
