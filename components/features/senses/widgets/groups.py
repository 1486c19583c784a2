"""Groups of occurrences as cards: size, typical words, what is in them, central examples.

User text travels as JSON and is shown as text, never as HTML. Must not import torch or
transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from components.ui.widgets.chips import visible
from components.ui.widgets.component import component

__all__ = ["Card", "Example", "Part", "group_cards"]


@dataclass(frozen=True)
class Part:
    """A share of a group: its colour and how many there are."""

    color: str
    n: int


@dataclass(frozen=True)
class Example:
    """A central example: what names the occurrence in its corpus, and its context."""

    row: int
    left: str
    keyword: str
    right: str


@dataclass(frozen=True)
class Card:
    """A group.

    Attributes:
        key: by which it is chosen: "g0".
        title: "group 1".
        n: how many occurrences it has.
        words: what is typical of it, in one line; "" for nothing.
        parts: what it is made of, the largest first, as a strip of colours.
        made_of: the same in words; "" for nothing.
        examples: its most central occurrences.
    """

    key: str
    title: str
    n: int
    words: str
    parts: tuple[Part, ...]
    made_of: str
    examples: tuple[Example, ...]


def group_cards(
    cards: Sequence[Card],
    *,
    key: str,
    chosen: str,
    row: int | None,
    on_group: Callable[[str], None],
    on_row: Callable[[int], None],
) -> None:
    """Shows cards; calls back when a group or one of its examples is picked.

    Args:
        cards: the groups.
        key: the component's own key.
        chosen: the key of the group that is selected; "" for none.
        row: the occurrence that is looked at; None for none.
        on_group: gets the key of a group; a callback in Streamlit's sense.
        on_row: gets what names an occurrence.
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
    component("components.features.senses", "groups", data, key=key, on_pick=receive)


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
                "row": own.row,
                "left": visible(own.left),
                "keyword": visible(own.keyword),
                "right": visible(own.right),
            }
            for own in card.examples
        ],
    }
