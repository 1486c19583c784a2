"""The names of heads, of their habits and of means, with each model's own special tokens."""

from __future__ import annotations

from components.content.language import say
from components.features.attention.compute.attention import AttentionView
from components.features.attention.measures.heads import HABITS
from components.features.attention.measures.selection import Selection

__all__ = [
    "habit_names",
    "habits_caption",
    "head_titles",
    "heads_said",
    "scope_name",
    "sort_titles",
]


def habit_names(selection: Selection) -> list[str]:
    """The habits but the entropy, in their order, with this model's own special tokens."""
    first, others = selection.names["first"], selection.names["separators"]
    rest = say("attention.habit.others", name=others) if others == first else others
    return [
        say("attention.habit.previous"),
        say("attention.habit.next"),
        first,
        rest or say("attention.habit.special"),
        say("attention.habit.word"),
    ]


def sort_titles(attention: AttentionView) -> list[str]:
    """What heads can be sorted by, in the control's order."""
    ends = [say(f"attention.habit.{name}_focused") for name in ("least", "most")]
    return [*habit_names(attention.selection), *ends]


def head_titles(attention: AttentionView) -> dict[str, str]:
    """The menu of heads by the control's value, in their order: "Layer 3, head 7 · 0.42"."""
    values = attention.heads.habits[..., HABITS.index(attention.sort_habit)]
    key = f"attention.menu.{'entropy' if attention.sort_habit == 'entropy' else 'share'}"
    return {
        f"{layer}.{head}": say(key, layer=layer, head=head, value=float(values[layer - 1, head]))
        for layer, head in attention.order
    }


def heads_said(attention: AttentionView) -> list[list[str]]:
    """For each layer and head, how much it has of the habit that they are sorted by."""
    column = HABITS.index(attention.sort_habit)
    key = f"attention.hover.{'entropy' if attention.sort_habit == 'entropy' else 'share'}"
    name = [*habit_names(attention.selection), ""][column]
    rows = attention.heads.habits[..., column].tolist()
    return [[say(key, name=name, value=value) for value in row] for row in rows]


def scope_name(selection: Selection) -> str:
    """What a mean or rollout is of."""
    return say(f"attention.scope.{selection.scope}", n=selection.layer)


def habits_caption(attention: AttentionView) -> str:
    """What the bars under the heads are about."""
    selection = attention.selection
    place = {"n": selection.layer, "layer": selection.layer, "head": selection.head}
    return say(f"attention.bars.{selection.scope}", **place)
