"""Embedding layer, from a view to what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from components.analysis.tokens import labels
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import (
    PROJECTIONS,
    EmbeddingParts,
    FloatArray,
    Parameter,
    Passport,
    Vocabulary,
)
from components.features.embedding_layer.figures.parts import Panel
from components.features.embedding_layer.measures.parts import Norm, rebuild, shares, summands
from components.figures.strips import signed_bound
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "MAX_ROWS",
    "PAGE",
    "SECTIONS",
    "WIDTHS",
    "EmbeddingView",
    "compute",
    "focus_of",
    "index_of",
    "norm_of",
]

PAGE = "embedding_layer"
SECTIONS = ("Same word", "Neighbours", "Positions", "Segments", "What is learned")
WIDTHS = ("All", "64", "16", "8")
MAX_ROWS = 24
"""Tokens drawn at once: more would have no room for their names, and megabytes of values."""


@dataclass(frozen=True, eq=False)
class EmbeddingView:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        encoding: the model's own layer 0.
        labels: what is written on each token.
        norm: what follows the sum.
        rebuilt: (n_tokens, n_dims) layer 0 as computed here.
        shares: for each part (n_tokens,) its share of the sum.
        picked: the token that is looked at alone; None for all of them.
        focus: the token that is told about: the picked one, or the chosen word's first.
        rows: the first token drawn and the one after the last.
        dims: the first dimension drawn and how many there are.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    parts: EmbeddingParts
    encoding: Encoding
    labels: tuple[str, ...]
    norm: Norm
    rebuilt: FloatArray
    shares: Mapping[str, FloatArray]
    picked: int | None
    focus: int
    rows: tuple[int, int]
    dims: tuple[int, int]

    @property
    def layer_0(self) -> FloatArray:
        """(n_tokens, n_dims) the model's own."""
        return self.encoding.layer(0)

    @property
    def difference(self) -> float:
        """The largest one between our layer 0 and the model's."""
        return float(np.abs(self.rebuilt - self.layer_0).max(initial=0))

    @property
    def passport(self) -> Passport:
        """How to get the same numbers again."""
        encoded = self.encoding.passport
        own: dict[str, Any] = {"layer_norm_epsilon": self.parts.epsilon}
        return replace(encoded, settings={**encoded.settings, **own})

    def panels(self) -> list[Panel]:
        """The steps of the sum, cut to the tokens and dimensions that are shown."""
        parts = self.parts
        steps = [("" if i == 0 else "+", *row) for i, row in enumerate(summands(parts).items())]
        first = [*steps, ("=", "sum", parts.total)]
        then = [("→", "LayerNorm", parts.normalized)] if parts.projected else []
        bound = signed_bound(*(rows for _, _, rows in first))
        return [
            *(self._panel(*step, bound) for step in first),
            *(self._panel(*step, signed_bound(parts.normalized)) for step in then),
            self._panel("→", "layer 0", self.layer_0, signed_bound(self.layer_0)),
        ]

    def _panel(self, sign: str, name: str, rows: FloatArray, bound: float) -> Panel:
        first, n = self.dims
        begin = min(first, max(0, rows.shape[1] - n))  # tables are narrower before a projection
        shown = slice(self.picked, self.picked + 1) if self.picked is not None else self._window
        return Panel(sign, name, rows[shown, begin : begin + n], begin, bound)

    @property
    def _window(self) -> slice:
        return slice(*self.rows)


def index_of(view: ViewState) -> int:
    """Which sentence the view looks at; the first where it names none."""
    letter = str(view.control(PAGE, "sentence", "A"))
    index = ord(letter) - ord("A") if len(letter) == 1 else 0
    return index if 0 <= index < len(view.sentences) else 0


def compute(view: ViewState, service: EncoderService, card: ModelCard) -> EmbeddingView:
    """Take the embedding layer apart for the chosen sentence."""
    index = index_of(view)
    sentence = view.sentences[index] if view.sentences else Sentence("")
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    vocabulary = service.vocabulary(view.model)
    norm = norm_of(view.model, service, parts)
    n_tokens = parts.tokens.n_tokens
    picked = _picked(view, n_tokens)
    return EmbeddingView(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        parts=parts,
        encoding=encoding,
        labels=labels(parts.tokens, vocabulary),
        norm=norm,
        rebuilt=rebuild(list(summands(parts).values()), norm),
        shares=shares(parts),
        picked=picked,
        focus=focus_of(parts, sentence) if picked is None else picked,
        rows=_rows(view, n_tokens),
        dims=_dims(view, card.n_dims),
    )


def norm_of(model: str, service: EncoderService, parts: EmbeddingParts) -> Norm:
    """What follows the sum in a model, read from its parameters."""
    projection = None
    if parts.projected:
        name = _projection(service.parameters(model))
        projection = (
            service.matrix(model, f"{name}.weight"),
            service.matrix(model, f"{name}.bias"),
        )
    return Norm(
        scale=service.matrix(model, "embeddings.LayerNorm.weight"),
        shift=service.matrix(model, "embeddings.LayerNorm.bias"),
        epsilon=parts.epsilon,
        projection=projection,
    )


def focus_of(parts: EmbeddingParts, sentence: Sentence) -> int:
    """The chosen word's first token, or the first of the text."""
    tokens, word = parts.tokens, sentence.word
    starts = [
        i
        for i in range(tokens.n_tokens)
        if tokens.text_ids[i] == 0 and (word is None or tokens.offsets[i, 1] > word[0])
    ]
    return starts[0] if starts else 0


def _projection(parameters: tuple[Parameter, ...]) -> str:
    names = {parameter.name for parameter in parameters}
    return next(name for name in PROJECTIONS.values() if f"{name}.weight" in names)


def _picked(view: ViewState, n_tokens: int) -> int | None:
    asked = str(view.control(PAGE, "token", ""))
    known = asked.isascii() and asked.isdigit() and len(asked) < 6 and int(asked) < n_tokens
    return int(asked) if known else None


def _rows(view: ViewState, n_tokens: int) -> tuple[int, int]:
    asked = int(view.control(PAGE, "first_token", 0))
    first = min(max(asked, 0), max(0, n_tokens - MAX_ROWS))
    return first, min(n_tokens, first + MAX_ROWS)


def _dims(view: ViewState, n_dims: int) -> tuple[int, int]:
    width = str(view.control(PAGE, "width", WIDTHS[0]))
    n = min(int(width), n_dims) if width in WIDTHS[1:] else n_dims
    asked = int(view.control(PAGE, "first_dim", 0))
    return min(max(asked, 0), n_dims - n), n
