"""The data of Start here besides the comparison: the cosines of each example's words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.words import word_vectors
from contextlens.content.examples import EXAMPLES
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.ui.state.view import from_example
from contextlens.ui.widgets.comparison.compute import counted_span


def example_cosines(service: EncoderService, model: str) -> Mapping[str, FloatArray]:
    """(n_sentences, n_layers) cosines of the words with the first, of each example for a model.

    Examples whose words the model cannot read are left out.
    """
    sentences = {e.key: from_example(e).sentences for e in EXAMPLES if e.model in (None, model)}
    encodings = iter(service.encode(model, [s.text for group in sentences.values() for s in group]))
    by_example = {}
    for key, group in sentences.items():
        encoded = [(next(encodings), counted_span(sentence) or (0, 0)) for sentence in group]
        with suppress(RequestError):
            vectors = np.stack([word_vectors(*occurrence) for occurrence in encoded], axis=1)
            by_example[key] = cosine_matrix(vectors)[:, 0, :].T
    return by_example
