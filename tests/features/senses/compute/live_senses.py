"""A small live corpus on pythons of both kinds, and what Senses makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute import Senses, senses_in
from components.features.senses.words import MissingWord
from tests.support.senses import senses_view

__all__ = ["MODEL", "SENSES", "TEXTS", "live", "missing", "shown"]

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


def missing(service: EncoderService, corpus: LiveCorpus, word: str) -> MissingWord:
    found = senses_in(corpus, senses_view(word=word), service)
    assert isinstance(found, MissingWord)
    return found
