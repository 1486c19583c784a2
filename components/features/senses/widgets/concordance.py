"""Occurrences in their contexts, one below another with the word aligned: a component of the page.

User text travels as JSON and is shown as text, never as HTML. Must not import torch or
transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from components.features.senses.compute.concordance import Line
from components.ui.widgets.chips import direction_of, visible
from components.ui.widgets.component import component

__all__ = ["Cosines", "Row", "concordance_lines"]


@dataclass(frozen=True)
class Row:
    """A line of the concordance, and how it is marked.

    Attributes:
        line: the occurrence in its context.
        color: of its sense or group, "#0072B2".
        mark: its sense or group, in words.
    """

    line: Line
    color: str
    mark: str


@dataclass(frozen=True)
class Cosines:
    """What the column of cosines is about.

    Attributes:
        to: what they are cosines to: "cosine to your sentence".
        random: the mean of random pairs, drawn as a mark; None where it is not known.
    """

    to: str
    random: float | None = None


def concordance_lines(
    rows: Sequence[Row],
    *,
    key: str,
    name: str,
    marked_by: str,
    chosen: int | None,
    cosines: Cosines | None,
    on_pick: Callable[[int], None],
) -> None:
    """Shows lines; calls `on_pick(row)` when one is picked, by what names it in its corpus.

    Args:
        rows: what is shown, in order.
        key: the component's own key.
        name: what the list is, for who cannot see it.
        marked_by: the title of the column with senses or groups.
        chosen: the row of the occurrence that is looked at; None for none.
        cosines: what the column of cosines is about; None for no such column.
        on_pick: a callback in Streamlit's sense.
    """
    known = frozenset(row.line.row for row in rows)

    def receive(sent: object) -> None:
        if type(sent) is int and sent in known:  # `type`, because True is an int too
            on_pick(sent)

    data = {
        "lines": [_line(row) for row in rows],
        "name": name,
        "markedBy": marked_by,
        "chosen": chosen,
        "cosineTo": "" if cosines is None else cosines.to,
        "random": None if cosines is None else cosines.random,
    }
    component("components.features.senses", "concordance", data, key=key, on_pick=receive)


def _line(row: Row) -> dict[str, object]:
    line = row.line
    return {
        "row": line.row,
        "number": line.number,
        "left": visible(line.left),
        "keyword": visible(line.keyword),
        "right": visible(line.right),
        "dir": _direction(line),
        "color": row.color,
        "mark": visible(row.mark),
        "cosine": None if line.cosine is None else round(line.cosine, 4),
    }


def _direction(line: Line) -> Literal["ltr", "rtl"]:
    """Which way the word runs, or else its context."""
    return direction_of(f"{line.keyword} {line.right} {line.left}") or "ltr"
