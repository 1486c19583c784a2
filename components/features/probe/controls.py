"""The controls of the probe, each declared once."""

from __future__ import annotations

from collections.abc import Mapping

from components.ui.state.controls import Choice, choice

__all__ = ["KEPT", "LABEL", "PAGE", "SOURCE", "kept_among"]

PAGE = "probe"

SOURCE = choice(PAGE, "source", ("sentiment", "ambiguous", "kept"))
KEPT = choice(PAGE, "kept", ("",))
"""A stored corpus by its name; `kept_among` has those that a visit knows."""
LABEL = choice(PAGE, "label", ("kind",))
"""The column with the labels; the corpus has the options. The ready corpus opens on its kinds."""


def kept_among(titles: Mapping[str, str]) -> Choice:
    """The choice among the stored corpora that a visit knows, by name, with their titles."""
    return KEPT.among({**KEPT.options, **titles})
