"""The result of one capability: a closer look, a way of explaining, a kind of picture.

A capability is one module of a feature. It has a `Panel` with the numbers, the function that
computes it, its formula, and its words. It does not import Streamlit: the feature's `page.py`
draws it, with the parts of `ui/widgets/kit.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.content.language import Claim

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Arrays: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Panel:
    """The result of a capability. Subclasses hold its numbers and override what they have."""

    formula: ClassVar[str] = ""
    """The definitions, in Markdown."""

    def claims(self) -> Sequence[Claim]:
        """Return the reading: the finding, its number, and at most one caution."""
        return ()

    def sure(self) -> Sequence[Claim]:
        """Return the details that are folded under "How sure is this?"."""
        return ()

    def notes(self) -> Sequence[Claim]:
        """Return remarks in small type: what was left out, what does not apply."""
        return ()

    def figure(self) -> Figure | None:
        """Return the chart, if there is one."""
        return None

    def alt(self) -> str:
        """Return a description of the chart for readers who cannot see it."""
        return ""

    def rows(self) -> Rows:
        """Return the numbers of the chart as a table."""
        return ()

    def arrays(self) -> Arrays:
        """Return the numbers by name, as in an NPZ file."""
        return {}

    def snippet(self) -> str:
        """Return Python that computes the same numbers with transformers alone."""
        return ""
