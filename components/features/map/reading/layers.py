"""A map through the layers, said in words: at which layer the senses of a word part, if they do.

Senses have parted at a layer where, for more than half of what chance leaves, the occurrence
nearest in the full space is one of the same sense; a share that chance explains is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import listed, percent, quoted
from components.maps.agreement import Agreement

__all__ = ["parted_layers", "senses_reading", "senses_title"]

_HALF = 0.5
_LONGEST = 24
_LAYER_0 = (
    "Layer 0 has read no context: what agrees there is where in its sentence the word stands, and "
    "how it is written."
)


def parted_layers(agreed: Sequence[Agreement], layers: Sequence[int]) -> list[int]:
    """The layers at which senses (or other labels) are apart."""
    pairs = zip(agreed, layers, strict=True)
    return [layer for found, layer in pairs if found.is_clear and found.excess > _HALF]


def senses_title(
    agreed: Sequence[Agreement] | None, layers: Sequence[int], word: str, *, kind: str = "senses"
) -> str:
    """The finding as the chart's title, at most 80 characters; plain text, not Markdown."""
    flat = " ".join(word.split())
    name = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    what = f"The {kind} of {name}"
    if not _comparable(agreed):
        return f"{what}: nothing to compare"
    parted = parted_layers(agreed or (), layers)
    if not parted:
        return f"{what} never part"
    if parted[0] == layers[0] and len(parted) == len(layers):
        return f"{what} are apart at every layer"
    if parted == list(layers[-len(parted) :]):
        return f"{what} part at layer {parted[0]}"
    if len(parted) == 1:
        return f"{what} are apart at layer {parted[0]} only"
    return f"{what} part at layer {parted[0]} and merge again"


def senses_reading(
    agreed: Sequence[Agreement] | None,
    layers: Sequence[int],
    layer: int,
    word: str,
    *,
    kind: str = "senses",
) -> list[str]:
    """One to four sentences: where senses part, how it is at a layer, which sense lags there.

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
    early = _LAYER_0 if 0 in parted_layers(agreed, layers) else ""
    said = [_story(agreed, layers, word, kind), early, _here(at, layer), _few(at)]
    return [sentence for sentence in said if sentence]


def _comparable(agreed: Sequence[Agreement] | None) -> bool:
    return bool(agreed) and all(0 < found.chance < 1 for found in agreed or ())


def _story(agreed: Sequence[Agreement], layers: Sequence[int], word: str, kind: str) -> str:
    what, same = f"The {kind} of {quoted(word)}", f"same {kind.removesuffix('s')}"
    parted = parted_layers(agreed, layers)
    best = max(range(len(agreed)), key=lambda row: agreed[row].share)
    chance = f"by chance {percent(agreed[best].chance)}"
    top = f"{_share(agreed[best])}, at layer {layers[best]} ({chance})"
    if not parted and not any(found.is_clear for found in agreed):
        return (
            f"{what} never part: at no layer has the nearest occurrence the {same} more often than "
            f"chance explains, at most for {top}."
        )
    if not parted:
        return (
            f"{what} lean apart but never part: the nearest occurrence has the {same} for at most "
            f"{top}."
        )
    if len(parted) == len(layers):
        return (
            f"{what} are apart at every layer: the nearest occurrence has the {same} for "
            f"{_span(agreed)} ({chance})."
        )
    return f"{what} {_parted(agreed, layers, same, chance)}."


def _parted(agreed: Sequence[Agreement], layers: Sequence[int], same: str, chance: str) -> str:
    """Where they part, what comes just before, and whether it lasts to the last layer."""
    parted = parted_layers(agreed, layers)
    first = list(layers).index(parted[0])
    before = "" if first == 0 else f" ({_share(agreed[first - 1])} at layer {layers[first - 1]})"
    start = (
        f"the nearest occurrence has the {same} for {_share(agreed[first])} there{before}, {chance}"
    )
    if parted == list(layers[first:]):
        best = max(range(len(agreed)), key=lambda row: agreed[row].share)
        peak = "" if best == first else f"; most at layer {layers[best]} ({_share(agreed[best])})"
        return f"part at layer {parted[0]}: {start}{peak}"
    merged = next(row for row in range(first, len(layers)) if layers[row] not in parted)
    again = f"at layer {layers[merged]} for only {_share(agreed[merged])}"
    later = f"but merge again: they are apart at {listed(parted)} alone"
    return f"part at layer {parted[0]} {later}; {start}, {again}"


def _span(agreed: Sequence[Agreement]) -> str:
    shares = [found.share for found in agreed]
    low, high = (percent(value) for value in (min(shares), max(shares)))
    return f"**{high}**" if low == high else f"**{low}** to **{high}**"


def _here(found: Agreement, layer: int) -> str:
    """Which sense keeps together best at the chosen layer and which lags behind."""
    ends = found.ends()
    if not found.is_clear or ends is None:
        return ""
    best, worst = ends
    if percent(best.share) == percent(worst.share):
        return f"At layer {layer} each of them keeps together alike (**{percent(best.share)}**)."
    return (
        f"At layer {layer}, {quoted(best.name)} keeps together best (**{percent(best.share)}**, "
        f"by chance {percent(best.chance)}), {quoted(worst.name)} least "
        f"(**{percent(worst.share)}**, by chance {percent(worst.chance)})."
    )


def _few(found: Agreement) -> str:
    """A warning where only a very large share could rise above chance."""
    if found.chance + found.margin < 1:
        return ""
    return f"With only **{found.n}** occurrences, not even full agreement would rise above chance."


def _share(found: Agreement) -> str:
    return f"**{percent(found.share)}**"
