"""One sentence layer by layer: its hidden states, and what stands near its tokens there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from components.analysis.tokens import kinds, labels
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import FloatArray, Passport, Vocabulary
from components.features.layers.controls import MEASURE, MEASURES, SENTENCE, TOKEN
from components.features.layers.measures.tokens import (
    MEASURE_NAMES,
    Measure,
    Neighbours,
    layer_rows,
    lowest_cosine,
    measure,
    nearest,
    own_tokens,
    token_pairs,
)
from components.figures.similarity import cosine_range
from components.ui.state.controls import sentence_index
from components.ui.state.view import Sentence, ViewState, letter

__all__ = [
    "Arrays",
    "HiddenStates",
    "NearestTokens",
    "arrays",
    "encode_all",
    "hidden_states",
    "measure_table",
    "nearest_tokens",
    "pairs_of",
    "pairs_table",
    "rows",
    "shape_rows",
]

Arrays = dict[str, NDArray[Any]]
_NEAREST = 2
_MOST_CELLS = 64 * 64  # of a table of pairs


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """What the page shows of one sentence.

    Attributes:
        index: which sentence it is.
        labels: what is written on each token.
        measure: what the picture shows.
        layer: the chosen layer.
        picked: the position of the token that is looked at closer.
        band: the random-pair baseline, or None while it is being measured.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    encoding: Encoding
    labels: tuple[str, ...]
    measure: Measure
    layer: int
    picked: int
    band: Band | None

    @property
    def measured(self) -> str:
        """What the picture shows, in words."""
        if self.measure.kind == "first":
            return f"cosine to {self.labels[0]}"
        return MEASURE_NAMES[self.measure.kind]

    @property
    def own(self) -> np.ndarray:
        """Which tokens are the text's own."""
        return own_tokens(self.encoding)

    @property
    def n_unknown(self) -> int:
        """How many of the text's tokens are unknown ones; a typed "[UNK]" is what was typed."""
        return kinds(self.encoding, self.vocabulary).count("unknown")

    @property
    def chance(self) -> FloatArray | None:
        """(n_layers,) the random pairs' average cosine, where it is known."""
        return None if self.band is None else self.band.mean

    @cached_property
    def cosine_scale(self) -> tuple[float, float]:
        """One scale for every cosine of this sentence, whatever is looked at."""
        return cosine_range(np.array([lowest_cosine(self.encoding.hidden)]))

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the picture's colours."""
        if self.measure.kind != "length":
            return self.cosine_scale
        return 0.0, float(self.measure.values.max())

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers."""
        own = {} if self.band is None else {"baseline_pairs": N_PAIRS, "baseline_seed": SEED}
        encoded = self.encoding.passport
        return replace(encoded, settings={**encoded.settings, **own})


@dataclass(frozen=True, eq=False)
class NearestTokens:
    """The tokens nearest to the picked one at each layer, among those of all sentences.

    Attributes:
        names: what is written on each token of all sentences, and its sentence's letter.
        picked: the picked token's place among those.
        found: the nearest, by their places.
    """

    names: list[tuple[str, str]]
    picked: int
    found: Neighbours

    @property
    def is_empty(self) -> bool:
        """Whether there is no other token."""
        return not self.found.indices.shape[1]

    def table(self, states: HiddenStates) -> pd.DataFrame:
        """Layers down; the nearest tokens with their cosines across."""
        columns: dict[str, object] = {"layer": states.encoding.layers}
        for rank, places in enumerate(self.found.indices.T):
            columns[("nearest", "second")[rank]] = [" in ".join(self.names[i]) for i in places]
            columns[f"cosine {rank}"] = self.found.cosines[:, rank]
        if states.chance is not None:
            columns["random pairs"] = states.chance
        return pd.DataFrame(columns)


def hidden_states(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> HiddenStates:
    """Encode the chosen sentence and measure its tokens as the view's controls say."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair])[0]
    vocabulary = service.vocabulary(view.model)
    return HiddenStates(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        encoding=encoding,
        labels=labels(encoding, vocabulary),
        measure=measure(encoding, MEASURES[MEASURE.of(view)]),
        layer=view.layer if view.layer in encoding.layers else encoding.layers[-1],
        picked=_picked(view, encoding, sentence),
        band=None if baseline is None else baseline.band("mean", centred=False),
    )


def encode_all(view: ViewState, service: EncoderService) -> list[Encoding]:
    """Every current sentence's encoding, all layers."""
    pairs = [sentence.pair for sentence in view.sentences]
    return service.encode(view.model, [s.text for s in view.sentences], pairs=pairs)


def nearest_tokens(view: ViewState, states: HiddenStates, service: EncoderService) -> NearestTokens:
    """What is nearest to the picked token; added tokens and itself do not count."""
    encodings = encode_all(view, service)
    names = [
        (label, letter(i))
        for i, encoding in enumerate(encodings)
        for label in labels(encoding, states.vocabulary)
    ]
    counts = np.concatenate([own_tokens(encoding) for encoding in encodings])
    picked = sum(e.n_tokens for e in encodings[: states.index]) + states.picked
    counts[picked] = False
    vectors, texts = states.encoding.hidden[:, states.picked], [e.hidden for e in encodings]
    found = nearest(vectors, texts, np.flatnonzero(counts), _NEAREST)
    return NearestTokens(names, picked, found)


def pairs_of(states: HiddenStates) -> FloatArray:
    """(n_tokens, n_tokens) cosines of a sentence's tokens at the chosen layer."""
    own: FloatArray = token_pairs(states.encoding.layer(states.layer)[None])[0]
    return own


def pairs_table(pairs: FloatArray, names: Sequence[str]) -> pd.DataFrame | None:
    """Tokens by tokens, by position and name; None of a long text."""
    if pairs.size > _MOST_CELLS:
        return None
    own = [f"{position} {name}" for position, name in enumerate(names)]
    return pd.DataFrame(np.round(pairs, 4), index=own, columns=own)


def measure_table(states: HiddenStates) -> pd.DataFrame:
    """Tokens down, layers across: the numbers of the picture."""
    found = states.measure
    table = pd.DataFrame(found.values.T, columns=[f"layer {n}" for n in found.layers])
    table.insert(0, "token", states.labels)
    table.insert(0, "position", np.arange(len(table)))
    return table


def rows(states: HiddenStates, encodings: Sequence[Encoding]) -> list[dict[str, Any]]:
    """Every measure of every token at every layer, of all sentences."""
    return [
        row
        for i, encoding in enumerate(encodings)
        for row in layer_rows(encoding, labels(encoding, states.vocabulary), letter(i))
    ]


def shape_rows(encoding: Encoding) -> list[dict[str, str]]:
    """The shapes of what the model gives for a text."""
    found = {"hidden states (layers, tokens, dimensions)": encoding.hidden}
    if encoding.pooler_output is not None:
        found["pooler output (dimensions)"] = encoding.pooler_output
    return [{"array": name, "shape": str(array.shape)} for name, array in found.items()]


def arrays(encodings: Sequence[Encoding]) -> Arrays:
    """Every layer of every sentence, by the sentence's letter."""
    found: Arrays = {"layers": np.array(encodings[0].layers)}
    for i, encoding in enumerate(encodings):
        name = letter(i)
        texts = [encoding.text, *([encoding.pair] if encoding.pair else [])]
        found[f"hidden_{name}"] = encoding.hidden
        found[f"tokens_{name}"] = np.array(encoding.tokens)
        found[f"token_ids_{name}"] = encoding.token_ids
        found[f"text_{name}"] = np.array(texts)
        if encoding.pooler_output is not None:
            found[f"pooler_output_{name}"] = encoding.pooler_output
    return found


def _picked(view: ViewState, encoding: Encoding, sentence: Sentence) -> int:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    asked = TOKEN.of(view)
    if 0 <= asked < encoding.n_tokens:
        return asked
    first = sentence.word[0] if sentence.word else -1
    behind = (encoding.text_ids == 0) & (encoding.offsets[:, 1] > first)
    return int(np.flatnonzero(behind)[0]) if behind.any() else 0
