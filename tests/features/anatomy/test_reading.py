"""What Anatomy says and the scripts it hands out: right where the usual story fails too."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.presets import preset_config
from components.core.registry import PRESETS
from components.core.schema import Architecture, Parameter
from components.features.anatomy.explain import PARTS, SAID_MILLIONS
from components.features.anatomy.measures.costs import comparison_row, operations
from components.features.anatomy.measures.parameters import build_tree, search, totals
from components.features.anatomy.measures.weights import weight_statistics
from components.features.anatomy.reading import (
    anatomy_reading,
    anatomy_title,
    models_reading,
    models_title,
    part_reading,
    search_reading,
    weights_reading,
)
from components.features.anatomy.snippet import (
    anatomy_snippet,
    card_lines,
    config_lines,
    weights_snippet,
)
from tests.support.tiny_models import ALL

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"
NAMES = {"base": "bert-base-uncased", "large": "bert-large-uncased"}


def said_of(architecture: Architecture, millions: float | None = None) -> str:
    tree, counted = build_tree(architecture), totals(architecture.parameters)
    return " ".join(anatomy_reading(tree, counted, architecture, millions)).replace("\u00a0", " ")


def run(code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet.py", "exec"), namespace)
    return namespace


# Readings


def test_the_bundled_models_word_table_is_more_than_half(tiny_service: EncoderService) -> None:
    tiny_service.load(BUNDLED_ID)
    made = tiny_service.architecture(BUNDLED_ID)
    tree = build_tree(made)
    assert anatomy_title(tree, tree) == "The word table is 52\u00a0% of the model"
    said = said_of(made)
    assert "**22,713,216** parameters in **103** arrays, **90.9 MB** as float32" in said
    assert "word table holds **52 %**, the 6 layers together **47 %**" in said
    assert "**22,682,112**: that leaves out biases" in said


def test_in_bert_the_layers_hold_most_and_the_usual_counts_are_put_right(
    service: EncoderService,
) -> None:
    base, large = service.architecture(BASE), service.architecture(LARGE)
    tree = build_tree(base)
    assert anatomy_title(tree, tree) == "The layers hold 78\u00a0% of all parameters"
    said = said_of(base, SAID_MILLIONS[BASE])
    assert "**109,482,240**" in said
    assert "**109,360,128**" in said
    assert "often quoted **110 million** are this number, rounded" in said
    said = said_of(large, SAID_MILLIONS[LARGE])
    assert "**335,141,888**" in said
    assert "Often **340 million** are quoted; counted, there are 1.4 % fewer." in said
    assert "quoted" not in said_of(large)
    assert "5.0 % more" in said_of(large, 335.141888 / 1.05)


def test_the_presets_with_a_quoted_number_are_presets_near_it(service: EncoderService) -> None:
    assert set(SAID_MILLIONS) == {spec.id for spec in PRESETS}
    for preset, millions in SAID_MILLIONS.items():
        counted = totals(service.architecture(preset).parameters).n_values
        assert counted / 1e6 == pytest.approx(millions, rel=0.02)


def test_albert_says_that_its_layers_share(tiny_service: EncoderService) -> None:
    tiny_service.load("folder:albert")
    said = said_of(tiny_service.architecture("folder:albert"))
    assert "the weights that its 3 layers share **53 %**" in said
    assert f"would take **{3 * 8544:,}**" in said
    assert "64.5 kB" in said
    tree = build_tree(tiny_service.architecture("folder:albert"))
    assert anatomy_title(tree, tree) == "The shared layers hold 53\u00a0% of all parameters"


def test_a_model_of_matrices_alone_has_nothing_left_out(service: EncoderService) -> None:
    one = Parameter(
        "encoder.layer.0.attention.self.query.weight", (4, 4), "float32", 64, None, True
    )
    tied = replace(one, name="encoder.layer.0.attention.self.key.weight", tied_to=one.name)
    made = replace(service.architecture(BASE), parameters=(one, tied))
    said = said_of(made)
    assert "two dimensions" not in said
    assert "**1** names are tied" in said
    assert "the one layer **100 %**" in said
    tree = build_tree(made)
    assert anatomy_title(tree, tree) == "The query is 100\u00a0% of the model"


def test_a_title_on_a_model_is_escaped(service: EncoderService) -> None:
    made = replace(service.architecture(BASE), title="a*b*<i>_c_")
    assert r"a\*b\*\<i\>\_c\_" in said_of(made)


def test_a_part_is_told_with_its_arrays(service: EncoderService) -> None:
    tree = build_tree(service.architecture(BASE))
    query = tree.find("layer-1/attention/query")
    assert query is not None
    (said,) = part_reading(query, tree)
    assert "**590,592** parameters, 0.54\u00a0% of the model" in said
    assert "weight 768 × 768, bias 768" in said
    assert anatomy_title(tree, query) == "Layer 1 › Query: 0.54\u00a0% of the model"
    assert part_reading(tree, tree) == ["**109,482,240** parameters: 199 arrays."]
    assert anatomy_title(tree, tree.children[-1]).startswith("Pooler: ")


@pytest.mark.parametrize("query", ["<b>*bold*</b>", "bias", "pooler.dense.bias"])
def test_a_search_says_what_it_found(service: EncoderService, query: str) -> None:
    tree = build_tree(service.architecture(BASE))
    found = search(tree, query)
    (said,) = search_reading(query, tree, found)
    if not found:
        assert said.startswith("No array")
        assert r"\<b\>" in said
    else:
        n = sum(math.prod(p.shape) for p in tree.parameters if p.name in found)
        assert f"**{n:,}** parameters" in said
        assert ("array has" in said) == (len(found) == 1)


def test_models_are_compared_by_parameters_and_work(service: EncoderService) -> None:
    both = [service.architecture(name) for name in (BASE, LARGE)]
    rows = [comparison_row(one, 128) for one in both]
    said = models_reading(rows, 128, **NAMES)
    work = operations(both[1], 128).total / operations(both[0], 128).total
    assert len(said) == 1
    assert "**3.06** times the parameters" in said[0]
    assert f"128 tokens takes **{work:.2f}** times" in said[0]
    assert models_title(rows) == "From 109 to 335 million parameters"


def test_models_that_cannot_be_compared_are_told(tiny_service: EncoderService) -> None:
    tiny_service.load("folder:bert")
    made = [tiny_service.architecture(name) for name in ("folder:bert", BASE, LARGE)]
    rows = [comparison_row(one, 100) for one in made]
    assert "does not fit in both" in models_reading(rows, 100, **NAMES)[1]
    assert "not both allowed" in models_reading(rows[:2], 100, **NAMES)[0]
    assert models_title(rows[:1]) == "Parameters of each model"


def test_weights_are_told_with_and_without_favoured_directions() -> None:
    random = np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)
    assert "no few directions" in weights_reading("w", weight_statistics(random))[1]
    narrow = random * np.logspace(0, -3, 64, dtype=np.float32)
    assert "some directions count" in weights_reading("w", weight_statistics(narrow))[1]
    assert "vector" in weights_reading("w", weight_statistics(random[0]))[1]
    zeros = weights_reading("w", weight_statistics(np.zeros(4, np.float32)))
    assert zeros == ["`w`: every one of its values is **0**."]
    assert "A sample of 64 rows of `w`" in weights_reading("w", weight_statistics(random), 900)[0]


def test_every_kind_of_part_has_its_sentence(tiny_service: EncoderService) -> None:
    for name in ALL:
        tiny_service.load(f"folder:{name}")
        kinds = {n.kind for n in build_tree(tiny_service.architecture(f"folder:{name}")).walk()}
        assert kinds <= set(PARTS)


# Scripts


@pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{name}" for name in ALL)])
def test_the_script_gives_the_pages_counts(
    tiny_service: EncoderService, tiny_root: Path, model: str
) -> None:
    card, made = tiny_service.load(model), tiny_service.architecture(model)
    pooler = build_tree(made).find("pooler") is not None
    code = anatomy_snippet(card_lines(card), pooler=pooler, n_tokens=20)
    found = run(code.replace("path/to", str(tiny_root)))
    counted = totals(made.parameters)
    assert found["parameters"] == {p.name: p.shape for p in made.parameters}
    assert (found["total"], found["in_matrices"]) == (counted.n_values, counted.n_in_matrices)
    assert found["n_bytes"] == counted.n_bytes
    assert found["multiply_adds"] == operations(made, 20).total


@pytest.mark.parametrize("preset", [spec.id for spec in PRESETS])
def test_the_script_builds_a_preset_without_weights(service: EncoderService, preset: str) -> None:
    made, config = service.architecture(preset), preset_config(preset)
    assert config is not None
    pooler = build_tree(made).find("pooler") is not None
    found = run(anatomy_snippet(config_lines(config), pooler=pooler, n_tokens=128))
    assert found["parameters"] == {p.name: p.shape for p in made.parameters}
    assert found["multiply_adds"] == operations(made, 128).total
    assert "multiply_adds" not in anatomy_snippet(config_lines(config), pooler=True, n_tokens=None)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("encoder.layer.2.attention.self.key.weight", 1),
        ("encoder.layer.0.attention.self.key.bias", 1),
        ("embeddings.word_embeddings.weight", 6),
    ],
)
def test_the_script_gives_an_arrays_numbers(service: EncoderService, name: str, step: int) -> None:
    card = service.load(BUNDLED_ID)
    if step > 1:
        array = service.word_rows(BUNDLED_ID, np.arange(0, card.vocabulary_size, step))
    else:
        array = service.matrix(BUNDLED_ID, name)
    stats = weight_statistics(array)
    found = run(weights_snippet(card, name, is_matrix=array.ndim == 2, step=step))
    np.testing.assert_array_equal(found["values"].numpy(), array)
    if array.ndim == 2:
        np.testing.assert_allclose(
            found["singular"].numpy(), stats.singular, rtol=0, atol=1e-4 * stats.singular[0]
        )
