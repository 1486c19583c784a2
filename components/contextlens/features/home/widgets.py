"""The gallery of Start here: examples as cards, each with its small picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from contextlens.ui.widgets.component import component


@dataclass(frozen=True)
class Card:
    """An example on its card.

    Attributes:
        key: the example's key.
        title: its title.
        question: the question that it answers.
        picture: the URL of its small picture; empty for none.
        alt: the picture in words.
        current: True if it is the example on the page.
        download: the label of the button that gets its model; empty if none is needed.
    """

    key: str
    title: str
    question: str
    picture: str
    alt: str
    current: bool
    download: str


def gallery_cards(cards: Sequence[Card], *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show cards; call `on_pick(key)`, in a callback, with the key of a picked example."""
    known = frozenset(card.key for card in cards)

    def receive(sent: object) -> None:
        if isinstance(sent, str) and sent in known:
            on_pick(sent)

    data = {"cards": [asdict(card) for card in cards]}
    component("contextlens.features.home", "gallery", data, key=key, on_pick=receive)
