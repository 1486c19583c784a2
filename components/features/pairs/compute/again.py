"""Pairs that were compared, for their files: a session keeps their names, and finds them then."""

from __future__ import annotations

from dataclasses import dataclass

from components.core.errors import JobError
from components.features.pairs.compute.asked import pairs_of
from components.features.pairs.compute.shown import PairsShown, chosen_layer
from components.features.pairs.compute.task import Compared, comparison_key
from components.ui.models.background import jobs
from components.ui.models.services import service
from components.ui.state.view import ViewState

__all__ = ["Again"]

_GONE = "This comparison had to make room for others. Look at the page again, then download it."


@dataclass(frozen=True)
class Again:
    """What it takes to find a comparison again; small, and no part of it."""

    view: ViewState

    def shown(self) -> PairsShown:
        """The pairs as they were looked at.

        Raises:
            JobError: they had to make room for others.
        """
        pairs = pairs_of(self.view)
        card = service().load(self.view.model)
        job = None if pairs is None else jobs().get(comparison_key(pairs, card))
        if pairs is None or job is None or job.state != "done":
            raise JobError(_GONE)
        compared: Compared = job.result()
        return PairsShown(pairs, compared, chosen_layer(self.view, compared.layers))
