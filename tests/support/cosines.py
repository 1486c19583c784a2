"""The cosines that a page must show for the words and texts it compares: by sklearn."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import EncoderService
from contextlens.ui.state.view import ViewState

__all__ = ["expected"]


def expected(
    service: EncoderService,
    view: ViewState,
    pooling: str = "mean",
    means: tuple[Any, Any] = (0.0, 0.0),
) -> list[list[float]]:
    """For each pair on the page, its cosine at every layer and without context: by sklearn."""
    vectors, static = [], []
    for each in [*view.sentences, *view.references]:
        encoding = service.encode(view.model, [each.text])[0]
        start, end = each.word or (0, len(each.text))
        offsets = zip(encoding.offsets.tolist(), encoding.text_ids, strict=True)
        inside = [
            i for i, ((a, b), own) in enumerate(offsets) if own == 0 and a < end and b > start
        ]
        inside = {"mean": inside, "first": inside[:1], "last": inside[-1:]}[pooling]
        vectors.append(encoding.hidden[:, inside].mean(axis=1) - means[0])
        rows = service.word_rows(view.model, encoding.token_ids[inside])
        static.append(rows.mean(axis=0) - means[1])
    layers = [cosine_similarity(np.stack(vectors)[:, layer]) for layer in range(len(vectors[0]))]
    layers.append(cosine_similarity(np.stack(static)))
    n_sentences = len(view.sentences)
    pairs = itertools.combinations(range(len(vectors)), 2)
    return [[matrix[i, j] for matrix in layers] for i, j in pairs if i < n_sentences]
