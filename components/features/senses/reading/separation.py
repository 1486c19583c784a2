"""How well the labelled senses of a word part, in words: best where, and how sure that is.

A layer is called best with its 95% interval, and the layers within that interval are named: they
may part the senses as well. That senses part at all is said where the best layer's interval lies
above chance, and that interval is wider, so that it misses at none of the layers in 95 of 100 cases
(Bonferroni). Shares are compared in whole per cent, as they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import listed, percent, quoted, shortened
from components.features.senses.compute.word import Found
from components.features.senses.measures.separation import RISK, Separation, best_of, wilson

__all__ = ["course_title", "is_clear", "separation_reading", "title_at"]

_LONGEST = 24
_TITLE = 80  # characters


def title_at(found: Found, own: Separation | None, layer: int) -> str:
    """What is found at one layer, for the title of the map there: plain text, short."""
    word = shortened(found.word, _LONGEST - 4)
    if own is None:
        times = "occurrence" if found.n == 1 else "occurrences"
        return f"Layer {layer}: {found.n:,} {times} of {word}"
    chance = percent(found.trial.chance)
    return f"Layer {layer}: {percent(own.accuracy)} of {word} get their sense, by chance {chance}"


def course_title(found: Found, curve: Sequence[Separation]) -> str:
    """What it comes to over all layers: plain text, at most 80 characters."""
    word = shortened(found.word, _LONGEST)
    if not curve:
        return f"The senses of {word} cannot be tested here"
    if not is_clear(found, curve):
        return f"No layer clearly parts the senses of {word}"
    best, _ = best_of(curve)
    numbers = f"({percent(curve[_row(curve, best[0])].accuracy)}, by chance "
    numbers += f"{percent(found.trial.chance)})"
    for longest in (_LONGEST, 12, 6):
        word = shortened(found.word, longest)
        for where in (listed(best), f"{len(best)} layers"):
            title = f"The senses of {word} part best at {where} {numbers}"
            if len(title) <= _TITLE:
                return title
    return f"The senses of {word} part best at {where}"


def is_clear(found: Found, curve: Sequence[Separation]) -> bool:
    """Whether the best layer lies above chance, though it is the best of many."""
    best = max(curve, key=lambda own: own.right)
    low = wilson(best.right, best.n, risk=RISK / len(curve))[0]
    return round(100 * low) > round(100 * found.trial.chance)


def separation_reading(found: Found, curve: Sequence[Separation], layer: int) -> list[str]:
    """One to three sentences of Markdown: over all layers, then at the one shown."""
    if not curve:
        return [_untested(found)]
    best, near = best_of(curve)
    top = curve[_row(curve, best[0])]
    said = [_best(found, curve, best, near, top)]
    here = next((own for own in curve if own.layer == layer), None)
    if here is not None and layer not in best:
        said.append(f"At layer {layer} it is **{percent(here.accuracy)}** ({_interval(here)}).")
    return said


def _best(
    found: Found,
    curve: Sequence[Separation],
    best: Sequence[int],
    near: Sequence[int],
    top: Separation,
) -> str:
    word, trial = quoted(found.word), found.trial
    always = f"**{percent(trial.chance)}** by always saying {quoted(trial.most_frequent)}"
    tested = f"of **{top.n:,}** {_how(found)}"
    share = f"**{percent(top.accuracy)}** {tested} get their own sense ({_interval(top)})"
    if not is_clear(found, curve):
        at = "At the only layer here" if len(curve) == 1 else f"Even at {_where(best)}"
        return f"{at}, where {share}, the senses of {word} do not clearly part: {always}."
    if len(curve) == 1:
        return f"At layer {top.layer}, the senses of {word} part: {share}, {always}."
    lead = f"The senses of {word} part best at {_where(best)}: {share}, {always}"
    if len(best) == len(curve):
        return f"The senses of {word} part as well at every layer: {share}, {always}."
    if not near:
        return f"{lead}. No other layer lies within that interval."
    if len(best) + len(near) == len(curve):
        return f"{lead}. Every other layer lies within that interval, so none stands out."
    lies = "lies" if len(near) == 1 else "lie"
    named = listed(near)
    return f"{lead}. {named[0].upper()}{named[1:]} {lies} within that interval, and may do as well."


def _row(curve: Sequence[Separation], layer: int) -> int:
    return [own.layer for own in curve].index(layer)


def _where(best: Sequence[int]) -> str:
    return f"{listed(best)} alike" if len(best) > 1 else listed(best)


def _interval(own: Separation) -> str:
    low, high = own.interval
    return f"95% interval {percent(low)} to {percent(high)}"


def _how(found: Found) -> str:
    if found.trial.how == "split":
        return "held-out occurrences"
    return f"occurrences, each left out of {found.trial.n_folds}-fold training,"


def _untested(found: Found) -> str:
    word = quoted(found.word)
    if found.trial.problem == "one":
        return f"All labels of {word} are {quoted(found.senses[0])}: there is nothing to part."
    if found.trial.problem == "single":
        return (
            f"How well the senses of {word} part cannot be tested: at least two senses need two "
            "examples each."
        )
    return (
        f"No senses of {word} are labelled here, so how well they part cannot be tested; groups "
        "come from the vectors alone."
    )
