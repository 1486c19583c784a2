"""From a view to what Anatomy shows: the model's own parts, for any model and any address."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.registry import PRESETS
from contextlens.features.anatomy import compute
from contextlens.features.anatomy.compute import compared_architectures, measure, subjects, summary
from contextlens.features.anatomy.measures import build_tree, n_values, operations, parameter_rows
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.anatomy.shown import BASE, LARGE, MODELS, direct, on, seen
from tests.support.oracle import before_projection


def test_the_table_is_of_all_arrays_or_of_those_that_match(service: EncoderService) -> None:
    table = compute.parameters_table(seen(service))
    assert int(table["parameters"].sum()) == 22_713_216
    pooler = table["name"].str.startswith("pooler")
    assert (set(table["trained"][pooler]), set(table["trained"][~pooler])) == ({"no"}, {"yes"})
    assert "tied to" not in table.columns
    anatomy = seen(service, search="  Query ")
    assert anatomy.query == "Query"
    assert len(compute.parameters_table(anatomy)) == 12
    nothing = compute.parameters_table(seen(service, search="<b>no</b> *such*"))
    assert not len(nothing)
    assert "name" in nothing.columns
    assert seen(service, search="   ").matches is None
    first, second, *rest = anatomy.architecture.parameters
    tied = (first, replace(second, tied_to=first.name), *rest)
    tree = build_tree(replace(anatomy.architecture, parameters=tied))
    with_tied = replace(anatomy, tree=tree, matches=None)
    assert "tied to" in compute.parameters_table(with_tied).columns


def test_below_a_part_are_its_parts_or_its_arrays(service: EncoderService) -> None:
    anatomy = seen(service, part="layer-3/attention")
    assert anatomy.chosen.title == "Layer 3 › Attention"
    assert compute.rows_below(anatomy.chosen)[0] == {
        "part": "Query", "parameters": 147_840, "trained": "yes",
    }  # fmt: skip
    bias = compute.rows_below(seen(service, part="pooler").chosen)[1]
    assert bias == {"array": "bias", "shape": "384", "parameters": 384, "trained": "no"}
    parts = compute.rows_below(seen(service, part="embeddings").chosen)
    assert {row["part"]: row["trained"] for row in parts if "table" in str(row["part"])} == {
        "Word table": "yes", "Position table": "yes", "Segment table": "yes",
    }  # fmt: skip
    assert {r["trained"] for r in compute.rows_below(seen(service, subject=BASE).tree)} == {
        "not known"
    }


@pytest.mark.parametrize("model", MODELS)
def test_the_row_for_padding_and_its_vector_are_torchs(
    tiny_service: EncoderService, tiny_root: Path, bundled_folder: Path, model: str
) -> None:
    view = ViewState(model, DEFAULT.sentences)
    assert seen(tiny_service, view).padding is None
    padding = seen(tiny_service, view, part="embeddings/word").padding
    network = before_projection(deepcopy(direct(model, tiny_root, bundled_folder)))
    assert padding is not None
    row = network.get_input_embeddings().weight[padding.token_id].detach()
    assert padding.norm == pytest.approx(float(row.norm()), abs=1e-6)
    text = "a" if model == "folder:bert-generation" else ""  # it adds no special tokens
    (tokens,) = tiny_service.tokenize(model, [text])
    *ids, pad = tiny_service.tokenize(model, [text], pad_to=tokens.n_tokens + 1)[0].token_ids
    assert pad == padding.token_id == network.config.pad_token_id
    with torch.no_grad():
        output = network(
            input_ids=torch.tensor([[*ids, pad]]),
            attention_mask=torch.tensor([[1] * len(ids) + [0]]),
        )
    norm = float(output.last_hidden_state[0, -1].norm())
    assert padding.norm_at_end == pytest.approx(norm, abs=1e-4)
    assert norm > 1


# What can be taken apart


def test_a_preset_is_taken_apart_without_its_weights(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    known = facts["parameters"]
    anatomy = seen(service, subject=BASE, part="embeddings")
    assert anatomy.subject_card is None
    assert anatomy.totals.n_values == known["all_total"]
    assert anatomy.totals.n_named == known["named_parameters"]
    assert anatomy.totals.n_in_matrices == known["two_dimensional_total"]
    table = compute.parameters_table(anatomy)
    shapes = {n: " × ".join(map(str, s)) for n, s in known["embedding_layer"].items()}
    assert dict(zip(table["name"], table["shape"], strict=True)).items() >= shapes.items()
    assert set(table["trained"]) == {"not known"}


def test_loaded_models_and_presets_can_be_taken_apart(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:bert")
    tiny_service.load("folder:albert")
    offered = subjects(on("bert"), tiny_service, card)
    assert next(iter(offered.items())) == ("", card.title)
    assert offered["folder:albert"].endswith("(loaded)")
    assert offered[BASE] == "bert-base-uncased (structure only)"
    assert "folder:bert" not in offered
    other = seen(tiny_service, on("bert"), subject="folder:albert")
    assert other.subject_card is not None
    assert other.subject_card.id == other.passport.model == "folder:albert"


def test_models_stand_side_by_side(service: EncoderService) -> None:
    models = compared_architectures(seen(service), service)
    assert models[0].id == BUNDLED_ID
    assert len(models) == 1 + len(PRESETS)
    counts = {model.title: compute.counts_by_part(model) for model in models}
    assert sum(counts["bert-large-uncased"].values()) == 335_141_888
    assert sum(counts["all-MiniLM-L6-v2"].values()) == 22_713_216
    assert counts["distilbert-base-uncased"]["Pooler"] == 0
    assert counts["bert-base-uncased"]["Pooler"] == 768 * 768 + 768
    of_large = compared_architectures(seen(service, subject=LARGE), service)
    assert [model.id for model in of_large][:2] == [LARGE, BUNDLED_ID]


# Inside the weights


def test_the_weights_of_an_array_are_measured_once(service: EncoderService) -> None:
    anatomy = seen(service, part="layer-2/attention/key")
    matrix, bias = anatomy.chosen.parameters
    assert matrix.name == "encoder.layer.1.attention.self.key.weight"
    measured = measure(anatomy, matrix, service)
    singular = np.linalg.svd(service.matrix(BUNDLED_ID, matrix.name), compute_uv=False)
    assert summary(measured)["largest singular value"] == pytest.approx(singular[0])
    assert measured.n_rows is None
    assert measure(seen(service, part="layer-2"), matrix, service) is measured
    assert "smallest" not in summary(measure(anatomy, bias, service))


def test_of_the_word_table_rows_are_sampled(service: EncoderService) -> None:
    anatomy = seen(service)
    measured = measure(anatomy, max(anatomy.chosen.parameters, key=n_values), service)
    assert (measured.step, measured.n_rows) == (6, 30522)
    rows = service.word_rows(BUNDLED_ID, np.arange(0, 30522, 6)).astype("f8")
    assert summary(measured)["Frobenius norm"] == pytest.approx(float(np.linalg.norm(rows)))


# Any address, any sentence, and the files


@pytest.mark.parametrize(
    "controls",
    [
        {"part": "no/such/part", "subject": "../../etc"},
        {"part": 7, "subject": 1.5, "tokens": "many", "search": False},
    ],
    ids=str,
)
def test_what_an_address_gets_wrong_counts_as_the_default(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    usual, broken = seen(service), seen(service, **controls)
    assert broken.chosen.path == broken.tree.path == ""
    assert broken.architecture.id == BUNDLED_ID
    assert (broken.n_tokens, broken.matches) == (usual.n_tokens, None)
    assert [seen(service, tokens=n).n_tokens for n in (-(10**9), 77, 10**12)] == [1, 77, 512]


def test_the_passport_names_the_language(tiny_service: EncoderService) -> None:
    assert seen(tiny_service, on("xmod")).passport.settings == {"language": "de_DE"}


@pytest.mark.parametrize("subject", ["", BASE])
def test_the_arrays_and_the_passport_are_the_models(service: EncoderService, subject: str) -> None:
    anatomy = seen(service, subject=subject)
    arrays = compute.arrays(anatomy)
    table = pd.DataFrame(parameter_rows(anatomy.tree))
    assert int(table["parameters"].sum()) == int(arrays["n_values"].sum())
    assert int(arrays["n_values"].sum()) == anatomy.totals.n_values
    assert arrays["multiply_adds"].sum() == operations(anatomy.architecture, 128).total
    passport = anatomy.passport
    assert passport.model == (subject or BUNDLED_ID)
    assert passport.checksum == ("" if subject else service.load(BUNDLED_ID).checksum)
    assert "transformers" in passport.versions
    assert bool(passport.settings) == bool(subject)
