"""Two words, corpora, layers or models side by side, and a word in the word table, in words.

One share is called more than another where their 95% intervals do not meet.
"""

from __future__ import annotations

from components.analysis.separation import Separation
from components.content.wording import bold, escape, percent, quoted, two
from components.features.senses.compute.senses import Senses
from components.features.senses.compute.table import InTable

__all__ = ["side_names", "sides_reading", "table_reading"]

_ALIKE = 0.01


def side_names(one: Senses, other: Senses) -> tuple[str, str]:
    """What tells two sides apart: their word, corpus, model or layer; plain text."""
    a, b = one.found, other.found
    for first, second in ((a.word, b.word), (a.corpus, b.corpus), (a.model, b.model)):
        if first != second:
            return first, second
    return f"layer {one.layer}", f"layer {other.layer}"


def sides_reading(one: Senses, other: Senses) -> list[str]:
    """Whether senses part better on one side, at the layers shown; nothing without labels."""
    first, second = one.separation, other.separation
    names = tuple(escape(name) for name in side_names(one, other))
    if first is None or second is None:
        missing = [n for n, own in zip(names, (first, second), strict=True) if own is None]
        return [f"Senses cannot be tested for {' and '.join(missing)}, so they are not compared."]
    both = f"{_share(names[0], first, one)}, {_share(names[1], second, other)}"
    if first.interval[0] > second.interval[1]:
        return [f"{both}: the senses part better for {names[0]}, their intervals do not meet."]
    if second.interval[0] > first.interval[1]:
        return [f"{both}: the senses part better for {names[1]}, their intervals do not meet."]
    return [f"{both}: their intervals meet, so neither clearly parts them better."]


def table_reading(own: InTable) -> list[str]:
    """What the word table's one point is near to."""
    word = quoted(own.surface)
    if own.problem:
        return [escape(own.problem)]
    n = len(own.pieces)
    rows = "has one row" if n == 1 else f"is the mean of {n} rows"
    lead = (
        f"In the word table {word} {rows}: one point, whatever it means. Its cosine to the "
        f"occurrences at layer 0 is {bold(own.average)} on average"
    )
    if len(own.senses) < 2:
        return [f"{lead}."]
    cosines = [float(value) for value in own.cosines]
    if max(cosines) - min(cosines) <= 2 * _ALIKE:
        return [f"{lead}, and about the same to every sense ({two(min(cosines))} or near)."]
    best = max(range(len(cosines)), key=lambda i: cosines[i])
    worst = min(range(len(cosines)), key=lambda i: cosines[i])
    return [
        f"{lead}; to the middle of {quoted(own.senses[best])} {bold(cosines[best])}, of "
        f"{quoted(own.senses[worst])} {bold(cosines[worst])}: what differs there is where the "
        "word stands, not what it means."
    ]


def _share(name: str, own: Separation, side: Senses) -> str:
    low, high = own.interval
    chance = percent(side.found.trial.chance)
    return (
        f"{name}: **{percent(own.accuracy)}** ({percent(low)} to {percent(high)}, always guessing: "
        f"{chance})"
    )
