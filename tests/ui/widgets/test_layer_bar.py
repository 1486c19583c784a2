"""The layer bar: what it is given, and which choices it believes."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.pages import given, send, shown_view, to_layer


def script(layers: tuple[int, ...], shown: int | None = None) -> None:
    from contextlens.ui.state import session
    from contextlens.ui.widgets.layer_bar import layer_bar

    layer_bar(session.current(), layers, shown=shown, framed=["my chart"])


def bar(*layers: int, shown: int | None = None) -> AppTest:
    how = {"kwargs": {"layers": layers, "shown": shown}, "default_timeout": 300}
    app = AppTest.from_function(script, **how).run()
    assert not app.exception
    return app


def test_it_stands_at_the_view_s_layer_or_the_last_and_is_told_which_charts_it_moves() -> None:
    app = bar(0, 1, 2, 3)
    sent = given(app, "layer")
    assert (sent["layers"], sent["layer"], sent["framed"]) == ([0, 1, 2, 3], 3, ["st-key-my-chart"])
    assert given(to_layer(app, 1), "layer")["layer"] == 1
    assert given(bar(1, 2, 3, shown=2), "layer")["layer"] == 2


def test_the_last_layer_is_written_as_none() -> None:
    app = to_layer(bar(0, 1, 2, 3), 0)
    assert shown_view(app).layer == 0
    assert shown_view(to_layer(app, 3)).layer is None


@pytest.mark.parametrize(
    "value", [4, -1, 1.0, "1", True, None, [1], {"layer": 1}, 10**20], ids=repr
)
def test_made_up_layers_are_ignored(value: object) -> None:
    app = send(to_layer(bar(0, 1, 2, 3), 2), "layer", value)
    assert not app.exception
    assert shown_view(app).layer == 2


def test_one_layer_has_nothing_to_choose() -> None:
    assert not bar(1).get("bidi_component")
