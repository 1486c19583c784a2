"""A model's parts and what it costs, against torch and transformers themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from components.core import BUNDLED_ID, EncoderService
from components.core.presets import preset_config
from components.core.registry import PRESETS
from components.core.schema import Architecture, Parameter
from components.features.anatomy.measures.costs import comparison_row, memory, operations
from components.features.anatomy.measures.parameters import (
    build_tree,
    parameter_rows,
    search,
    totals,
)
from components.features.anatomy.measures.weights import evenly_spaced, weight_statistics
from tests.support.tiny_models import ALL, FAMILIES

MODELS = [BUNDLED_ID, *(f"folder:{name}" for name in ALL)]
BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"
by_model = pytest.mark.parametrize("model", MODELS)
by_preset = pytest.mark.parametrize("preset", [spec.id for spec in PRESETS])


def made(service: EncoderService, model: str) -> Architecture:
    service.load(model)
    return service.architecture(model)


@cache
def direct(model: str, tiny_root: Path, bundled_folder: Path) -> Any:
    """The model as transformers alone reads it."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model.split(":")[1]
    read = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    if model == "folder:bert-without-pooler":
        read.pooler = None
    return read


@cache
def on_meta(preset: str) -> Any:
    given_config = dict(preset_config(preset) or {})
    config = transformers.AutoConfig.for_model(given_config.pop("model_type"), **given_config)
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    if "roberta" in preset:
        model.pooler = None
    return model


def multiply_adds(model: Any, n_tokens: int) -> int:
    ids = torch.ones(1, n_tokens, dtype=torch.long, device=model.device)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(input_ids=ids)
    return counter.get_total_flops() // 2


def parameter(name: str, shape: tuple[int, ...], tied_to: str | None = None) -> Parameter:
    return Parameter(name, shape, "float32", 4 * math.prod(shape), tied_to, None)


# Counts


@by_model
def test_the_counts_are_torchs(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    ours = totals(made(tiny_service, model).parameters)
    theirs = dict(direct(model, tiny_root, bundled_folder).named_parameters())
    assert ours.n_named == len(theirs)
    assert ours.n_values == sum(p.numel() for p in theirs.values())
    assert ours.n_in_matrices == sum(p.numel() for p in theirs.values() if p.ndim == 2)
    assert ours.n_bytes == sum(p.numel() * p.element_size() for p in theirs.values())
    assert ours.dtypes == ("float32",)


@by_model
def test_every_part_is_the_sum_of_its_parts_and_has_a_name(
    tiny_service: EncoderService, model: str
) -> None:
    architecture = made(tiny_service, model)
    tree = build_tree(architecture)
    paths = [node.path for node in tree.walk()]
    assert len(set(paths)) == len(paths)
    assert all(tree.find(path) is not None for path in paths)
    assert "other" not in {node.kind for node in tree.walk()}
    for node in tree.walk():
        assert all(path.isascii() for path in paths)
        if node.children:
            assert node.n_values == sum(child.n_values for child in node.children)
            assert node.n_bytes == sum(child.n_bytes for child in node.children)
    assert sorted(p.name for p in tree.parameters) == sorted(
        p.name for p in architecture.parameters
    )


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "albert"])
def test_a_layers_parts_have_the_sizes_of_torchs_modules(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, family: str
) -> None:
    tree = build_tree(made(tiny_service, f"folder:{family}"))
    model = direct(f"folder:{family}", tiny_root, bundled_folder)
    stack = model.transformer if hasattr(model, "transformer") else model.encoder
    for number, layer in enumerate(stack.layer, start=1):
        node = tree.find(f"layer-{number}")
        assert node is not None
        assert node.n_values == sum(p.numel() for p in layer.parameters())
        assert [child.kind for child in node.children] == ["attention", "feed-forward"]
        attention = tree.find(f"layer-{number}/attention")
        assert attention is not None
        assert {c.kind for c in attention.children} == {
            "query",
            "key",
            "value",
            "output",
            "layernorm",
        }
    embeddings = tree.find("embeddings/word")
    assert embeddings is not None
    assert embeddings.n_values == model.embeddings.word_embeddings.weight.numel()


def test_alberts_shared_layers_are_one_part(tiny_service: EncoderService) -> None:
    tree = build_tree(made(tiny_service, "folder:albert"))
    shared = [node for node in tree.children if node.kind == "shared"]
    assert [node.name for node in shared] == ["Layers 1 to 3, shared"]
    assert shared[0].n_values == 8544


def test_groups_of_shared_layers_say_which_layers_use_them(tiny_service: EncoderService) -> None:
    architecture = made(tiny_service, "folder:albert")
    more = [
        replace(p, name=p.name.replace("groups.0", "groups.1"))
        for p in architecture.parameters
        if "groups.0" in p.name
    ]
    both = replace(architecture, n_layers=4, parameters=(*architecture.parameters, *more))
    names = [node.name for node in build_tree(both).children if node.kind == "shared"]
    assert names == ["Layers 1 to 2, shared", "Layers 3 to 4, shared"]


def test_the_measured_facts_of_bert_base(service: EncoderService, facts: dict[str, Any]) -> None:
    known, counted = facts["parameters"], totals(service.architecture(BASE).parameters)
    assert counted.n_named == known["named_parameters"] == 199
    assert counted.n_in_matrices == known["two_dimensional_total"] == 109_360_128
    assert counted.n_values == known["all_total"] == 109_482_240
    tree = build_tree(service.architecture(BASE))
    assert len(tree.find("layer-1").parameters) == 16  # type: ignore[union-attr]
    assert totals(service.architecture(LARGE).parameters).n_values == 335_141_888


def test_what_is_tied_counts_once(service: EncoderService) -> None:
    own = parameter("embeddings.word_embeddings.weight", (10, 4))
    tied = parameter("pooler.dense.weight", (10, 4), own.name)
    architecture = replace(service.architecture(BASE), parameters=(own, tied))
    tree, counted = build_tree(architecture), totals((own, tied))
    assert (counted.n_named, counted.n_tied, counted.n_values) == (2, 1, 40)
    assert (tree.n_values, tree.n_bytes, memory(architecture, "int8")) == (40, 160, 40)
    assert tree.find("pooler").n_values == 0  # type: ignore[union-attr]
    assert [row["parameters"] for row in parameter_rows(tree)] == [40, 0]
    assert comparison_row(architecture, 4)["parameters"] == 40


def test_an_unknown_name_is_shown_as_it_is(service: EncoderService) -> None:
    names = ("adapter.weight", "encoder.layer.0.gate.weight")
    some = tuple(parameter(name, (2, 2)) for name in names)
    tree = build_tree(replace(service.architecture(BASE), parameters=some))
    assert [n.title for n in tree.walk() if n.kind == "other" and not n.children] == [
        "Other › adapter.weight",
        "Layer 1 › gate.weight",
    ]


def test_the_search_finds_names_and_titles(service: EncoderService) -> None:
    tree = build_tree(service.architecture(BASE))
    names = [p.name for p in tree.parameters]
    assert search(tree, "BIAS") == {n for n in names if "bias" in n}
    assert len(search(tree, "layer 12 ›")) == 16
    assert search(tree, "Widening") == {n for n in names if "intermediate" in n}
    assert search(tree, "no such part") == frozenset()
    assert "bert-base" in tree.title
    assert search(tree, "bert-base") == frozenset()


def test_the_table_has_a_row_for_each_array(tiny_service: EncoderService) -> None:
    architecture = made(tiny_service, BUNDLED_ID)
    rows = parameter_rows(build_tree(architecture))
    assert len(rows) == 103
    assert sum(int(row["parameters"]) for row in rows) == 22_713_216
    assert {row["trained"] for row in rows if "pooler" in str(row["name"])} == {"no"}
    assert rows[0]["shape"] == "30522 × 384"


# Operations


@by_model
@pytest.mark.parametrize("n_tokens", [1, 64])
def test_operations_are_those_that_torch_counts(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str, n_tokens: int
) -> None:
    theirs = multiply_adds(direct(model, tiny_root, bundled_folder), n_tokens)
    assert operations(made(tiny_service, model), n_tokens).total == theirs


@pytest.mark.slow
@by_preset
def test_operations_of_a_preset_are_those_that_torch_counts(
    service: EncoderService, preset: str
) -> None:
    assert operations(service.architecture(preset), 128).total == multiply_adds(
        on_meta(preset), 128
    )


@by_preset
def test_operations_follow_the_formula_on_the_page(service: EncoderService, preset: str) -> None:
    a = service.architecture(preset)
    n, d, f = 50, a.n_dims, a.n_inner
    counted = operations(a, n)
    assert counted.linear == n * a.n_layers * (4 * d * d + 2 * d * f)
    assert counted.attention == 2 * a.n_layers * n * n * d
    assert counted.pooler in (0, d * d)
    assert counted.total == counted.linear + counted.attention + counted.pooler


def test_memory_follows_from_the_number_of_parameters(service: EncoderService) -> None:
    a = service.architecture(BASE)
    sizes = [memory(a, name) for name in ("float32", "float16", "int8")]
    assert sizes == [4 * 109_482_240, 2 * 109_482_240, 109_482_240]


def test_a_text_that_does_not_fit_has_no_operations(tiny_service: EncoderService) -> None:
    a = made(tiny_service, "folder:bert")
    assert comparison_row(a, 64)["billion multiply-adds"] == operations(a, 64).total / 1e9
    assert comparison_row(a, 65)["billion multiply-adds"] is None


# Weights


@pytest.mark.slow
@by_model
def test_statistics_are_torchs(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    own = dict(direct(model, tiny_root, bundled_folder).named_parameters())
    made(tiny_service, model)
    for name, value in list(own.items())[-10:]:
        ours, theirs = weight_statistics(tiny_service.matrix(model, name)), value.detach().double()
        found = (ours.mean, ours.std, ours.low, ours.high, ours.norm)
        wanted = (
            theirs.mean(), theirs.std(correction=0), theirs.min(), theirs.max(), theirs.norm()
        )  # fmt: skip
        assert found == pytest.approx([float(w) for w in wanted], abs=1e-9)
        assert ours.counts.sum() == value.numel()
        if value.ndim == 2:
            singular = torch.linalg.svdvals(theirs).numpy()
            np.testing.assert_allclose(ours.singular, singular, atol=1e-5 * singular[0])
            assert np.linalg.norm(ours.random) == pytest.approx(ours.norm)
        else:
            assert not ours.singular.size


def test_a_random_matrix_looks_like_the_random_one() -> None:
    given_array = np.random.default_rng(7).normal(size=(120, 80)).astype(np.float32)
    stats = weight_statistics(given_array)
    np.testing.assert_allclose(stats.singular, stats.random, rtol=0, atol=1.0)
    assert abs(stats.n_for(0.9) - stats.n_for(0.9, stats.random)) <= 2


def test_one_direction_holds_everything_in_a_matrix_of_rank_one() -> None:
    stats = weight_statistics(np.outer(np.arange(1, 9), np.ones(5)).astype(np.float32))
    assert stats.n_for(0.9) == stats.n_for(1.0) == 1


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


@given(n_rows=st.integers(1, 5000), n_columns=st.integers(1, 50), most=st.integers(50, 10_000))
def test_sampled_rows_are_evenly_spaced_and_within_the_bound(
    n_rows: int, n_columns: int, most: int
) -> None:
    rows = evenly_spaced(n_rows, n_columns, most)
    assert rows[0] == 0
    assert rows[-1] < n_rows
    assert len(set(np.diff(rows))) <= 1
    assert len(rows) * n_columns <= most
