"""From a view to what Anatomy shows: the model's own parts, for any model and any address."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

from components.core import BUNDLED_ID, EncoderService
from components.features.anatomy import compute
from components.features.anatomy.compute import compared_architectures, measure, subjects, summary
from components.features.anatomy.measures import build_tree, n_values, parameter_rows
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets import export
from tests.features.anatomy.shown import BASE, LARGE, on, seen
from tests.support.tiny_models import ALL


def test_the_numbers_are_those_of_the_weights(
    service: EncoderService, bundled_folder: Path
) -> None:
    model = transformers.AutoModel.from_pretrained(bundled_folder)
    table = compute.parameters_table(seen(service))
    theirs = {name: p.numel() for name, p in model.named_parameters()}
    assert dict(zip(table["name"], table["parameters"], strict=True)) == theirs
    pooler = table["name"].str.startswith("pooler")
    assert set(table["trained"][pooler]) == {"no"}
    assert set(table["trained"][~pooler]) == {"yes"}
    assert "tied to" not in table.columns


def test_a_part_is_chosen_by_its_path(service: EncoderService) -> None:
    anatomy = seen(service, part="layer-3/attention")
    assert anatomy.chosen.title == "Layer 3 › Attention"
    assert compute.rows_below(anatomy.chosen)[0] == {"part": "Query", "parameters": 147_840}
    pooler = compute.rows_below(seen(service, part="pooler").chosen)
    assert [row["shape"] for row in pooler] == ["384 × 384", "384"]
    assert [row["array"] for row in pooler] == ["weight", "bias"]


def test_the_search_narrows_the_table(service: EncoderService) -> None:
    found = seen(service, search="  Query ")
    assert found.query == "Query"
    assert len(compute.parameters_table(found)) == 12
    nothing = compute.parameters_table(seen(service, search="<b>no</b> *such*"))
    assert not len(nothing)
    assert "name" in nothing.columns
    assert seen(service, search="   ").matches is None


def test_what_is_tied_is_in_the_table(tiny_service: EncoderService) -> None:
    anatomy = seen(tiny_service)
    first, second, *rest = anatomy.architecture.parameters
    tied = (first, replace(second, tied_to=first.name), *rest)
    tree = build_tree(replace(anatomy.architecture, parameters=tied))
    assert "tied to" in compute.parameters_table(replace(anatomy, tree=tree)).columns


# What can be taken apart


def test_a_preset_is_taken_apart_without_its_weights(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    known = facts["parameters"]
    anatomy = seen(service, subject=BASE, part="embeddings")
    assert anatomy.subject_card is None
    assert anatomy.totals.n_values == known["all_total"]
    assert anatomy.totals.n_named == known["named_parameters"]
    table = compute.parameters_table(anatomy)
    shapes = {n: " × ".join(map(str, s)) for n, s in known["embedding_layer"].items()}
    assert dict(zip(table["name"], table["shape"], strict=True)).items() >= shapes.items()
    assert set(table["trained"]) == {"not known"}
    assert anatomy.passport.checksum == ""


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
    beside = compared_architectures(seen(service), service)
    assert beside[0].id == BUNDLED_ID
    assert len(beside) == 8
    counts = {one.title: compute.counts_by_part(one) for one in beside}
    assert sum(counts["bert-large-uncased"].values()) == 335_141_888
    assert sum(counts["all-MiniLM-L6-v2"].values()) == 22_713_216
    assert counts["distilbert-base-uncased"]["Pooler"] == 0
    assert counts["bert-base-uncased"]["Pooler"] == 768 * 768 + 768
    assert [one.id for one in compared_architectures(seen(service, subject=LARGE), service)][
        :2
    ] == [
        LARGE,
        BUNDLED_ID,
    ]


@pytest.mark.parametrize("name", ALL)
def test_every_family_is_taken_apart_and_measured(tiny_service: EncoderService, name: str) -> None:
    card = tiny_service.load(f"folder:{name}")
    anatomy = seen(tiny_service, on(name), part="layer-1/attention/query")
    assert anatomy.totals.n_values == card.n_parameters
    for parameter in anatomy.chosen.parameters:
        measured = measure(anatomy, parameter, tiny_service)
        array = tiny_service.matrix(card.id, parameter.name).astype("f8")
        assert summary(measured)["Frobenius norm"] == pytest.approx(float(np.linalg.norm(array)))


# Inside the weights


@pytest.mark.slow
def test_the_weights_of_an_array_are_measured_once(service: EncoderService) -> None:
    anatomy = seen(service, part="layer-2/attention/key")
    matrix, bias = anatomy.chosen.parameters
    assert matrix.name == "encoder.layer.1.attention.self.key.weight"
    measured = measure(anatomy, matrix, service)
    array = torch.from_numpy(service.matrix(BUNDLED_ID, matrix.name).copy()).double()
    row = summary(measured)
    assert row["Frobenius norm"] == pytest.approx(float(array.norm()))
    assert row["largest singular value"] == pytest.approx(float(torch.linalg.svdvals(array)[0]))
    assert measured.n_rows is None
    assert measure(seen(service, part="layer-2"), matrix, service) is measured
    assert "smallest" not in summary(measure(anatomy, bias, service))


def test_of_the_word_table_rows_are_sampled(service: EncoderService) -> None:
    anatomy = seen(service)
    table = max(anatomy.chosen.parameters, key=n_values)
    measured = measure(anatomy, table, service)
    assert (measured.step, measured.n_rows) == (6, 30522)
    rows = service.word_rows(BUNDLED_ID, np.arange(0, 30522, 6))
    norm = float(np.linalg.norm(rows.astype("f8")))
    assert summary(measured)["Frobenius norm"] == pytest.approx(norm)


# What cannot break it


@pytest.mark.parametrize(
    "own",
    [
        {"part": "no/such/part", "subject": "../../etc"},
        {"part": 7, "subject": 1.5, "tokens": "many", "search": False},
        {"part": "layer-24", "subject": ""},
    ],
    ids=str,
)
def test_what_an_address_gets_wrong_counts_as_the_default(
    service: EncoderService, own: dict[str, Any]
) -> None:
    usual, broken = seen(service), seen(service, **own)
    assert broken.chosen.path == broken.tree.path == ""
    assert broken.architecture.id == BUNDLED_ID
    assert (broken.n_tokens, broken.matches) == (usual.n_tokens, None)


@pytest.mark.parametrize(("asked", "counts"), [(-(10**9), 1), (10**12, 512), (77, 77)])
def test_the_length_of_a_text_is_within_bounds(
    service: EncoderService, asked: int, counts: int
) -> None:
    assert seen(service, tokens=asked).n_tokens == counts


@pytest.mark.parametrize(
    "text", ["", "   ", "python", "🐍", "python " * 600, "<b>x</b>"], ids=lambda t: repr(t[:8])
)
def test_the_sentences_do_not_matter(service: EncoderService, text: str) -> None:
    view = ViewState(BUNDLED_ID, (Sentence(text), Sentence("a", "pair")))
    mine, usual = seen(service, view), seen(service, DEFAULT)
    assert mine.passport == usual.passport
    assert parameter_rows(mine.tree) == parameter_rows(usual.tree)


# Files


@pytest.mark.parametrize("subject", ["", BASE])
def test_the_files_hold_the_table_and_the_passport(service: EncoderService, subject: str) -> None:
    card = service.load(BUNDLED_ID)
    anatomy = seen(service, subject=subject)
    csv = export.to_csv(parameter_rows(anatomy.tree), anatomy.passport)
    read = pd.read_csv(io.BytesIO(csv), comment="#", encoding="utf-8-sig")
    assert int(read["parameters"].sum()) == anatomy.totals.n_values
    file = io.BytesIO(export.to_npz(compute.arrays(anatomy), anatomy.passport))
    npz = np.load(file, allow_pickle=False)
    assert int(npz["n_values"].sum()) == anatomy.totals.n_values
    passport = json.loads(str(npz["passport"]))
    assert passport["model"] == (subject or BUNDLED_ID)
    assert passport["checksum"] == ("" if subject else card.checksum)
    assert "transformers" in passport["versions"]
    assert bool(passport["settings"]) == bool(subject)
