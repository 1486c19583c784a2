"""The components of the Senses page: its concordance, and its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from contextlens.features.senses.concordance import ConcordanceLine
from contextlens.features.senses.groups import Card
from contextlens.features.senses.word_map import WordMap
from contextlens.ui.widgets.chips import direction_of, visible
from contextlens.ui.widgets.component import component


def concordance_lines(
    lines: Sequence[ConcordanceLine],
    word_map: WordMap,
    *,
    key: str,
    name: str,
    chosen: int | None,
    cosine_title: str,
    random: float | None,
    on_pick: Callable[[int], None],
) -> None:
    """Show lines; call `on_pick(row)` with the identifier of a picked occurrence.

    Args:
        lines: the lines, in order.
        word_map: the map with the colours of their senses or groups.
        key: the component's own key.
        name: the list's name, for screen readers.
        chosen: the row of the chosen occurrence; None for none.
        cosine_title: the title of the column of cosines, which names their target; "" for no
            such column.
        random: the mean cosine of random pairs, drawn as a mark; None if it is unknown.
        on_pick: receives the identifier; runs as a Streamlit callback.
    """
    known = frozenset(line.row for line in lines)

    def receive(sent: object) -> None:
        if type(sent) is int and sent in known:  # `type`, because True is an int too
            on_pick(sent)

    data = {
        "lines": [
            {
                "row": line.row,
                "number": line.index + 1,
                "left": visible(line.left),
                "keyword": visible(line.keyword),
                "right": visible(line.right),
                "dir": direction_of(f"{line.keyword} {line.right} {line.left}") or "ltr",
                "color": word_map.color(line.index),
                "mark": visible(word_map.mark(line.index)),
                "cosine": None if line.cosine is None else round(line.cosine, 4),
            }
            for line in lines
        ],
        "name": name,
        "markedBy": word_map.by,
        "chosen": chosen,
        "cosineTo": cosine_title,
        "random": random if cosine_title else None,
    }
    component("contextlens.features.senses", "concordance", data, key=key, on_pick=receive)


def show_cards(
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
