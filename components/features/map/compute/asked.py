"""What a view asks the page to map, found out once a run."""

from __future__ import annotations

from dataclasses import dataclass

from components.core import ModelCard
from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.features.map.compute.colors import color_choice
from components.features.map.corpora import corpus_of
from components.features.map.request import request_of
from components.maps.request import MapRequest
from components.ui.state.controls import Choice
from components.ui.state.view import ViewState

__all__ = ["Asked", "asked_map"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What the page is asked to map.

    Attributes:
        corpus: the texts; None where a file is to be chosen first, or where there is a problem.
        request: the map of them; None without texts.
        color: what its points can be coloured by.
        problem: why the texts cannot be used, or "".
    """

    corpus: Corpus | None
    request: MapRequest | None
    color: Choice
    problem: str = ""


def asked_map(view: ViewState, card: ModelCard) -> Asked:
    """What a view asks for."""
    problem, corpus = "", None
    try:
        corpus = corpus_of(view)
    except CorpusError as exc:
        problem = str(exc)
    request = request_of(view, card, "" if corpus is None else corpus.key)
    color = color_choice(request, corpus)
    return Asked(corpus, None if corpus is None else request, color, problem)
