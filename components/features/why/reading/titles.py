"""The title and the reading of whatever look is shown."""

from __future__ import annotations

from functools import singledispatch

from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.shares import Integrated, SharesShown
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff
from components.features.why.reading.leave_out import leave_out_reading, leave_out_title
from components.features.why.reading.shares import (
    integrated_reading,
    integrated_title,
    shares_reading,
    shares_title,
)
from components.features.why.reading.swap_in import swap_in_reading, swap_in_title
from components.features.why.reading.switch_off import switch_off_reading, switch_off_title

__all__ = ["reading_of", "title_of"]


@singledispatch
def title_of(shown: object) -> str:
    """The finding of a look, short: plain text, not escaped."""
    raise TypeError(f"There is no title for {type(shown).__name__}.")


@singledispatch
def reading_of(shown: object) -> list[str]:
    """A look in words, a sentence or two each: Markdown."""
    raise TypeError(f"There is no reading of {type(shown).__name__}.")


title_of.register(SharesShown, shares_title)
title_of.register(Integrated, integrated_title)
title_of.register(LeftOut, leave_out_title)
title_of.register(SwitchedOff, switch_off_title)
title_of.register(SwappedIn, swap_in_title)

reading_of.register(SharesShown, shares_reading)
reading_of.register(Integrated, integrated_reading)
reading_of.register(LeftOut, leave_out_reading)
reading_of.register(SwitchedOff, switch_off_reading)
reading_of.register(SwappedIn, swap_in_reading)
