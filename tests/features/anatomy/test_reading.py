"""What Anatomy says is right where the usual story fails too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.registry import PRESETS
from components.core.schema import Architecture, Parameter
from components.features.anatomy.explain import PARTS, SAID_MILLIONS
from components.features.anatomy.measures.costs import comparison_row, operations
from components.features.anatomy.measures.parameters import build_tree, search, totals
from components.features.anatomy.measures.weights import weight_statistics
from components.features.anatomy.reading import (
    absent_reading,
    anatomy_reading,
    anatomy_title,
    held_reading,
    models_reading,
    models_title,
    part_reading,
    search_reading,
    share_said,
    weights_reading,
)
from tests.support.tiny_models import ALL

BASE, LARGE = "google-bert/bert-base-uncased", "google-bert/bert-large-uncased"
NAMES = {"base": "bert-base-uncased", "large": "bert-large-uncased"}


def said_of(architecture: Architecture, millions: float | None = None) -> str:
    tree, counted = build_tree(architecture), totals(architecture.parameters)
    return " ".join(anatomy_reading(tree, counted, architecture, millions)).replace("\u00a0", " ")


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
    assert "often quoted **110 million** are this number to within 1 %" in said
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
    assert "**1** of them is tied to others and not counted again" in said
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
    norm = tree.find("layer-1/attention/layernorm")
    assert norm is not None
    assert anatomy_title(tree, norm).startswith("Layer 1 › Attention › LayerNorm: under 0.01")
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


# How a part is held, and what is not there


def test_a_part_says_whether_it_was_trained(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    tree = build_tree(service.architecture(BUNDLED_ID))
    pooler, query = tree.find("pooler"), tree.find("layer-1/attention/query")
    assert pooler is not None
    assert query is not None
    assert held_reading(query, card) == (
        "0.6 MB as float32, from the checkpoint, whose biases here are not all 0."
    )
    said = held_reading(pooler, card)
    assert "**Nothing shows that it was trained**. Every bias of the pooler is exactly 0" in said
    said = held_reading(tree, card)
    assert said == "90.9 MB as float32. No sign that it was trained: Pooler."
    assert held_reading(query, None).endswith(
        "The weights are not here: sizes come from the config."
    )


@pytest.mark.parametrize("name", ALL)
def test_every_family_says_what_it_has_not(tiny_service: EncoderService, name: str) -> None:
    card = tiny_service.load(f"folder:{name}")
    made = tiny_service.architecture(f"folder:{name}")
    absent = " ".join(absent_reading(build_tree(made), made, card))
    assert ("No pooler" in absent) == (card.provenance.pooler.state == "absent")
    if card.provenance.pooler.state == "absent":
        assert card.provenance.pooler.reason.split()[-1].rstrip(".") in absent
    assert ("No segment table" in absent) == (name in ("distilbert", "mpnet"))


def test_without_weights_the_architecture_says_why(service: EncoderService) -> None:
    for preset, reason in {
        "FacebookAI/roberta-base": r"No pooler\. Its published checkpoints",
        "distilbert/distilbert-base-uncased": "The distilbert architecture has no pooler",
    }.items():
        made = service.architecture(preset)
        assert reason in " ".join(absent_reading(build_tree(made), made, None))
    base = service.architecture(BASE)
    assert absent_reading(build_tree(base), base, None) == []


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0"),
        (1, "100"),
        (0.9999, "over 99"),
        (0.516, "52"),
        (0.078, "7.8"),
        (0.0065, "0.65"),
        (0.00001, "under 0.01"),
    ],
)
def test_a_share_has_two_digits_that_count(share: float, said: str) -> None:
    assert share_said(share) == f"{said}\u00a0%"
