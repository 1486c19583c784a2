"""Attention in words: a head's habit or a mean, one token, and what was hidden, padded or lost.

All claims are computed here from the weights; the sentences are in `english.toml`. Shares that are
displayed as the same number count as equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from contextlens.analysis.tokens import source
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, occurrence, percent, placed, quoted, several
from contextlens.features.attention.compute import AttentionView, scope_name
from contextlens.features.attention.measures import Grid, GridItem, HeadSelection

CLEAR = 0.3
"""The smallest share of a head's attention that is called its habit."""
OVER_EVEN = 1.5
"""The smallest ratio of a habit to the share of evenly spread attention."""

_IN_TITLE = 12  # characters of a token


@dataclass(frozen=True)
class Habit:
    """The largest share of a head's attention, and the share in an even spread.

    Attributes:
        verdict: a name of `HABITS`, or "unclear" if no share stands out.
    """

    verdict: str
    share: float
    even: float


@dataclass(frozen=True)
class Largest:
    """The largest of some weights.

    Attributes:
        verdict: "one" or "several" weights are largest; "alike" if all are displayed as the same
            number; "faint" if none reaches 1%.
        indices: the indices of the largest.
        share: the largest weight.
    """

    verdict: Literal["one", "several", "alike", "faint"]
    indices: tuple[int, ...]
    share: float


def habit_of(selection: HeadSelection) -> Habit:
    """The habit of a head, or its largest share if no habit is clear."""
    shares, even = selection.shares, selection.even
    clear = [name for name in shares if shares[name] >= max(CLEAR, OVER_EVEN * even[name])]
    best = max(clear or shares, key=shares.__getitem__)
    return Habit(best if clear else "unclear", shares[best], even[best])


def largest(weights: Sequence[float]) -> Largest:
    """The largest weights, compared in whole per cent."""
    top = max(weights)
    best = tuple(i for i, weight in enumerate(weights) if percent(weight) == percent(top))
    if percent(top) in (percent(0), percent(1e-9)):
        return Largest("faint", best, top)
    if len(best) == 1:
        return Largest("one", best, top)
    return Largest("alike" if len(best) == len(weights) else "several", best, top)


# The reading


def attention_title(selection: HeadSelection, grid: Grid) -> Claim:
    """The finding of the heatmap, as a short title in plain text."""
    if selection.scope == "head":
        return _head_claim(selection, "title", str)
    top, labels = largest(_means(grid)), [item.label for item in grid.columns]
    first = top.indices[0]
    name = occurrence(labels[first], grid.columns[first].positions[0], labels, _IN_TITLE)
    verdict: str = top.verdict
    if verdict in ("one", "several"):
        verdict = "from" if selection.scope == "rollout" else "to"
    return claim(
        f"attention.title.{verdict}", Scope=scope_name(selection), share=top.share, name=name
    )


def attention_reading(selection: HeadSelection, grid: Grid, picked: tuple[str, int]) -> list[Claim]:
    """At most three claims: a head's habit or a mean, the picked token, and one caution.

    Args:
        selection: the selected heads.
        grid: their weights.
        picked: ("from", row) or ("to", column).
    """
    return [
        _head_claim(selection, "head", escape)
        if selection.scope == "head"
        else _mean_claim(selection, grid),
        _picked_claim(selection, grid, picked),
        claim(f"attention.caution.{'trained' if selection.trained else 'untrained'}"),
    ]


def attention_sure(selection: HeadSelection) -> list[Claim]:
    """The claims that say how the numbers of the reading were computed."""
    if selection.scope == "head":
        return [
            claim("attention.sure.pattern", least=CLEAR, times=OVER_EVEN),
            claim("attention.sure.counted"),
        ]
    return [claim("attention.sure.rollout")] if selection.scope == "rollout" else []


def _head_claim(selection: HeadSelection, kind: str, named: Callable[[str], str]) -> Claim:
    habit = habit_of(selection)
    return claim(
        f"attention.{kind}.{habit.verdict}",
        layer=selection.layer,
        head=selection.head,
        share=habit.share,
        even=habit.even,
        name=named(selection.names.get(habit.verdict, "")),
    )


def _mean_claim(selection: HeadSelection, grid: Grid) -> Claim:
    top = largest(_means(grid))
    kind = "rollout" if selection.scope == "rollout" else "mean"
    names = several(_names(grid.columns, top.indices))
    even = _even(selection, grid, grid.columns[top.indices[0]])
    return claim(f"attention.{kind}.{top.verdict}", names=names, share=top.share, even=even)


def _picked_claim(selection: HeadSelection, grid: Grid, picked: tuple[str, int]) -> Claim:
    side, index = picked
    items, others = (grid.rows, grid.columns) if side == "from" else (grid.columns, grid.rows)
    weights = (grid.weights[index] if side == "from" else grid.weights[:, index]).tolist()
    top = largest(weights)
    kind = f"rollout_{side}" if selection.scope == "rollout" else side
    return claim(
        f"attention.{kind}.{top.verdict}",
        word=_names(items, [index])[0],
        names=several(_names(others, top.indices)),
        share=top.share,
    )


def _means(grid: Grid) -> list[float]:
    """The mean weight of each column over the rows that are not padding."""
    real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
    means: list[float] = grid.weights[real].mean(axis=0).tolist()
    return means


def _even(selection: HeadSelection, grid: Grid, item: GridItem) -> float:
    """The weight of an item in an even spread over all tokens, or over those left after hiding."""
    per_token = selection.even["first"]
    if grid.renormalised:
        visible = {i for other in (*grid.rows, *grid.columns) for i in other.positions}
        per_token = 1 / len(visible)
    return per_token * len(item.positions)


def _names(items: Sequence[GridItem], indices: Sequence[int]) -> list[str]:
    """Names in quotation marks, with positions if several names are the same."""
    labels = [item.label for item in items]
    return [placed(labels[i], items[i].positions[0], labels) for i in indices]


# Notes on exceptions


def attention_notes(attention: AttentionView) -> list[Claim]:
    """Notes on tokens that were hidden, padded, unknown or cut off, one sentence each."""
    notes = [
        _special_note(attention),
        _text_note(attention),
        _pair_note(attention),
        _padding_note(attention),
        _unknown_note(attention),
    ]
    lost = attention.encoding.n_truncated
    notes.append(claim("attention.note.cut", n=lost) if lost else None)
    return [note for note in notes if note is not None]


def _special_note(attention: AttentionView) -> Claim | None:
    grid = attention.grid
    if attention.arrangement.special == "show":
        return None
    if not grid.hidden:
        return claim("attention.note.nothing_else")
    case = "divided" if grid.renormalised else "hidden"
    names = dict.fromkeys(attention.encoding.tokens[i] for i in grid.hidden)
    return claim(f"attention.note.{case}", names=escape(", ".join(names)))


def _text_note(attention: AttentionView) -> Claim | None:
    if (attention.encoding.text_ids >= 0).any():
        return None
    names = dict.fromkeys(attention.encoding.tokens)
    return claim("attention.note.only_special", names=escape(", ".join(names)))


def _pair_note(attention: AttentionView) -> Claim | None:
    if attention.sentence.pair is None:
        return None
    if attention.arrangement.direction == "all":
        return None if attention.card.has_segments else claim("attention.note.no_segments")
    return claim(f"attention.note.{'all_ways' if attention.grid.is_square else 'one_way'}")


def _padding_note(attention: AttentionView) -> Claim | None:
    n, requested = attention.encoding.n_tokens, attention.requested_pad
    if attention.pad_to is None:
        if requested in (0, n):
            return None
        return claim("attention.note.long_enough", n=n, asked=requested)
    mask = attention.encoding.attention_mask
    most = float(attention.weights[np.ix_(mask == 1, mask == 0)].max(initial=0.0))
    case = "padding_gets" if most else "padding"
    return claim(f"attention.note.{case}", n=int((mask == 0).sum()), most=most)


def _unknown_note(attention: AttentionView) -> Claim | None:
    unknown = [i for i, kind in enumerate(attention.kinds) if kind == "unknown"]
    if not unknown:
        return None
    word = quoted(source(attention.encoding, unknown[0]))
    return claim("attention.note.unknown", n=len(unknown), word=word)
