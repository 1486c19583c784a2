"""The embedding layer taken apart for the chosen sentence: what the main picture shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
from components.features.embedding_layer.controls import (
    MAX_ROWS,
    SENTENCE,
    WIDTH,
    first_dim_in,
    first_token_in,
    token_in,
)
from components.features.embedding_layer.figures.parts import Panel
from components.features.embedding_layer.measures.parts import (
    Contribution,
    Norm,
    contributions,
    part_rows,
    rebuild,
    summands,
)
from components.figures.strips import signed_bound
from components.ui.state.controls import sentence_index
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "EmbeddingView",
    "arrays",
    "embedding_view",
    "focus_of",
    "norm_of",
    "token_table",
    "value_table",
]


_DOWNLOADED = {
    "share": "share",
    "norm": "norm",
    "left_out_moved": "moved",
    "left_out_turned": "turned",
}
"""What is downloaded of each part, by the end of its name."""
_AGREE = 1e-5  # largest difference over the largest value, which counts from 1


@dataclass(frozen=True, eq=False)
class EmbeddingView:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        encoding: the model's own layer 0.
        labels: what is written on each token.
        norm: what follows the sum.
        rebuilt: (n_tokens, n_dims) layer 0 as computed here.
        contributions: what each part does to each token.
        picked: the token that is looked at alone; None for all of them.
        focus: the token that is told about: the picked one, or the chosen word's first.
        window: the tokens that are drawn where none is picked.
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
    contributions: Mapping[str, Contribution]
    picked: int | None
    focus: int
    window: slice
    dims: tuple[int, int]

    @property
    def n_tokens(self) -> int:
        """How many tokens the text has, added ones too."""
        return self.parts.tokens.n_tokens

    @property
    def layer_0(self) -> FloatArray:
        """(n_tokens, n_dims) the model's own."""
        return self.encoding.layer(0)

    @property
    def difference(self) -> float:
        """The largest one between our layer 0 and the model's."""
        return float(np.abs(self.rebuilt - self.layer_0).max(initial=0))

    @property
    def agrees(self) -> bool:
        """True if rounding explains the difference: as far as the service promises it."""
        return self.difference <= _AGREE * max(1.0, float(np.abs(self.layer_0).max(initial=0)))

    @property
    def shares(self) -> dict[str, FloatArray]:
        """For each part (n_tokens,) its projection share of the sum."""
        return {name: part.share for name, part in self.contributions.items()}

    @property
    def passport(self) -> Passport:
        """How to get the same numbers again."""
        encoded = self.encoding.passport
        own: dict[str, Any] = {"layer_norm_epsilon": self.parts.epsilon}
        return replace(encoded, settings={**encoded.settings, **own})

    def panels(self) -> list[Panel]:
        """The steps of the sum, cut to the tokens and dimensions that are drawn."""
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
        drawn = self.window if self.picked is None else slice(self.picked, self.picked + 1)
        return Panel(sign, name, rows[drawn, begin : begin + n], begin, bound)


def embedding_view(view: ViewState, service: EncoderService, card: ModelCard) -> EmbeddingView:
    """Take the embedding layer apart for the chosen sentence."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    vocabulary = service.vocabulary(view.model)
    names = labels(parts.tokens, vocabulary)
    norm = norm_of(view.model, service, parts)
    picked = _picked(view, names)
    return EmbeddingView(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        parts=parts,
        encoding=encoding,
        labels=names,
        norm=norm,
        rebuilt=rebuild(list(summands(parts).values()), norm),
        contributions=contributions(parts, norm),
        picked=picked,
        focus=focus_of(parts, sentence) if picked is None else picked,
        window=_window(view, len(names)),
        dims=_dims(view, card.n_dims),
    )


def token_table(embedding: EmbeddingView) -> pd.DataFrame:
    """Tokens down: the rows that are added, without columns of what the model has not."""
    rows = part_rows(embedding.parts, embedding.contributions, embedding.labels)
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def value_table(embedding: EmbeddingView) -> pd.DataFrame:
    """Dimensions down, the steps of the sum of one token across."""
    parts, i = embedding.parts, embedding.focus
    columns = {name: rows[i] for name, rows in summands(parts).items()}
    columns |= {"sum": parts.total[i]}
    columns |= {"LayerNorm": parts.normalized[i]} if parts.projected else {}
    columns |= {"layer 0, ours": embedding.rebuilt[i]}
    columns |= {"layer 0, the model's": embedding.layer_0[i]}
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    table.insert(0, "dimension", range(len(table)))
    return table


def arrays(embedding: EmbeddingView) -> dict[str, NDArray[Any]]:
    """All that is downloaded: the steps of the sum, and what each part does."""
    parts = embedding.parts
    return {
        **summands(parts),
        "sum": parts.total,
        "normalized": parts.normalized,
        "layer_0": embedding.layer_0,
        "rebuilt": embedding.rebuilt,
        "token_ids": parts.tokens.token_ids,
        "position_ids": parts.position_ids,
        "tokens": np.array(parts.tokens.tokens),
        "text": np.array(parts.tokens.text),
        "pair": np.array(parts.tokens.pair or ""),
        **{
            f"{name}_{what}": getattr(part, field)
            for name, part in embedding.contributions.items()
            for what, field in _DOWNLOADED.items()
        },
    }


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


def _picked(view: ViewState, names: Sequence[str]) -> int | None:
    position = token_in(names).of(view)
    return int(position) if position else None


def _window(view: ViewState, n_tokens: int) -> slice:
    first = first_token_in(n_tokens).of(view)
    return slice(first, min(n_tokens, first + MAX_ROWS))


def _dims(view: ViewState, n_dims: int) -> tuple[int, int]:
    width = WIDTH.of(view)
    n = n_dims if width == WIDTH.default else min(int(width), n_dims)
    return first_dim_in(n_dims, n).of(view), n
