"""A model's parts, costs and arrays, against torch itself."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from contextlens.content.language import table
from contextlens.core import EncoderService
from contextlens.core.registry import PRESETS
from contextlens.core.schema import Parameter
from contextlens.features.anatomy.measures import (
    build_tree,
    comparison_row,
    evenly_spaced,
    memory,
    operations,
    parameter_rows,
    search,
    totals,
    weight_statistics,
)
from tests.features.anatomy.shown import BASE, MODELS, direct, made
from tests.support.tiny_models import FAMILIES

by_model = pytest.mark.parametrize("model", MODELS)


def parameter(name: str, shape: tuple[int, ...], tied_to: str | None = None) -> Parameter:
    return Parameter(name, shape, "float32", 4 * math.prod(shape), tied_to, None)


# The parts


@by_model
def test_the_counts_are_torchs_and_every_part_is_the_sum_of_its_parts(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    architecture = made(tiny_service, model)
    ours = totals(architecture.parameters)
    theirs = dict(direct(model, tiny_root, bundled_folder).named_parameters())
    assert ours.n_named == len(theirs)
    assert ours.n_values == sum(p.numel() for p in theirs.values())
    assert ours.n_in_matrices == sum(p.numel() for p in theirs.values() if p.ndim == 2)
    assert ours.n_bytes == sum(p.numel() * p.element_size() for p in theirs.values())
    assert ours.dtypes == ("float32",)
    tree = build_tree(architecture)
    paths = [node.path for node in tree.walk()]
    assert len(set(paths)) == len(paths)
    assert "".join(paths).isascii()
    for node in tree.walk():
        assert tree.find(node.path) is node
        assert node.kind in table("anatomy.part")
        assert node.kind != "other"
        if node.children:
            assert node.n_values == sum(child.n_values for child in node.children)
            assert node.n_bytes == sum(child.n_bytes for child in node.children)
    assert {p.name for p in tree.parameters} == {p.name for p in architecture.parameters}


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "albert"])
def test_a_layers_parts_have_the_sizes_of_torchs_modules(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, family: str
) -> None:
    nodes = {n.path: n for n in build_tree(made(tiny_service, f"folder:{family}")).walk()}
    model = direct(f"folder:{family}", tiny_root, bundled_folder)
    stack = next(m for m in model.modules() if isinstance(m, torch.nn.ModuleList))
    in_attention = {"query", "key", "value", "output", "layernorm"}
    if family == "deberta":  # one matrix, and those for distances
        in_attention = {"qkv", "relative", "output", "layernorm"}
    for number, layer in enumerate(stack, start=1):
        if family == "modernbert":  # one matrix; and what enters layer 1 is normalized already
            in_attention = {"qkv", "output"} if number == 1 else {"qkv", "output", "layernorm"}
        node = nodes[f"layer-{number}"]
        assert node.n_values == sum(p.numel() for p in layer.parameters())
        kinds = ["attention", "feed-forward"]
        if family == "embedding_gemma2_text":  # a third part
            kinds.append("layer-input")
        assert [child.kind for child in node.children] == kinds
        assert {c.kind for c in nodes[f"layer-{number}/attention"].children} == in_attention
    assert nodes["embeddings/word"].n_values == model.get_input_embeddings().weight.numel()


def test_shared_layers_are_one_part_that_says_which_layers_use_it(
    tiny_service: EncoderService,
) -> None:
    architecture = made(tiny_service, "folder:albert")
    (shared,) = (node for node in build_tree(architecture).children if node.kind == "shared")
    assert (shared.name, shared.n_values) == ("Layers 1 to 3, shared", 8544)
    assert shared.path == "shared-1"
    second = [
        replace(p, name=p.name.replace("groups.0", "groups.1"))
        for p in architecture.parameters
        if "groups.0" in p.name
    ]
    both = replace(architecture, n_layers=4, parameters=(*architecture.parameters, *second))
    names = [node.name for node in build_tree(both).children if node.kind == "shared"]
    assert names == ["Layers 1 to 2, shared", "Layers 3 to 4, shared"]


def test_what_is_tied_counts_once(service: EncoderService) -> None:
    first = parameter("embeddings.word_embeddings.weight", (10, 4))
    tied = parameter("pooler.dense.weight", (10, 4), first.name)
    architecture = replace(service.architecture(BASE), parameters=(first, tied))
    tree, counted = build_tree(architecture), totals((first, tied))
    assert (counted.n_named, counted.n_tied, counted.n_values) == (2, 1, 40)
    assert (tree.n_values, tree.n_bytes, memory(architecture, "int8")) == (40, 160, 40)
    assert tree.find("pooler").n_values == 0  # type: ignore[union-attr]
    assert [row["parameters"] for row in parameter_rows(tree)] == [40, 0]
    assert comparison_row(architecture, 4)["parameters"] == 40


def test_an_unknown_name_is_shown_as_it_is(service: EncoderService) -> None:
    names = ("adapter.weight", "encoder.layer.0.gate.weight")
    parameters = tuple(parameter(name, (2, 2)) for name in names)
    tree = build_tree(replace(service.architecture(BASE), parameters=parameters))
    titles = [n.title for n in tree.walk() if n.kind == "other" and not n.children]
    assert titles == ["Other › adapter.weight", "Layer 1 › gate.weight"]


def test_the_search_finds_names_and_titles(service: EncoderService) -> None:
    tree = build_tree(service.architecture(BASE))
    names = [p.name for p in tree.parameters]
    assert search(tree, "BIAS") == {n for n in names if "bias" in n}
    assert len(search(tree, "layer 12 ›")) == 16
    assert search(tree, "Widening") == {n for n in names if "intermediate" in n}
    assert "bert-base" in tree.title
    assert search(tree, "bert-base") == search(tree, "no such part") == frozenset()


# The costs


@by_model
def test_operations_are_those_that_torch_counts(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    network = direct(model, tiny_root, bundled_folder)
    network.requires_grad_(requires_grad=False)  # torch cannot count with slices of a parameter
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network(input_ids=torch.ones(1, 64, dtype=torch.long))
    assert operations(made(tiny_service, model), 64).total == counter.get_total_flops() // 2


@pytest.mark.parametrize("preset", [spec.id for spec in PRESETS])
def test_operations_follow_the_formula_on_the_page(service: EncoderService, preset: str) -> None:
    model = service.architecture(preset)
    n, d, f = 50, model.n_dims, model.n_inner
    counted = operations(model, n)
    n_wide = 3 if model.family == "modernbert" else 2  # its feed-forward is gated
    assert counted.linear == n * model.n_layers * (4 * d * d + n_wide * d * f)
    assert counted.attention == 2 * model.n_layers * n * n * d
    assert counted.pooler in (0, d * d)


def test_a_row_has_the_memory_and_for_a_text_that_fits_the_operations(
    service: EncoderService,
) -> None:
    model = service.architecture(BASE)
    fits, too_long = (comparison_row(model, n_tokens) for n_tokens in (512, 513))
    sizes = [fits[f"MB, {name}"] for name in ("float32", "float16", "int8")]
    assert sizes == pytest.approx([4 * 109.48224, 2 * 109.48224, 109.48224])
    assert fits["billion multiply-adds"] == operations(model, 512).total / 1e9
    assert too_long["billion multiply-adds"] is None


# The arrays


@by_model
def test_statistics_are_torchs(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    parameters = dict(direct(model, tiny_root, bundled_folder).named_parameters())
    made(tiny_service, model)
    for name, value in list(parameters.items())[-10:]:
        ours, theirs = weight_statistics(tiny_service.matrix(model, name)), value.detach().double()
        expected = [theirs.mean(), theirs.std(correction=0), theirs.min(), theirs.max()]
        numbers = (ours.mean, ours.std, ours.low, ours.high, ours.norm)
        assert numbers == pytest.approx([*map(float, expected), float(theirs.norm())], abs=1e-9)
        assert ours.counts.sum() == value.numel()
        if value.ndim == 2:
            singular = torch.linalg.svdvals(theirs).numpy()
            np.testing.assert_allclose(ours.singular, singular, atol=1e-5 * singular[0])
            assert np.linalg.norm(ours.random) == pytest.approx(ours.norm)
        else:
            assert not ours.singular.size


def test_directions_are_counted_beside_those_of_a_random_matrix() -> None:
    array = np.random.default_rng(7).normal(size=(120, 80)).astype(np.float32)
    stats = weight_statistics(array)
    assert stats.edges[0] == -stats.edges[-1]
    np.testing.assert_allclose(stats.singular, stats.random, rtol=0, atol=1.0)
    assert abs(stats.n_for(0.9) - stats.n_for(0.9, stats.random)) <= 2
    rank_one = weight_statistics(np.outer(np.arange(1, 9), np.ones(5)).astype(np.float32))
    assert rank_one.n_for(0.9) == rank_one.n_for(1.0) == 1


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5])
def test_constant_arrays_are_no_trouble(value: float) -> None:
    for shape in ((6,), (4, 3)):
        stats = weight_statistics(np.full(shape, value, np.float32))
        assert (stats.low, stats.high, stats.std) == (value, value, 0.0)
        assert np.isfinite(stats.edges).all()
        assert stats.counts.sum() == math.prod(shape)


def test_layernorm_weights_are_shown_around_their_own_middle() -> None:
    stats = weight_statistics((1 + np.random.default_rng(0).normal(0, 0.01, 500)).astype("f4"))
    assert 0.9 < stats.edges[0] < 1 < stats.edges[-1] < 1.1


@given(
    n_rows=st.integers(1, 5000), n_columns=st.integers(1, 50), max_values=st.integers(50, 10_000)
)
def test_sampled_rows_are_evenly_spaced_and_within_the_bound(
    n_rows: int, n_columns: int, max_values: int
) -> None:
    rows = evenly_spaced(n_rows, n_columns, max_values)
    assert rows[0] == 0
    assert rows[-1] < n_rows
    assert len(set(np.diff(rows))) <= 1
    assert len(rows) * n_columns <= max_values
