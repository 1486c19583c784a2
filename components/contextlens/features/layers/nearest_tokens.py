"""Closer look "One token": its vector at every layer, and its nearest tokens there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.tokens import labels
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import placed, several
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.layers.hidden_states import (
    HiddenStates,
    clip_cosines,
    encode_all,
    own_tokens,
    unit_vectors,
)
from contextlens.figures.frames import vector_strips
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState, letter

FORMULA = r"""
**Nearest tokens.** Of all tokens of all current sentences, added ones left out, those with the
highest cosine to the chosen token at the same layer. Those within 0.0001 of the highest count as
ties.
""".strip()

_TIE = 1e-4  # rounding differs as much between runs of a sentence


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest of some candidates at each layer, nearest first.

    Attributes:
        indices: (n_layers, n), the candidates' indices.
        cosines: (n_layers, n).
        tied: for each layer, the indices of all candidates that tie with the nearest.
    """

    indices: IntArray
    cosines: FloatArray
    tied: tuple[frozenset[int], ...]


@dataclass(frozen=True, eq=False)
class NearestTokens(Panel):
    """The tokens nearest to the picked one at each layer, among those of all sentences.

    Attributes:
        names: the text written on each token of all sentences, and its sentence's letter.
        picked: the index of the picked token among those.
        neighbours: the nearest tokens, by their indices.
        vectors: (n_layers, n_dims) the picked token's.
        layers: the layer of each row.
        layer: the chosen layer.
        random_cosines: the average similarity of random pairs at each layer, if known.
    """

    names: Sequence[tuple[str, str]]
    picked: int
    neighbours: Neighbours
    vectors: FloatArray
    layers: Sequence[int]
    layer: int
    random_cosines: FloatArray | None

    @property
    def is_empty(self) -> bool:
        """True if there is no other token."""
        return not self.neighbours.indices.shape[1]

    @property
    def label(self) -> str:
        """The text written on the picked token."""
        return self.names[self.picked][0]

    def claims(self) -> list[Claim]:
        """Return the token nearest to the picked one at the first and the last layer."""
        token, layers = self._placed(self.picked), self.layers
        if self.is_empty:
            return [claim("layers.nearest.none", token=token)]
        numbers: dict[str, Any] = {"token": token, "start": layers[0], "end": layers[-1]}
        for name, row in (("first", 0), ("last", -1)):
            numbers[name] = several(
                [
                    say("layers.nearest.name", token=self._placed(i), letter=self.names[i][1])
                    for i in sorted(self.neighbours.tied[row])
                ]
            )
            numbers[f"{name}_similarity"] = float(self.neighbours.cosines[row, 0])
        claims = [claim("layers.nearest.ends", **numbers)]
        if self.random_cosines is not None:
            random = float(self.random_cosines[layers[-1]])
            claims.append(claim("layers.nearest.random", layer=layers[-1], similarity=random))
        return claims

    def _placed(self, index: int) -> str:
        """Return a token by its label, with its position if the label occurs twice."""
        label, own_letter = self.names[index]
        own_labels = [other for other, its_letter in self.names if its_letter == own_letter]
        start = next(i for i, name in enumerate(self.names) if name[1] == own_letter)
        return placed(label, index - start, own_labels)

    def title(self) -> str:
        """Return the title of the vectors."""
        return say("layers.nearest.vector", token=self.label)

    def alt(self) -> str:
        """Return a description of the vectors."""
        return say("layers.nearest.vector_alt", title=self.title(), n=self.vectors.shape[1])

    def figure(self) -> go.Figure:
        """Return the picked token's vector at every layer as strips."""
        names = [f"layer {n}" for n in self.layers]
        chosen = list(self.layers).index(self.layer)
        return vector_strips(self.vectors, names, title=self.title(), chosen=chosen, height=340)

    def table(self) -> pd.DataFrame:
        """Return a row for each layer: the nearest tokens with their cosines."""
        columns: dict[str, object] = {"layer": self.layers}
        for rank, indices in enumerate(self.neighbours.indices.T):
            columns[("nearest", "second")[rank]] = [" in ".join(self.names[i]) for i in indices]
            columns[f"cosine {rank}"] = self.neighbours.cosines[:, rank]
        if self.random_cosines is not None:
            columns["random pairs"] = self.random_cosines
        return pd.DataFrame(columns)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the picked token's vectors."""
        return {"picked_vectors": self.vectors}


def nearest_tokens(view: ViewState, states: HiddenStates, service: EncoderService) -> NearestTokens:
    """Return the tokens nearest to the picked one, without itself and without added tokens."""
    encodings = encode_all(view, service)
    names = [
        (label, letter(i))
        for i, encoding in enumerate(encodings)
        for label in labels(encoding, states.vocabulary)
    ]
    is_candidate = np.concatenate([own_tokens(encoding) for encoding in encodings])
    picked = sum(e.n_tokens for e in encodings[: states.index]) + states.picked
    is_candidate[picked] = False
    vectors = states.encoding.hidden[:, states.picked]
    return NearestTokens(
        names=names,
        picked=picked,
        neighbours=nearest(vectors, [e.hidden for e in encodings], np.flatnonzero(is_candidate), 2),
        vectors=vectors,
        layers=states.encoding.layers,
        layer=states.layer,
        random_cosines=states.random_cosines,
    )


def nearest(
    vector: FloatArray, texts: Sequence[FloatArray], candidates: IntArray, n: int
) -> Neighbours:
    """Return the n candidates with the highest cosine to a vector at each layer.

    Args:
        vector: (n_layers, n_dims).
        texts: for each text, its (n_layers, n_tokens, n_dims) hidden states.
        candidates: indices of the candidates in the tokens of all texts, concatenated.
        n: the maximum number of neighbours.
    """
    indices, cosines, tied = [], [], []
    for row, layer_vector in enumerate(vector):  # layer by layer: all at once would take gigabytes
        unit = unit_vectors(layer_vector)
        values = np.concatenate([unit_vectors(text[row]) @ unit for text in texts])[candidates]
        order = np.argsort(-values, kind="stable")[:n]
        indices.append(candidates[order])
        cosines.append(clip_cosines(values[order]))
        near = values >= values.max(initial=-1.0) - _TIE
        tied.append(frozenset(candidates[near].tolist()))
    return Neighbours(np.stack(indices), np.stack(cosines), tuple(tied))
