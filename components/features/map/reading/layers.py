"""A map through the layers, said in words: at which layer the senses of a word part, if they do.

Senses are apart at a layer where the occurrence nearest in the full space is one of the same sense
for more than half of what chance leaves. A few dozen occurrences seldom tell: so they are said to
be apart where the whole interval of that share lies above this bound, not to be where it lies below
it, and to lean apart where it lies above chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.content.wording import listed, percent, quoted, shortened
from components.features.map.reading.maps import interval
from components.maps.agreement import Agreement

__all__ = ["parted_layers", "senses_reading", "senses_title"]

_LONGEST = 24
_TITLE = 80
_LAYER_0 = (
    "Layer 0 has read no context: what agrees there is where in its sentence the word stands, and "
    "how it is written."
)


def parted_layers(agreed: Sequence[Agreement], layers: Sequence[int]) -> list[int]:
    """The layers at which senses (or other labels) are apart."""
    return [layer for found, layer in _pairs(agreed, layers) if found.is_apart]


def senses_title(
    agreed: Sequence[Agreement] | None, layers: Sequence[int], word: str, *, kind: str = "senses"
) -> str:
    """The finding as the chart's title, at most 80 characters; plain text, not Markdown."""
    what = f"The {kind} of {shortened(word, _LONGEST)}"
    if not _comparable(agreed):
        return f"{what}: nothing to compare"
    course = _course(agreed or (), layers)
    if not course:
        return f"{what}: too few occurrences to tell"
    said, short = (f"{what} {own}" for own in course)
    return said if len(said) <= _TITLE else short


def senses_reading(
    agreed: Sequence[Agreement] | None,
    layers: Sequence[int],
    layer: int,
    word: str,
    *,
    kind: str = "senses",
) -> list[str]:
    """One to five sentences: where senses part, how it is at a layer, which sense lags there.

    Args:
        agreed: the agreement of nearest occurrences at each layer; None with nothing to compare.
        layers: which layer each of them is, rising.
        layer: the chosen one, one of them.
        word: whose senses they are.
        kind: what the labels are called, in the plural.
    """
    if agreed is None or not _comparable(agreed):
        return [
            f"There is nothing to compare: {quoted(word)} needs two {kind}, and one of them in two "
            "sentences."
        ]
    at = agreed[list(layers).index(layer)]
    early = _LAYER_0 if 0 in _leaning(agreed, layers) else ""
    said = [*_story(agreed, layers, word, kind), early, _here(at, layer, kind), _few(at, layer)]
    return [sentence for sentence in said if sentence]


def _comparable(agreed: Sequence[Agreement] | None) -> bool:
    return bool(agreed) and all(0 < found.chance < 1 for found in agreed or ())


def _course(agreed: Sequence[Agreement], layers: Sequence[int]) -> tuple[str, ...]:
    """What follows "The senses of bank", and the same shorter; nothing where it cannot be told."""
    parted, leaning = parted_layers(agreed, layers), _leaning(agreed, layers)
    if parted:
        return _parted(agreed, layers, parted)
    if all(found.is_together for found in agreed):
        return ("never part",) * 2
    if leaning:
        return f"lean apart {_where(leaning, layers)}", f"lean apart at {len(leaning)} layers"
    return ()


def _parted(
    agreed: Sequence[Agreement], layers: Sequence[int], parted: Sequence[int]
) -> tuple[str, str]:
    """Whether they part at a layer or by it, and whether they stay apart."""
    first = list(layers).index(parted[0])
    start = f"are apart at layer {parted[0]}"
    if first:
        how = "at" if agreed[first - 1].is_together else "by"
        start = f"part {how} layer {parted[0]}"
    if any(found.is_together for found in agreed[first:]):
        return (f"{start} and merge again",) * 2
    if first and list(parted) == list(layers[first:]):
        return start, start
    where = _where(parted, layers)
    return f"are apart {where}", f"are apart at {len(parted)} of {len(layers)} layers"


def _leaning(agreed: Sequence[Agreement], layers: Sequence[int]) -> list[int]:
    return [layer for found, layer in _pairs(agreed, layers) if found.is_clear]


def _where(some: Sequence[int], layers: Sequence[int]) -> str:
    """Some of the layers: "from layer 2 on", or which they are."""
    if list(some) == list(layers):
        return "at every layer"
    if len(some) > 1 and list(some) == list(layers[-len(some) :]):
        return f"from layer {some[0]} on"
    return f"at {listed(some)}"


def _story(agreed: Sequence[Agreement], layers: Sequence[int], word: str, kind: str) -> list[str]:
    what, course = f"The {kind} of {quoted(word)}", _course(agreed, layers)
    lead = f"{what} {course[0]}" if course else f"Whether the {kind} of {quoted(word)} part is open"
    lead = f"{lead}: the nearest occurrence has the same {kind.removesuffix('s')}"
    bound = f"{kind.capitalize()} count as apart above {_halves(agreed)}"
    parted, leaning = parted_layers(agreed, layers), _leaning(agreed, layers)
    if parted:
        open_ = [layer for found, layer in _pairs(agreed, layers) if not _is_told(found)]
        untold = f"; at {listed(open_)} so few occurrences do not tell" if open_ else ""
        return [f"{lead} {_shares(agreed, layers, parted)}.", f"{bound}{untold}."]
    if all(found.is_together for found in agreed):
        return [f"{lead} {_most(agreed, layers, layers)}.", f"{bound}, which no interval reaches."]
    more = "more often than by chance, " if leaning else ""
    untold = f"{bound}: so few occurrences (**{agreed[0].n:,}**) do not tell whether they are."
    return [f"{lead} {more}{_most(agreed, layers, leaning or layers)}.", untold]


def _pairs(agreed: Sequence[Agreement], layers: Sequence[int]) -> Iterator[tuple[Agreement, int]]:
    return zip(agreed, layers, strict=True)


def _is_told(found: Agreement) -> bool:
    return found.is_apart or found.is_together


def _halves(agreed: Sequence[Agreement]) -> str:
    """The bounds; chance differs from layer to layer where not all points have a neighbour."""
    halves = [found.half for found in agreed]
    low, high = (percent(end) for end in (min(halves), max(halves)))
    return f"**{low}**" if low == high else f"**{low}** to **{high}**"


def _most(agreed: Sequence[Agreement], layers: Sequence[int], among: Sequence[int]) -> str:
    """The largest share at some of the layers."""
    pairs = [(found, layer) for found, layer in _pairs(agreed, layers) if layer in among]
    top, layer = max(pairs, key=lambda pair: pair[0].share)
    chance = percent(top.chance)
    return f"for up to {_share(top)} (at layer {layer}: {interval(top)}, by chance {chance})"


def _shares(agreed: Sequence[Agreement], layers: Sequence[int], parted: Sequence[int]) -> str:
    """The shares where senses are apart, what comes just before, and where they merge again."""
    rows = [list(layers).index(layer) for layer in parted]
    first = agreed[rows[0]]
    before = f"; {_share(agreed[rows[0] - 1])} at layer {layers[rows[0] - 1]}" if rows[0] else ""
    said = (
        f"for {_share(first)} at layer {parted[0]} ({interval(first)}{before}; by chance "
        f"{percent(first.chance)})"
    )
    merged = [row for row in range(rows[0], len(layers)) if agreed[row].is_together]
    if not merged:
        return said
    again = agreed[merged[0]]
    return f"{said}, at layer {layers[merged[0]]} for only {_share(again)} ({interval(again)})"


def _here(found: Agreement, layer: int, kind: str) -> str:
    """Two senses of which one keeps together better at the chosen layer, or that all do alike."""
    ends = found.ends()
    if ends is None:
        alike = {percent(own.share) for own in found.labels}
        every = sum(own.n for own in found.labels) == found.n
        if len(alike) != 1 or len(found.labels) < 2 or not every:
            return ""
        return f"At layer {layer} it is **{alike.pop()}** for each {kind.removesuffix('s')}."
    best, worst = ends
    return (
        f"At layer {layer}, {quoted(best.name)} keeps together better (**{percent(best.share)}**, "
        f"by chance {percent(best.chance)}) than {quoted(worst.name)} "
        f"(**{percent(worst.share)}**, by chance {percent(worst.chance)})."
    )


def _few(found: Agreement, layer: int) -> str:
    """A warning where not even full agreement would tell."""
    if found.can_tell:
        return ""
    some = f"**{found.n}** occurrence{'' if found.n == 1 else 's'}"
    return f"At layer {layer}, not even full agreement of {some} would show that they are apart."


def _share(found: Agreement) -> str:
    return f"**{percent(found.share)}**"
