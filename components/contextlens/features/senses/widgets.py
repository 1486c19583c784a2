"""The components of the Senses page: its concordance, and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from contextlens.features.senses.compute import ConcordanceLine
from contextlens.ui.widgets.chips import direction_of, visible
from contextlens.ui.widgets.component import component

# --- Occurrences in their contexts


@dataclass(frozen=True)
class MarkedLine:
    """A line of the concordance, with its mark.

    Attributes:
        line: the occurrence in its context.
        color: the colour of its sense or group, "#0072B2".
        mark: its sense or group, in words.
    """

    line: ConcordanceLine
    color: str
    mark: str


@dataclass(frozen=True)
class CosineColumn:
    """The description of the column of cosines.

    Attributes:
        to: the title, which names the target: "cosine to your sentence".
        random: the mean of random pairs, drawn as a mark; None if it is unknown.
    """

    to: str
    random: float | None = None


def concordance_lines(
    rows: Sequence[MarkedLine],
    *,
    key: str,
    name: str,
    marked_by: str,
    chosen: int | None,
    cosines: CosineColumn | None,
    on_pick: Callable[[int], None],
) -> None:
    """Show lines; call `on_pick(row)` with the identifier of a picked occurrence.

    Args:
        rows: the lines, in order.
        key: the component's own key.
        name: the list's name, for screen readers.
        marked_by: the title of the column with senses or groups.
        chosen: the row of the chosen occurrence; None for none.
        cosines: the description of the column of cosines; None for no such column.
        on_pick: receives the identifier; runs as a Streamlit callback.
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
    component("contextlens.features.senses", "concordance", data, key=key, on_pick=receive)


def _line(row: MarkedLine) -> dict[str, object]:
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


def _direction(line: ConcordanceLine) -> Literal["ltr", "rtl"]:
    """The writing direction of the word, or else of its context."""
    return direction_of(f"{line.keyword} {line.right} {line.left}") or "ltr"


# --- Groups of occurrences as cards


@dataclass(frozen=True)
class ColorShare:
    """A share of a group: its colour and its number of occurrences."""

    color: str
    n: int


@dataclass(frozen=True)
class CentralUse:
    """A central example: the identifier of the occurrence in its corpus, and its context."""

    row: int
    left: str
    keyword: str
    right: str


@dataclass(frozen=True)
class Card:
    """A group.

    Attributes:
        key: the key for choosing it: "g0".
        title: "group 1".
        n: its number of occurrences.
        words: its typical words, in one line; "" for none.
        parts: its shares, in the order of its strip of colours.
        made_of: its shares in words; "" for none.
        examples: its most central occurrences.
    """

    key: str
    title: str
    n: int
    words: str
    parts: tuple[ColorShare, ...]
    made_of: str
    examples: tuple[CentralUse, ...]


def group_cards(
    cards: Sequence[Card],
    *,
    key: str,
    chosen: str,
    row: int | None,
    on_group: Callable[[str], None],
    on_row: Callable[[int], None],
) -> None:
    """Show cards; call back when a group or one of its examples is picked.

    Args:
        cards: the groups.
        key: the component's own key.
        chosen: the key of the selected group; "" for none.
        row: the identifier of the chosen occurrence; None for none.
        on_group: receives the key of a group; runs as a Streamlit callback.
        on_row: receives the identifier of an occurrence, in the same way.
    """
    groups = frozenset(card.key for card in cards)
    rows = frozenset(example.row for card in cards for example in card.examples)

    def receive(sent: object) -> None:
        if not isinstance(sent, Mapping):
            return
        group, picked = sent.get("group"), sent.get("row")
        if isinstance(group, str) and group in groups:
            on_group(group)
        elif type(picked) is int and picked in rows:
            on_row(picked)

    data = {"cards": [_card(card) for card in cards], "chosen": chosen, "row": row}
    component("contextlens.features.senses", "groups", data, key=key, on_pick=receive)


def _card(card: Card) -> dict[str, object]:
    return {
        "key": card.key,
        "title": card.title,
        "n": card.n,
        "words": visible(card.words),
        "parts": [asdict(part) for part in card.parts],
        "madeOf": visible(card.made_of),
        "examples": [
            {
                "row": example.row,
                "left": visible(example.left),
                "keyword": visible(example.keyword),
                "right": visible(example.right),
            }
            for example in card.examples
        ],
    }
