"""Anatomy's pictures show the numbers they are given, and let no HTML through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.anatomy.figures import (
    ROOT,
    model_bars,
    part_map,
    singular_values,
    weight_histogram,
)
from contextlens.features.anatomy.measures import Node, build_tree, search, weight_statistics
from tests.features.anatomy.shown import BASE


@pytest.fixture
def tree(service: EncoderService) -> Node:
    return build_tree(service.architecture(BASE))


def drawn(tree: Node, chosen: Node, matches: frozenset[str] | None = None) -> tuple[Any, Any]:
    """The map's trace, and its colours by part."""
    trace = part_map(tree, kind="treemap", chosen=chosen, matches=matches).data[0]
    return trace, dict(zip(trace.ids, trace.marker.colors, strict=True))


@pytest.mark.parametrize("kind", ["treemap", "icicle"])
def test_the_map_has_every_part_with_its_size(tree: Node, kind: Any) -> None:
    trace = part_map(tree, kind=kind, chosen=tree, matches=None).data[0]
    nodes = {node.path or ROOT: node for node in tree.walk()}
    assert trace.type == kind
    assert list(trace.ids) == list(nodes)
    assert list(trace.values) == [node.n_values for node in nodes.values()]
    assert trace.branchvalues == "total"
    below: dict[str, int] = {}
    for parent, value in zip(trace.parents, trace.values, strict=True):
        below[parent] = below.get(parent, 0) + value
    assert below.pop("") == tree.n_values
    assert all(nodes[path].n_values == value for path, value in below.items())
    assert trace.text[0] == "100%"
    assert trace.level == ROOT


@pytest.mark.parametrize(
    ("path", "level"), [("layer-2", "layer-2"), ("layer-2/attention/query", "layer-2/attention"),
                        ("pooler", ROOT)],
)  # fmt: skip
def test_the_map_is_zoomed_to_the_chosen_part(tree: Node, path: str, level: str) -> None:
    chosen = tree.find(path)
    assert chosen is not None
    trace, colors = drawn(tree, chosen)
    assert trace.level == level
    if not chosen.children:
        _, usual = drawn(tree, tree)
        assert colors[path] == usual[path]
        assert colors["layer-1/attention/key"] != usual["layer-1/attention/key"]


def test_what_a_search_did_not_find_is_faint(tree: Node) -> None:
    (_, usual), (_, colors) = drawn(tree, tree), drawn(tree, tree, search(tree, "query"))
    same = {path for path in usual if usual[path] == colors[path]}
    assert {"layer-1/attention/query", "layer-1/attention", "layer-1", ROOT} <= same
    assert not {"layer-1/attention/key", "embeddings/word", "pooler"} & same


def test_no_html_of_a_models_title_is_in_effect(service: EncoderService) -> None:
    tree = build_tree(replace(service.architecture(BASE), title="<b>x</b>"))
    figure = part_map(tree, kind="treemap", chosen=tree, matches=None)
    assert "<b>" not in figure.data[0].labels[0]
    bars = model_bars(["<b>x</b>"], [{"Layers": 1}], title="t")
    assert "<b>" not in bars.layout.yaxis.ticktext[0]
    assert "<b>" not in bars.data[0].customdata[0]


@pytest.mark.parametrize(
    ("n_values", "text"),
    [(384, "384"), (591_360, "591 thousand"), (999_600, "1 million"), (11_918_592, "11.9 million"),
     (1_500_000_000, "1.5 billion")],
)  # fmt: skip
def test_sizes_are_in_words(n_values: int, text: str) -> None:
    bars = model_bars(["a"], [{"Layers": n_values}], title="t")
    assert [note.text for note in bars.layout.annotations] == [text]


def test_a_heading_is_on_one_line_and_a_box_on_two(tree: Node) -> None:
    trace, _ = drawn(tree, tree)
    names = dict(zip(trace.ids, trace.labels, strict=True))
    assert names["embeddings"] == "Embedding layer: 23.8 million"
    assert (names["layer-1"], names["layer-1/attention"]) == (
        "Layer 1",
        "Attention<br>2.36 million",
    )
    layer = tree.find("layer-1")
    assert layer is not None
    trace, _ = drawn(tree, layer)
    names = dict(zip(trace.ids, trace.labels, strict=True))
    assert names["layer-1/attention/query"] == "Query<br>591 thousand"


def test_the_histogram_and_singular_values_are_the_measured_ones(service: EncoderService) -> None:
    service.load(BUNDLED_ID)
    stats = weight_statistics(service.matrix(BUNDLED_ID, "pooler.dense.weight"))
    (bars,) = weight_histogram(stats, title="t").data
    assert sum(bars.y) == 384 * 384
    random, learned = singular_values(stats, title="t").data
    np.testing.assert_allclose(learned.y, stats.singular, rtol=1e-4)
    np.testing.assert_allclose(random.y, stats.random, rtol=1e-4)
    assert list(learned.x) == list(range(1, 385))
