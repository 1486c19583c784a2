"""The layer bar under a page's picture: a slider over the layers, with Play.

A picture with a frame for each layer, or one that follows the bar, is moved by the browser;
otherwise the page reruns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.component import component, css_class

AROUND_MAP = 110
"""Pixels of the finding above a map and of the layer bar below it."""
_ABOUT = "Layer 0 is the embedding layer's output; each later layer mixes in more context."


def choose_layer(layer: int, last: int) -> None:
    """Write a layer into the view; the last one is written as None."""
    session.write(replace(session.current(), layer=None if layer == last else layer))


def layer_bar(
    view: ViewState,
    layers: Sequence[int],
    *,
    shown: int | None = None,
    framed: Collection[str] = (),
    followed: bool = False,
    start: int = 0,
    plays: bool = True,
    on_choose: Callable[[int], None] | None = None,
) -> None:
    """Draw the bar; nothing if there is only one layer.

    Args:
        view: the current view.
        layers: the layers to choose from, in order.
        shown: the chosen layer; by default the view's, or the last if the view has none of them.
        framed: keys of charts that have a frame for each layer.
        followed: True if a picture follows the bar, also between layers (`layers.js`).
        start: another number than in the run before starts Play; 0 starts nothing.
        plays: True if all layers can be shown one after another.
        on_choose: called with the choice; by default it becomes the view's layer.
    """
    if len(layers) < 2:
        return
    if shown is None:
        shown = view.layer if view.layer in layers else layers[-1]

    def receive(message: object) -> None:
        layer = _checked(message, layers)
        if layer is None:
            return
        if on_choose is None:
            choose_layer(layer, layers[-1])
        else:
            on_choose(layer)

    data = {
        "layers": list(layers),
        "layer": shown,
        "framed": [css_class(key) for key in framed],
        "followed": followed,
        "start": start,
        "plays": plays,
        "about": _ABOUT if layers[0] == 0 else "",
    }
    component("contextlens.ui.widgets", "layer_bar", data, key="layer", on_pick=receive)


def _checked(message: object, layers: Sequence[int]) -> int | None:
    """Return the layer that the browser reported; None if it is none of these."""
    # `type`, because True is an int too.
    return message if type(message) is int and message in layers else None
