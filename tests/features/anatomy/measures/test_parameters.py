"""A model's parts and what they hold, against torch itself."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Parameter
from components.features.anatomy.measures import (
    build_tree,
    comparison_row,
    memory,
    parameter_rows,
    search,
    totals,
)
from tests.features.anatomy.measures.models import MODELS, direct, made
from tests.features.anatomy.shown import BASE, LARGE
from tests.support.tiny_models import FAMILIES

by_model = pytest.mark.parametrize("model", MODELS)


def parameter(name: str, shape: tuple[int, ...], tied_to: str | None = None) -> Parameter:
    return Parameter(name, shape, "float32", 4 * math.prod(shape), tied_to, None)


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
