"""RoCBert: the shape and the sound of its tokens are joined into its word table at loading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import RoCBertModel, RoCBertTokenizer

from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CheckpointError
from tests.support.tiny_models import build

MODEL = "folder:roc_bert"
INPUTS: list[tuple[str, str | None, int | None]] = [
    ("The bank of the river was green", None, None),
    ("unbelievable 你好, [MASK] 好!", "He's a teacher", None),
    ("A cat", None, 12),
    ("", None, None),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build("roc_bert", tmp_path / "model")


@pytest.fixture(scope="module")
def plain(tiny_root: Path) -> tuple[Any, Any]:
    """The tokenizer and the model of transformers, with nothing joined."""
    folder = tiny_root / "roc_bert"
    return RoCBertTokenizer.from_pretrained(folder), RoCBertModel.from_pretrained(folder).eval()


@pytest.mark.parametrize(("text", "pair", "pad_to"), INPUTS)
def test_it_computes_what_transformers_does_with_shapes_and_sounds(
    text: str,
    pair: str | None,
    pad_to: int | None,
    plain: tuple[Any, Any],
    tiny_service: EncoderService,
) -> None:
    tokenizer, model = plain
    padding = {"padding": "max_length", "max_length": pad_to} if pad_to else {}
    # Like ALBERT's, this tokenizer hands out segments on request.
    batch = tokenizer(text, pair, return_token_type_ids=True, return_tensors="pt", **padding)
    with torch.inference_mode():
        expected = model(**batch, output_hidden_states=True)
        for name in ("input_shape_ids", "input_pronunciation_ids"):
            batch[name] = torch.zeros_like(batch[name])
        without = model(**batch).last_hidden_state[0].numpy()
    (found,) = tiny_service.encode(MODEL, [text], pairs=[pair], pad_to=pad_to)
    assert found.token_ids.tolist() == batch["input_ids"][0].tolist()
    hidden = torch.cat(expected.hidden_states).numpy()
    np.testing.assert_allclose(found.hidden, hidden, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found.pooler_output, expected.pooler_output[0], rtol=0, atol=1e-5)
    assert np.abs(found.hidden[-1] - without).max() > 1e-2  # the agreement is not vacuous


def test_the_card_tells_how_many_parameters_were_joined(
    plain: tuple[Any, Any], tiny_service: EncoderService
) -> None:
    card = tiny_service.load(MODEL)
    n_parameters = sum(value.numel() for value in plain[1].parameters())
    assert card.n_parameters + card.n_joined == n_parameters
    assert card.n_joined == 50 * 16 + 20 * 8 + (32 + 16 + 8) * 32 + 32
    names = {parameter.name for parameter in tiny_service.parameters(MODEL)}
    assert not [name for name in names if "shape" in name or "map_inputs" in name]


def test_other_shapes_are_another_model(
    folder: Path, open_with: Callable[..., EncoderService], load: Callable[[], ModelCard]
) -> None:
    before = load()
    (folder / "word_shape.json").write_text('{"[UNK]": 3}')
    after = load()
    assert (before.checksum != after.checksum, before.n_joined) == (True, after.n_joined)


def test_weights_whose_joined_vectors_overflow_are_refused(
    folder: Path, load: Callable[[], ModelCard]
) -> None:
    weights = load_file(folder / "model.safetensors")
    for name in weights:
        if "map_inputs_layer.weight" in name or "shape_embed" in name:
            weights[name] = torch.full_like(weights[name], 1e38)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="its shape and its sound are NaN or infinite"):
        load()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("word_shape.json", None, "lacks word_shape.json, from which the vectors"),
        ("word_pronunciation.json", None, "lacks word_pronunciation.json"),
        ("word_pronunciation.json", b"[1]", "is not a JSON object"),
        ("word_shape.json", b"{", "cannot be read"),
        ("word_shape.json", b'{"[UNK]": 50}', "is 50; it must be a whole number from 0 to 49"),
        ("word_shape.json", b'{"[UNK]": 5, "a": -1}', "says 'a' is -1; it must be"),
        ("word_shape.json", b'{"[UNK]": 5, "a": true}', "says 'a' is True; it must be"),
        ("word_shape.json", b'{"a": 1}', "is None; it must be a whole number"),
        ("word_shape.json", b'{"a": "' + b"9" * 5_000_000 + b'"}', "more than the 5,000,000"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_files_that_cannot_be_used_are_refused_in_a_sentence(
    name: str, content: bytes | None, said: str, folder: Path, load: Callable[[], ModelCard]
) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=said) as caught:
        load()
    assert len(str(caught.value)) < 300
