"""Leaving out with transformers alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from components.analysis.snippet_start import literal
from components.features.why.compute.leave_out import LeftOut, LeftWord
from components.features.why.measures.cutting import cut
from components.features.why.snippet.start import MAKES, given, numbers, of_side, reads, script
from components.ui.widgets.comparison.compute import chosen_span

__all__ = ["MAX_WRITTEN", "case_name", "leave_out_snippet", "written_cases"]

MAX_WRITTEN = 40
"""Words, and pairs of words, that are written into the script: those that do most."""

_CHANGES = """
changes = {name: cosine(one, other) - score for name, (one, other) in cases.items()}
for name, change in changes.items():
    print(f"{name}: {change:+.4f}")
"""


def leave_out_snippet(shown: LeftOut) -> str:
    """A script that leaves `changes`, by the names of `case_name`."""
    score = shown.score
    lines = ["cases = {  # what is left out, and both vectors without it"]
    for case in written_cases(shown):
        both = [_without(shown, side, [w for w in case if w.side == side]) for side in (0, 1)]
        lines.append(f"    {literal(case_name(shown, case))}: ({both[0]}, {both[1]}),")
    parts = (
        reads(score, hides=shown.how == "hidden"),
        MAKES,
        numbers(score),
        "\n".join([*lines, "}"]),
        _CHANGES,
    )
    return script(score.card, *parts)


def written_cases(shown: LeftOut) -> list[tuple[LeftWord, ...]]:
    """Words, then pairs of words where they were left out: those that move the cosine most."""
    order = np.argsort(-np.abs(shown.changes), kind="stable")[:MAX_WRITTEN]
    alone: list[tuple[LeftWord, ...]] = [(shown.words[i],) for i in sorted(order.tolist())]
    if shown.pairs is None:
        return alone
    pairs = list(combinations(range(len(shown.words)), 2))
    pairs.sort(key=lambda pair: -abs(float(shown.pairs[pair])))  # type: ignore[index]
    return [*alone, *((shown.words[i], shown.words[j]) for i, j in pairs[:MAX_WRITTEN])]


def case_name(shown: LeftOut, case: tuple[LeftWord, ...]) -> str:
    """Which words are left out: by letter, position and word."""
    sides = shown.score.sides
    each = (f"{sides[w.side].letter} {w.unit.positions[0]} {w.unit.label}" for w in case)
    own = [f"{name} ({w.side + 1})" for name, w in zip(each, case, strict=True)]
    return " and ".join(own)


def _without(shown: LeftOut, which: int, words: list[LeftWord]) -> str:
    if not words:
        return "ab"[which]
    side, what = shown.score.sides[which], shown.score.what
    if shown.how == "hidden":
        hidden = [i for word in words for i in word.unit.positions]
        return f"vector({of_side(side, what)}, hidden={hidden})"
    encoding, units = side.encoding, [word.unit for word in words]
    left = cut(encoding.text, [u.span for u in units if u.span and u.text_id == 0])
    pair = encoding.pair
    if pair is not None:
        pair = cut(pair, [u.span for u in units if u.span and u.text_id == 1]).text
    span = chosen_span(side.sentence) if what == "word" else None
    return f"vector({given(left.text, pair, None if span is None else left.moved(span))})"
