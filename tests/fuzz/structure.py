"""Pieces that the strategies of several targets are made of."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.fuzz.mutation import odd_value

__all__ = ["odd", "rarely"]

odd = st.randoms(use_true_random=False).map(odd_value)
"""Values that JSON can hold and hardly anybody expects."""


def rarely(
    strange: st.SearchStrategy[Any], usual: st.SearchStrategy[Any], *, one_in: int = 25
) -> st.SearchStrategy[Any]:
    """The usual, and once in so many the strange: an input of many parts must be mostly valid."""
    return st.integers(0, one_in - 1).flatmap(lambda n: strange if n == one_in // 2 else usual)
