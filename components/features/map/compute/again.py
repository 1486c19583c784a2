"""A map that was looked at, for its files: a session keeps its name, and finds it when asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from components.content.language import say
from components.core.errors import JobError
from components.features.map.compute.shown import MapShown, map_shown
from components.features.map.corpora import corpus_of
from components.jobs import Visitor
from components.maps.picture import Picture
from components.maps.request import MapRequest
from components.ui.models.background import maps
from components.ui.models.services import service
from components.ui.models.waiting import me
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["Again"]

_SECONDS = 60.0


@dataclass(frozen=True)
class Again:
    """What it takes to have a map again as it was looked at; small, and no part of the map.

    Attributes:
        view: as it was.
        request: the map that was on screen, an older one than the view's maybe.
        visitor: who looked.
    """

    view: ViewState
    request: MapRequest
    visitor: Visitor

    @classmethod
    def of(cls, shown: MapShown) -> Self:
        """Of the page's own map, in its run."""
        return cls(session.current(), shown.picture.request, me("map_again"))

    def shown(self) -> MapShown:
        """The map, drawn again where it had to make room.

        Raises:
            ContextlensError: it cannot be drawn again.
        """
        picture = maps().picture(self.request)
        return map_shown(self.view, self._drawn() if picture is None else picture)

    def _drawn(self) -> Picture:
        corpus = corpus_of(self.view)
        if corpus is None or corpus.key != self.request.corpus:
            raise JobError(say("map.waiting.again"))
        card = service().load(self.request.model)
        picture: Picture = maps().draw(self.request, corpus, card, self.visitor).result(_SECONDS)
        return picture
