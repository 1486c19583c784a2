"""Whole layers: how alike they are over the same words, and how the sample's words vary in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from components.content.sample import baseline_sentences
from components.core import EncoderService, ModelCard
from components.core.byte_cache import remembered
from components.core.schema import FloatArray
from components.core.words import split_words
from components.features.layers.compute.tokens import HiddenStates, encode_all
from components.features.layers.controls import WORDS
from components.features.layers.measures import spaces
from components.features.layers.measures.spaces import Alike, Words
from components.features.layers.snippet import SnippetText
from components.ui.state.view import ViewState

__all__ = [
    "COMPONENTS",
    "Compared",
    "Spread",
    "alike_table",
    "compared_layers",
    "sample_words",
    "snippet_texts",
    "spread_of",
    "spread_table",
]

COMPONENTS = (1, 3, 10)
"""How many principal components the picture of the variance counts."""
_RUN = 32  # sample sentences encoded at a time
_EVERY = 2  # of the sample's sentences: half of them give `MAX_WORDS` words


@dataclass(frozen=True, eq=False)
class Compared:
    """The layers of two models, or of one, over the same words.

    Attributes:
        names: the models' titles.
        words: the words in each model.
        alike: how alike the layers are.
        is_one: whether both are one model.
    """

    names: tuple[str, str]
    words: tuple[Words, Words]
    alike: Alike
    is_one: bool


@dataclass(frozen=True, eq=False)
class Spread:
    """The sample's words in a model, and the share of their variance in the first components.

    Attributes:
        sample: a few words of each of the sample's sentences.
        shares: (n_layers, n) for the first 1, 2, ... n components.
    """

    sample: Words
    shares: FloatArray


def compared_layers(
    view: ViewState, card: ModelCard, other: ModelCard, service: EncoderService
) -> Compared:
    """The layers of a model beside another's, or its own, over the words that the view names."""
    ours = _words_of(view, card, service)
    theirs = ours if other is card else _words_of(view, other, service)
    own = () if _is_sample(view) else tuple((s.text, s.pair) for s in view.sentences)
    alike = remembered(
        "alike layers",
        card.checksum,
        other.checksum,
        own,
        compute=lambda: spaces.alike(*spaces.shared(ours, theirs)),
    )
    names = card.title, other.title
    return Compared(names, (ours, theirs), alike, is_one=other is card)


def alike_table(compared: Compared, cka: FloatArray) -> pd.DataFrame:
    """A kind of CKA with the first model's layers down, the second's across."""
    table = pd.DataFrame(cka, columns=[f"layer {n}" for n in range(cka.shape[1])])
    table.insert(0, compared.names[0], [f"layer {n}" for n in range(len(table))])
    return table


def snippet_texts(view: ViewState, compared: Compared) -> list[SnippetText]:
    """The sentences that have words in both models, with the spans of these."""
    ours, theirs = compared.words
    both = set(theirs.keys)
    keys = [key for key in ours.keys if key in both]
    texts = []
    for i, sentence in enumerate(view.sentences):
        groups = [
            tuple(split_words(text)[word] for at, which, word in keys if (at, which) == (i, own))
            for own, text in enumerate((sentence.text, sentence.pair or ""))
        ]
        texts.append(SnippetText(sentence.text, sentence.pair, groups[0], groups[1]))
    return [text for text in texts if text.words or text.pair_words]


def spread_of(states: HiddenStates, service: EncoderService) -> Spread:
    """How the sample's words vary at each layer of a model."""
    sample, n = sample_words(states.card, service), max(COMPONENTS)
    shares = remembered(
        "variance of layers",
        states.card.checksum,
        n,
        compute=lambda: spaces.variance_shares(sample.vectors, n),
    )
    return Spread(sample, shares)


def spread_table(states: HiddenStates, shares: FloatArray) -> pd.DataFrame:
    """Layers down: random pairs, where they are known, and the shares of the variance."""
    columns: dict[str, object] = {"layer": states.encoding.layers}
    if states.band is not None:
        columns |= {
            "random pairs, average": states.band.mean,
            "5th percentile": states.band.low,
            "95th percentile": states.band.high,
        }
    columns |= {f"first {count} of the variance": shares[:, count - 1] for count in COMPONENTS}
    return pd.DataFrame(columns)


def sample_words(card: ModelCard, service: EncoderService) -> Words:
    """A few words of each of the sample's sentences in a model; remembered."""
    return remembered(
        "sample words", card.id, card.checksum, compute=lambda: _sample(card.id, service)
    )


def _is_sample(view: ViewState) -> bool:
    return WORDS.of(view) != WORDS.default


def _words_of(view: ViewState, card: ModelCard, service: EncoderService) -> Words:
    """The words of the sample or of the current sentences in a model."""
    if _is_sample(view):
        return sample_words(card, service)
    return spaces.words_of(encode_all(replace(view, model=card.id), service))


def _sample(model: str, service: EncoderService) -> Words:
    texts = baseline_sentences()[::_EVERY]
    chosen = spaces.sample_choice([_spelled(text) for text in texts])
    runs = [slice(i, i + _RUN) for i in range(0, len(texts), _RUN)]
    parts = [spaces.words_of(service.encode(model, texts[run]), chosen[run]) for run in runs]
    return spaces.join(parts, [len(texts[run]) for run in runs])


def _spelled(text: str) -> Sequence[tuple[int, int, str]]:
    return [(a, b, text[a:b]) for a, b in split_words(text)]
