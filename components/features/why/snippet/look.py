"""The script of whatever look is shown."""

from __future__ import annotations

from functools import singledispatch

from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.shares import Integrated, SharesShown
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff
from components.features.why.snippet.leave_out import leave_out_snippet
from components.features.why.snippet.shares import integrated_snippet, shares_snippet
from components.features.why.snippet.swap_in import swap_in_snippet
from components.features.why.snippet.switch_off import switch_off_snippet

__all__ = ["snippet_of"]


@singledispatch
def snippet_of(shown: object) -> str:
    """A script with transformers alone that gives a look's numbers."""
    raise TypeError(f"There is no script for {type(shown).__name__}.")


snippet_of.register(SharesShown, shares_snippet)
snippet_of.register(Integrated, integrated_snippet)
snippet_of.register(LeftOut, leave_out_snippet)
snippet_of.register(SwitchedOff, switch_off_snippet)
snippet_of.register(SwappedIn, swap_in_snippet)
