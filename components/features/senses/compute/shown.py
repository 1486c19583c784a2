"""What the page shows: a word in a corpus with what was drawn around on its map."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core import EncoderService
from components.core.errors import CorpusError
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.concordance import Concordance, concordance
from components.features.senses.compute.corpora import corpus_of
from components.features.senses.compute.course import units_at
from components.features.senses.compute.picture import Picture, picture_of
from components.features.senses.compute.senses import Senses, senses_in
from components.features.senses.compute.stored import open_stored
from components.features.senses.compute.word import Missing
from components.features.senses.controls import COLOR, ONLY, ROWS, SORT
from components.features.senses.figures.colors import MAX_COLORED
from components.figures.theme import CATEGORICAL, NEUTRAL
from components.ui.models.services import service
from components.ui.state.view import ViewState

__all__ = ["Again", "Shown", "arrays", "color_of_code", "name_of", "shown_of"]


@dataclass(frozen=True, eq=False)
class Shown:
    """A word as the page shows it.

    Attributes:
        view: what is chosen.
        corpus: where the word is looked up.
        senses: the word.
        picture: its map.
        drawn: the rows that were drawn around; none for no lasso.
    """

    view: ViewState
    corpus: SearchableCorpus
    senses: Senses
    picture: Picture
    drawn: tuple[int, ...] = ()

    @property
    def is_selected(self) -> bool:
        """Whether the concordance shows a part of the occurrences."""
        return len(self.senses.concordance.order) < self.senses.found.n

    @property
    def selected(self) -> tuple[int, ...] | None:
        """The places that stay on the map while others fade; None for no selection."""
        return tuple(self.senses.concordance.order.tolist()) if self.is_selected else None

    @property
    def rows(self) -> tuple[int, ...]:
        """What names the occurrences that the concordance shows, as it is sorted."""
        own = self.senses.found.occurrences.rows
        return tuple(own[self.senses.concordance.order].tolist())

    @property
    def every_row(self) -> tuple[int, ...]:
        """What names each occurrence, by its place."""
        return tuple(self.senses.found.occurrences.rows.tolist())

    def color(self, place: int) -> str:
        """The colour of an occurrence, the same as its point's."""
        return color_of_code(int(self.picture.codes[place]), len(self.picture.names))

    def mark(self, place: int) -> str:
        """What colours an occurrence: its sense or its group, in words."""
        code = int(self.picture.codes[place])
        return self.picture.names[code] if code >= 0 else self.picture.none


@dataclass(frozen=True)
class Again:
    """What it takes to find what is shown again; small, so that a session may keep it."""

    view: ViewState

    def senses(self) -> tuple[Senses, SearchableCorpus]:
        """The word as it was looked at.

        Raises:
            ContextlensError: the corpus is gone, or has no such word any more.
        """
        corpus = corpus_of(self.view, service(), open_stored)
        senses = senses_in(corpus, self.view, service())
        if isinstance(senses, Missing):
            raise CorpusError(senses.problem)
        return senses, corpus


def shown_of(
    view: ViewState,
    corpus: SearchableCorpus,
    service: EncoderService,
    drawn: tuple[str, tuple[int, ...]] | None = None,
) -> Shown | Missing:
    """What a view shows of a corpus, or why there is nothing of its word.

    Args:
        view: what is chosen.
        corpus: where the word is looked up.
        service: encodes what is asked of a live corpus, and the own sentence.
        drawn: the name of the word whose map was drawn on, and the rows that were drawn around.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    senses = senses_in(corpus, view, service)
    if isinstance(senses, Missing):
        return senses
    rows = drawn[1] if drawn is not None and drawn[0] == name_of(senses) else ()
    if rows:
        senses = replace(senses, concordance=_within(senses, view, rows))
    return Shown(view, corpus, senses, picture_of(senses, COLOR.of(view)), rows)


def name_of(senses: Senses) -> str:
    """A short name that only the same occurrences share."""
    return hashlib.sha256(senses.found.key.encode("utf-8", "replace")).hexdigest()[:12]


def color_of_code(code: int, n: int) -> str:
    """The colour of one of `n` senses or groups by its number, as on the map; -1 for none."""
    if code < 0:
        return NEUTRAL
    n_own = n if n <= MAX_COLORED else MAX_COLORED - 1
    return CATEGORICAL[code] if code < n_own else CATEGORICAL[-1]


def arrays(senses: Senses, corpus: SearchableCorpus) -> dict[str, NDArray[Any]]:
    """What a NPZ has: the vectors at the layer shown, and what was computed of them."""
    found, course = senses.found, senses.course
    own = found.occurrences
    curve = course.curve
    return {
        "rows": own.rows,
        "texts": own.texts,
        "spans": own.spans,
        "layer": np.array(senses.layer),
        "vectors": units_at(found, corpus, senses.layer).astype(np.float32),
        "layers": np.array(course.layers),
        "places": np.stack([placed.places for placed in course.placed]),
        "groups": senses.grouping.groups,
        "senses": np.array(found.senses, dtype=np.str_),
        "sense_codes": found.codes,
        "folds": found.trial.folds,
        "accuracy": np.array([each.accuracy for each in curve], dtype=np.float64),
        "interval": np.array([each.interval for each in curve], dtype=np.float64).reshape(-1, 2),
        "silhouette": np.array([each.silhouette for each in curve], dtype=np.float64),
    }


def _within(senses: Senses, view: ViewState, rows: Sequence[int]) -> Concordance:
    places = [place for row in rows if (place := senses.found.place_of(row)) is not None]
    return concordance(
        senses.found,
        senses.grouping.groups,
        senses.cosines,
        sort=SORT.of(view),
        page=ROWS.of(view),
        only=ONLY.asked(view) or "",
        within=places,
    )
