"""What the points of a map can be coloured by, and what a view chooses of it."""

from __future__ import annotations

from components.corpus.corpus import Corpus
from components.features.map.controls import COLOR
from components.maps.picture import Picture
from components.maps.points import Unit
from components.maps.request import MapRequest
from components.ui.state.controls import Choice
from components.ui.state.view import ViewState

__all__ = ["GROUPS", "LAYER", "NOTHING", "color_choice", "color_of"]

GROUPS = "group on the map"
LAYER = "layer"
"""Points of all layers at once, coloured by their layer."""
NOTHING = "nothing"
_MOST_LABELS = 200
_GIVEN = " (label)"
"""What a column of the texts' labels ends with where the points have one of the same name."""


def color_choice(request: MapRequest, corpus: Corpus | None) -> Choice:
    """The colours that there are for some texts; "" is what suits them."""
    usual = _usual(request, corpus)
    others = {name: name for name in _names(request.unit, corpus) if name != usual}
    return COLOR.among({"": usual, **others}, default="")


def color_of(view: ViewState, picture: Picture) -> str:
    """The column that a view asks for, where the points of a map have it."""
    points = picture.points
    names = [*points.labels, *points.measures, GROUPS, NOTHING]
    names += ["token"] if points.unit == "tokens" else []
    names += [LAYER] if len(picture.layers) > 1 else []
    own = {name.removesuffix(_GIVEN): name for name in names} | {name: name for name in names}
    usual = _usual(picture.request, picture.corpus)
    return own.get(COLOR.among(own, default=usual).of(view), GROUPS)


def _names(unit: Unit, corpus: Corpus | None) -> list[str]:
    own = {
        "words": ["word", "part of text"],
        "tokens": ["token", "kind of token", "part of text"],
        "sentences": ["part of the texts"],
    }[unit]
    measures = ["sentence length in characters"]
    if unit != "sentences":
        measures.insert(0, "position in the sentence")
    given = [] if corpus is None else list(corpus.labels)
    return list(dict.fromkeys([*given, *own, GROUPS, LAYER, *measures, NOTHING]))


def _usual(request: MapRequest, corpus: Corpus | None) -> str:
    """What points are coloured by unless the view says otherwise."""
    if corpus is None or not corpus.labels:
        return GROUPS
    if corpus.spans is not None:  # chosen words: told apart by word, and one of them by its senses
        return "sense" if len(request.only) == 1 and request.unit == "words" else "word"
    return next((title for title, n in corpus.n_kinds.items() if 1 < n <= _MOST_LABELS), GROUPS)
