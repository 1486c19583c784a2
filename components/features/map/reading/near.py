"""What is nearest to a typed text, in words; and why a text is nothing to look for."""

from __future__ import annotations

from collections.abc import Sequence

from components.content.wording import bold, quoted
from components.maps.points import Unit

__all__ = ["near_reading", "not_one_reading"]

_SHOWN = 5


def near_reading(unit: Unit, name: str, cosines: Sequence[float], layer: int) -> str:
    """The nearest points and the range of their cosines in the full space."""
    where = "" if layer < 0 else f" at layer {layer}"
    if len(cosines) == 1:
        one = f"The only {unit.removesuffix('s')} here has a cosine of {bold(cosines[0])}"
        return f"{one} with {quoted(name, 40)} in the full space{where}."
    return (
        f"Nearest to {quoted(name, 40)} in the full space{where}: {len(cosines)} {unit}, with "
        f"cosines from {bold(cosines[0])} down to {bold(cosines[-1])}."
    )


def not_one_reading(unit: Unit, text: str, names: Sequence[str], only: Sequence[str]) -> str:
    """Why a text is not one point on a map of words or tokens, and what to type instead."""
    one = unit.removesuffix("s")
    if not names:
        return f"There is no {one} in {quoted(text, 40)}. Type a {one}, or a sentence that has one."
    listed = ", ".join(quoted(name) for name in names[:_SHOWN])
    more = " and more" if len(names) > _SHOWN else ""
    wanted = f" that has {quoted(only[0])}" if only else f" that has a single {one} of this map"
    return (
        f"Each point is one {one}, and this is {len(names)}: {listed}{more}. Type one {one}, or a "
        f"sentence{wanted}."
    )
