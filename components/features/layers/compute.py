"""Layer by layer, from a view to what is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import streamlit as st

from components.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from components.analysis.tokens import labels
from components.content.sample import baseline_sentences
from components.core import EncoderService, Encoding, ModelCard
from components.core.schema import FloatArray, Passport, Vocabulary
from components.core.words import split_words
from components.features.layers.measures import spaces
from components.features.layers.measures.spaces import Alike, Words
from components.features.layers.measures.tokens import (
    Kind,
    Measure,
    lowest_cosine,
    measure,
    own_tokens,
)
from components.figures.similarity import cosine_range
from components.ui.state.view import Sentence, ViewState

__all__ = [
    "MEASURES",
    "PAGE",
    "SECTIONS",
    "WORDS",
    "LayerView",
    "alike",
    "compute",
    "encode_all",
    "index_of",
    "own_words",
    "sample_words",
    "variance_shares",
]

PAGE = "layers"
SECTIONS = ("One token", "Token pairs", "Layers compared", "Spread", "Pooler")
WORDS = ("Your sentences", "Sample sentences")
MEASURES: dict[str, Kind] = {
    "To layer 0": "start",
    "To layer before": "before",
    "To first token": "first",
    "Length": "length",
}
_RUN = 32  # sample sentences encoded at a time
_EVERY = 2  # of the sample's sentences: half of them give `MAX_WORDS` words


@dataclass(frozen=True, eq=False)
class LayerView:
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
    def name(self) -> str:
        """What the picture shows, in words."""
        first = self.labels[0]
        return {
            "start": "cosine to layer 0",
            "before": "cosine to layer before",
            "first": f"cosine to {first}",
            "length": "vector length",
        }[self.measure.kind]

    @property
    def own(self) -> np.ndarray:
        """Which tokens are the text's own."""
        return own_tokens(self.encoding)

    @property
    def n_unknown(self) -> int:
        """How many of the text's tokens are unknown ones."""
        unknown = self.vocabulary.unknown_id
        return 0 if unknown is None else int((self.encoding.token_ids == unknown).sum())

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


def compute(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> LayerView:
    """Encode the chosen sentence and measure its tokens as the view's controls say."""
    index = index_of(view)
    sentence = view.sentences[index]
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair or None])[0]
    vocabulary = service.vocabulary(view.model)
    asked = str(view.control(PAGE, "measure", ""))
    name = asked if asked in MEASURES else next(iter(MEASURES))
    return LayerView(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        encoding=encoding,
        labels=labels(encoding, vocabulary),
        measure=measure(encoding, MEASURES[name]),
        layer=view.layer if view.layer in encoding.layers else encoding.layers[-1],
        picked=_picked(view, encoding, sentence),
        band=None if baseline is None else baseline.band("mean", centred=False),
    )


def encode_all(view: ViewState, service: EncoderService) -> list[Encoding]:
    """Every current sentence's encoding, all layers."""
    pairs = [sentence.pair or None for sentence in view.sentences]
    return service.encode(view.model, [s.text for s in view.sentences], pairs=pairs)


def own_words(view: ViewState, model: str, service: EncoderService) -> Words:
    """The words of the current sentences in a model."""
    return spaces.words_of(encode_all(replace(view, model=model), service))


def sample_words(card: ModelCard, service: EncoderService) -> Words:
    """A few words of each of the sample's sentences in a model; remembered."""
    return _sample(card.id, card.checksum, service)


def alike(first: Words, second: Words, key: tuple[object, ...]) -> Alike:
    """How alike the layers of two models are, remembered under a key that decides the words."""
    return _alike(key, first, second)


def variance_shares(card: ModelCard, sample: Words, n: int) -> FloatArray:
    """The share of the sample's variance that the first components of each layer hold."""
    return _shares(card.checksum, n, sample.vectors)


@st.cache_resource(show_spinner=False, max_entries=4)
def _sample(model: str, checksum: str, _service: EncoderService) -> Words:  # noqa: ARG001 - the key
    texts = baseline_sentences()[::_EVERY]
    chosen = spaces.sample_choice([_words(text) for text in texts])
    runs = range(0, len(texts), _RUN)
    parts = [
        spaces.words_of(_service.encode(model, texts[i : i + _RUN]), chosen[i : i + _RUN])
        for i in runs
    ]
    return spaces.join(parts, [len(texts[i : i + _RUN]) for i in runs])


@st.cache_resource(show_spinner=False, max_entries=16)
def _alike(key: tuple[object, ...], _first: Words, _second: Words) -> Alike:  # noqa: ARG001
    return spaces.alike(*spaces.shared(_first, _second))


@st.cache_resource(show_spinner=False, max_entries=8)
def _shares(checksum: str, n: int, _vectors: FloatArray) -> FloatArray:  # noqa: ARG001 - the key
    return spaces.variance_shares(_vectors, n)


def _words(text: str) -> list[tuple[int, int, str]]:
    return [(a, b, text[a:b]) for a, b in split_words(text)]


def index_of(view: ViewState) -> int:
    """Which sentence the view looks at; the first where it names none."""
    letter = str(view.control(PAGE, "sentence", "A"))
    index = ord(letter) - ord("A") if len(letter) == 1 else 0
    return index if 0 <= index < len(view.sentences) else 0


def _picked(view: ViewState, encoding: Encoding, sentence: Sentence) -> int:
    """The token that the view names, or the chosen word's first, or the first of the text."""
    asked = int(view.control(PAGE, "token", -1))
    if 0 <= asked < encoding.n_tokens:
        return asked
    first = sentence.word[0] if sentence.word else -1
    behind = (encoding.text_ids == 0) & (encoding.offsets[:, 1] > first)
    return int(np.flatnonzero(behind)[0]) if behind.any() else 0
