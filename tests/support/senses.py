"""Words in made-up vectors and in a small live corpus, and views of the page Senses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import scaled, trial_of
from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import Occurrences
from contextlens.features.senses.controls import PAGE
from contextlens.features.senses.occurrences import MissingWord, WordUses, word_in
from contextlens.features.senses.senses import Senses, senses_in
from contextlens.ui.state.old_controls import renamed_controls
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState

__all__ = [
    "HALF",
    "MODEL",
    "SENSES",
    "TEXTS",
    "clouds",
    "live",
    "missing",
    "senses_view",
    "shown",
    "uses_of",
    "word_uses",
]


def senses_view(*texts: str, layer: int | None = None, **controls: Any) -> ViewState:
    """A view of the page; of own sentences, where some are given."""
    own = {"corpus": "sentences", **controls} if texts else controls
    sentences = tuple(map(Sentence, texts)) or DEFAULT.sentences
    return replace(
        DEFAULT, sentences=sentences, layer=layer, controls=renamed_controls({PAGE: own}, PAGE)
    )


def clouds(
    sizes: Sequence[int], *, apart: float = 5.0, n_dims: int = 24, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Scaled vectors in clouds around random middles, and the number of each one's cloud."""
    random = np.random.default_rng(seed)
    middles = apart * random.normal(size=(len(sizes), n_dims))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return scaled(middles[codes] + random.normal(size=(len(codes), n_dims))), codes


MODEL = "folder:bert"
PETS = ("my {} slept here", "a {} is asleep under the warm lamp", "feed the {}", "the {} was happy")
CODE = ("write it in {}", "a program in {}", "{} is a language", "she taught {} to anyone")
TEXTS = [text.format("python") for text in PETS + CODE]
SENSES = ("snake",) * 4 + ("language",) * 4


def live(
    service: EncoderService, texts: Sequence[str] = TEXTS, model: str = MODEL, **labels: Any
) -> LiveCorpus:
    own = Corpus("Snakes", tuple(texts), labels=labels)
    return LiveCorpus(own, service, model, split="split")


def shown(service: EncoderService, corpus: LiveCorpus, **controls: Any) -> Senses:
    layer = controls.pop("layer", None)
    view = senses_view(layer=layer, **{"word": "python", **controls})
    found = senses_in(corpus, view, service)
    assert isinstance(found, Senses), found
    return found


def uses_of(corpus: LiveCorpus, word: str = "python") -> WordUses:
    uses = word_in(corpus, word, "".join(corpus.columns))
    assert isinstance(uses, WordUses)
    return uses


def missing(service: EncoderService, corpus: LiveCorpus, word: str) -> MissingWord:
    found = senses_in(corpus, senses_view(word=word), service)
    assert isinstance(found, MissingWord)
    return found


def word_uses(labels: list[str], word: str = "python", split: tuple[str, ...] = ()) -> WordUses:
    n = len(labels)
    senses = tuple(sorted(set(labels) - {""}, key=lambda s: (-labels.count(s), s)))
    own = Occurrences(
        word=word,
        rows=np.arange(n),
        texts=np.arange(n),
        spans=np.tile([2, 2 + len(word)], (n, 1)),
        surfaces=(word,) * n,
        left=("a",) * n,
        right=("",) * n,
        is_target=np.ones(n, bool),
        n_total=n,
    )
    return WordUses(
        key="k",
        word=word,
        corpus="Some *texts*",
        model="m",
        occurrences=own,
        texts=(f"a {word}",) * n,
        column="sense",
        labels=tuple(labels),
        senses=senses,
        codes=np.array([senses.index(label) if label else -1 for label in labels]),
        trial=trial_of(labels, split),
    )


HALF = word_uses(["animal"] * 16 + ["language"] * 16)
