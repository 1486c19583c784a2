"""The groups of the occurrences as cards, each with its words and its central examples."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from components.content.wording import escape
from components.features.senses.compute.contexts import around
from components.features.senses.compute.groups import Group
from components.features.senses.compute.shown import Shown, color_of_code
from components.features.senses.controls import ONLY
from components.features.senses.page import marks
from components.features.senses.reading import groups_claims
from components.features.senses.widgets.groups import Card, Example, Part, group_cards
from components.ui.widgets import kit

__all__ = ["groups"]

_N_NAMED = 4
_MOST_AT_ONCE, _HEIGHT = 6, 480  # more cards than that scroll
_AROUND = 44  # characters on each side of an example's word


def groups(shown: Shown, *, height: int | None = None) -> None:
    """What groups there are, in words and as cards.

    Args:
        shown: the word.
        height: in pixels, of cards that scroll; None for as much as they take.
    """
    senses = shown.senses
    if len(senses.grouping.each) > _MOST_AT_ONCE:
        height = height or _HEIGHT
    with st.container(height=height or "content", border=False, key="senses_group_box"):
        problem = escape(senses.grouping.problem)
        claims = [problem] if problem else groups_claims(senses.grouping, senses.layer)
        kit.reading(claims, key="reading_groups")
        if senses.grouping.each:
            rows = shown.rows
            group_cards(
                [_card(shown, group) for group in senses.grouping.each],
                key="senses_group_cards",
                chosen=ONLY.asked(shown.view) or "" if shown.is_selected else "",
                row=None if senses.chosen is None else shown.every_row[senses.chosen],
                on_group=marks.choose_group,
                on_row=lambda row: marks.choose(row, rows),
            )


def _card(shown: Shown, group: Group) -> Card:
    return Card(
        key=f"g{group.number}",
        title=group.name,
        n=group.n,
        words=", ".join(group.words),
        parts=tuple(_parts(shown, group)),
        made_of=_made_of(group),
        examples=tuple(_example(shown, place) for place in group.central),
    )


def _parts(shown: Shown, group: Group) -> Iterator[Part]:
    """Its senses in their colours, or where groups are coloured its own colour."""
    found, n_groups = shown.senses.found, len(shown.senses.grouping.each)
    if shown.picture.by == "group":
        yield Part(color_of_code(group.number, n_groups), group.n)
        return
    for name, n in group.senses:
        yield Part(color_of_code(found.senses.index(name), len(found.senses)), n)
    n_none = group.n - sum(n for _, n in group.senses)
    if n_none:
        yield Part(color_of_code(-1, 0), n_none)


def _made_of(group: Group) -> str:
    """Its most frequent senses and how often each is in it."""
    if group.senses and group.senses[0][1] == group.n:
        return f"all {group.senses[0][0]}"
    return ", ".join(f"{name} {n:,}" for name, n in group.senses[:_N_NAMED])


def _example(shown: Shown, place: int) -> Example:
    return Example(shown.every_row[place], *around(shown.senses.found, place, _AROUND))
