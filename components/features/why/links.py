"""Links to the Attention page on one head: its choices, named here because this page only links.

The Attention page declares the choices and their values; a test keeps both in agreement.
"""

from __future__ import annotations

from components.ui.state.controls import Text
from components.ui.state.view import ViewState

__all__ = ["on_head"]

_HEAD = Text(page="attention", name="head", label="Head")
_SHOW = Text(page="attention", name="show", default="One head", label="Show")
_SENTENCE = Text(page="attention", name="sentence", default="A", label="Sentence")


def on_head(view: ViewState, sentence: str, layer: int, head: int) -> ViewState:
    """The view of Attention on a head (layers from 1, heads from 0) of a sentence."""
    view = _SENTENCE.put(_SHOW.put(view, _SHOW.default), sentence)
    return _HEAD.put(view, f"{layer}.{head}")
