"""Anatomy's pictures show the numbers they are given, and let no HTML through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.anatomy.figures import (
    ROOT,
    model_bars,
    part_map,
    singular_values,
    weight_histogram,
)
from components.features.anatomy.measures import build_tree, search, weight_statistics

BASE = "google-bert/bert-base-uncased"


@pytest.mark.parametrize("kind", ["treemap", "icicle"])
def test_the_map_has_every_part_with_its_size(service: EncoderService, kind: str) -> None:
    tree = build_tree(service.architecture(BASE))
    trace = part_map(tree, kind=kind, chosen=tree, matches=None, title="x").data[0]  # type: ignore[arg-type]
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
    assert trace.level == ROOT


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("layer-2", "layer-2"),
        ("layer-2/attention/query", "layer-2/attention"),
        ("pooler", ROOT),
        ("embeddings/word", "embeddings"),
    ],
)
def test_the_map_is_zoomed_to_the_chosen_part(
    service: EncoderService, path: str, level: str
) -> None:
    tree = build_tree(service.architecture(BASE))
    chosen = tree.find(path)
    assert chosen is not None
    trace = part_map(tree, kind="treemap", chosen=chosen, matches=None, title="x").data[0]
    colors = dict(zip(trace.ids, trace.marker.colors, strict=True))
    assert trace.level == level
    if not chosen.children:
        plain = part_map(tree, kind="treemap", chosen=tree, matches=None, title="x").data[0]
        usual = dict(zip(plain.ids, plain.marker.colors, strict=True))
        assert colors[path] == usual[path]
        assert all(
            colors[other] != usual[other]
            for other in ("layer-1/attention/key", "layer-4/feed-forward")
        )


def test_what_a_search_did_not_find_is_faint(service: EncoderService) -> None:
    tree = build_tree(service.architecture(BASE))
    found = search(tree, "query")
    drawn = [
        part_map(tree, kind="treemap", chosen=tree, matches=lit, title="x").data[0]
        for lit in (None, found)
    ]
    usual, lit = (dict(zip(d.ids, d.marker.colors, strict=True)) for d in drawn)
    same = {path for path in usual if usual[path] == lit[path]}
    assert {"layer-1/attention/query", "layer-1/attention", "layer-1", ROOT} <= same
    assert not {"layer-1/attention/key", "embeddings/word", "pooler"} & same


def test_no_html_of_a_models_title_is_in_effect(service: EncoderService) -> None:
    tree = build_tree(replace(service.architecture(BASE), title="<b>x</b>"))
    figure = part_map(tree, kind="treemap", chosen=tree, matches=None, title="<i>t</i>")
    assert "<b>" not in figure.data[0].labels[0]
    assert "<i>" not in figure.layout.title.text
    bars = model_bars(["<b>x</b>"], [{"Layers": 1}], title="t")
    assert "<b>" not in bars.layout.yaxis.ticktext[0]
    assert "<b>" not in bars.data[0].customdata[0]


def test_bars_add_up_to_each_model() -> None:
    parts = [{"Embedding layer": 3, "Layers": 5, "Pooler": 0}, {"Embedding layer": 1, "Layers": 2, "Pooler": 4}]  # fmt: skip  # noqa: E501
    figure = model_bars(["a", "b"], parts, title="t")
    assert figure.layout.barmode == "stack"
    assert [sum(t.x[i] for t in figure.data) for i in range(2)] == [8, 7]
    assert not model_bars([], [], title="t").data


def test_the_histogram_and_singular_values_are_the_measured_ones(service: EncoderService) -> None:
    service.load(BUNDLED_ID)
    stats = weight_statistics(service.matrix(BUNDLED_ID, "pooler.dense.weight"))
    (bars,) = weight_histogram(stats, title="t").data
    assert sum(bars.y) == 384 * 384
    random, own = singular_values(stats, title="t").data
    np.testing.assert_allclose(own.y, stats.singular, rtol=1e-4)
    np.testing.assert_allclose(random.y, stats.random, rtol=1e-4)
    assert own.x[0] == 1
    assert len(own.x) == 384
