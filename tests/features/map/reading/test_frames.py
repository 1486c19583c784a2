"""The frame of several layers, said in words."""

from __future__ import annotations

from components.features.map.reading.frames import frame_reading


def test_what_keeps_distances_is_said_where_layers_share_a_map() -> None:
    said = frame_reading(7, 6, 1.04)
    assert said.startswith("Each layer is drawn around its own middle, and all are turned alike")
    assert "times" not in said
    assert "turned" not in frame_reading(7, 6, 1.0, n_axes=3)


def test_an_enlarged_layer_is_named_with_how_much() -> None:
    assert "Layer 0 is drawn **1.6** times as large" in frame_reading(7, 0, 1.55)


def test_a_map_of_one_layer_needs_no_such_sentence() -> None:
    assert frame_reading(1, 6, 1.0) == ""
