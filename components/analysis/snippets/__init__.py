"""Python that computes a page's numbers with transformers alone, for readers who want to check.

One module for each page; the tests run what these functions return and compare.
"""

from __future__ import annotations

from components.features.anatomy.snippet import (
    anatomy_snippet,
    card_lines,
    config_lines,
    weights_snippet,
)
from components.features.attention.snippet import attention_snippet
from components.features.embedding_layer.snippet import embedding_snippet
from components.features.layers.snippet import (
    SnippetText,
    cka_snippet,
    layers_snippet,
    pooler_snippet,
    variance_snippet,
)
from components.features.map.snippet.redraw import redraw_snippet
from components.features.map.snippet.vectors import (
    SENTENCE_POOLINGS,
    MapText,
    SentencePooling,
    map_vectors_snippet,
)
from components.features.masks.snippet import masks_snippet
from components.features.meaning.snippet import SnippetWord, cosine_snippet
from components.features.tokens.snippet import row_snippet, tokens_snippet

__all__ = [
    "SENTENCE_POOLINGS",
    "MapText",
    "SentencePooling",
    "SnippetText",
    "SnippetWord",
    "anatomy_snippet",
    "attention_snippet",
    "card_lines",
    "cka_snippet",
    "config_lines",
    "cosine_snippet",
    "embedding_snippet",
    "layers_snippet",
    "map_vectors_snippet",
    "masks_snippet",
    "pooler_snippet",
    "redraw_snippet",
    "row_snippet",
    "tokens_snippet",
    "variance_snippet",
    "weights_snippet",
]
