"""Models stored in 16 bits or by a training wrapper: said so, and the same in every script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.sentence_transformer.modules import Pooling

from contextlens.analysis.snippet_start import load_lines, recipe_lines
from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.features.anatomy.compute import anatomy_view
from contextlens.features.anatomy.measures import build_tree, totals
from contextlens.features.anatomy.reading import anatomy_reading
from contextlens.proof.checks import TEXTS, ready_checks
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.recipes import Open, with_recipe
from tests.support.snippets import run
from tests.support.tiny_models import N_DIMS, build, store_in

MODEL = "folder:half"
IMPORTS = """\
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer
"""


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_card_anatomy_and_passport_say_how_weights_are_stored(
    dtype: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    store_in(getattr(torch, dtype), build("bert", tmp_path / "half"))
    service = open_with(model_folder=tmp_path)
    card, architecture = service.load(MODEL), service.architecture(MODEL)
    assert (card.stored_as, card.was_converted) == ((dtype,), dtype != "float32")
    passports = [
        service.encode(MODEL, ["a snake"])[0].passport,
        anatomy_view(ViewState(MODEL, DEFAULT.sentences), service, card).passport,
    ]
    expected = None if dtype == "float32" else dtype
    assert {p.settings.get("weights stored as") for p in passports} == {expected}
    counted = totals(architecture.parameters)
    _, details = anatomy_reading(build_tree(architecture), counted, architecture, card=card)
    sentence = say("anatomy.stored", dtypes=dtype)
    assert (sentence in map(str, details)) == card.was_converted


def wrap(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({f"module.{n}": w for n, w in load_file(path).items()}, path)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_scripts_and_proof_compute_what_the_app_computes(
    dtype: str, tmp_path: Path, open_with: Open
) -> None:
    service, model, _ = with_recipe("bert", [Pooling(N_DIMS)], open_with, tmp_path)
    folder = tmp_path / "models" / "bert"
    wrap(store_in(getattr(torch, dtype), folder))
    service = open_with(model_folder=folder.parent)
    card = service.load(model)
    assert (card.stored_as, card.is_wrapped) == ((dtype,), True)

    def left_by(lines: list[str]) -> dict[str, Any]:
        return run((IMPORTS + "\n".join(lines)).replace("path/to", str(folder.parent)))

    names = left_by(load_lines(card))
    tokens = names["tokenizer"](TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        states = names["model"](**tokens, output_hidden_states=True).hidden_states
    ours = service.encode(model, TEXTS[:1])[0].hidden
    np.testing.assert_allclose(torch.stack(states)[:, 0].numpy(), ours, atol=1e-5)
    library = left_by(recipe_lines(card))["model"]
    vectors = [one.vector for one in service.sentence_vectors(model, TEXTS)]
    np.testing.assert_allclose(library.encode(list(TEXTS)), vectors, atol=1e-5)
    verdicts = {c.key: c.verdict for c in ready_checks(service, card, folder, lambda *_: None)}
    assert verdicts["transformers"] == "agrees"
    assert "differs" not in verdicts.values()
