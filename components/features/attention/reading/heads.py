"""The heads beside each other in words: their names, and how much they have of a habit."""

from __future__ import annotations

from components.features.attention.compute.attention import AttentionView
from components.features.attention.measures.heads import HABITS
from components.features.attention.reading.weights import habit_names

__all__ = ["habits_caption", "head_titles", "heads_said", "sort_titles"]


def sort_titles(attention: AttentionView) -> list[str]:
    """What heads can be sorted by, in the control's order."""
    return [*habit_names(attention.selection), "least focused", "most focused"]


def head_titles(attention: AttentionView) -> dict[str, str]:
    """The menu of heads by the control's value, in their order: "Layer 3, head 7 · 0.42"."""
    values = attention.heads.habits[..., HABITS.index(attention.sort_habit)]
    return {
        f"{layer}.{head}": f"Layer {layer}, head {head} · "
        f"{values[layer - 1, head]:.2f}{_unit(attention)}"
        for layer, head in attention.order
    }


def heads_said(attention: AttentionView) -> list[list[str]]:
    """For each layer and head, how much it has of the habit that they are sorted by."""
    column = HABITS.index(attention.sort_habit)
    name = [*habit_names(attention.selection), "entropy"][column]
    values = attention.heads.habits[..., column]
    return [[f"{name} {value:.4f}{_unit(attention)}" for value in row] for row in values]


def habits_caption(attention: AttentionView) -> str:
    """What the bars under the heads are about."""
    selection = attention.selection
    return {
        "head": f"Layer {selection.layer}, head {selection.head}: share of attention on",
        "layer": f"Layer {selection.layer}, mean of its heads: share on",
        "all": "Mean of all heads: share on",
    }.get(selection.scope, f"Mean of {_through(selection.layer)}: share on")


def _through(layer: int) -> str:
    return "layer 1" if layer == 1 else f"layers 1 to {layer}"


def _unit(attention: AttentionView) -> str:
    return " bits" if attention.sort_habit == "entropy" else ""
