"""Answers are never larger than was said, and honest clients never ask for too large a one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.encoder import parameters
from contextlens.core.errors import RequestError
from contextlens.core.remote import wire
from contextlens.core.remote.wire import (
    CARD_BY,
    MAX_BYTES,
    check_answer,
    pack_answer,
    parts_of,
    result_bytes,
)
from contextlens.core.schema import SwitchOff
from tests.support.tiny_models import build

TEXTS = ["", "a", "I love my pet python", "她在河边的银行取钱", "\ufdfa" * 9, "1 " * 700]
OFF = [SwitchOff("head", 1, 1)]
LARGE: Any = SimpleNamespace(n_layers=12, n_dims=4096, n_heads=64, max_length=512)
"""albert-xxlarge, the largest of the known models."""


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("models", {}),
        ("load", {}),
        ("load_tokenizer", {}),
        ("tokenize", {"texts": TEXTS, "pairs": [None, *TEXTS[1:]], "pad_to": 512}),
        ("vocabulary", {}),
        ("cut_rules", {}),
        ("normalize", {"texts": TEXTS}),
        ("decode", {"token_ids": list(range(1000, 3000))}),
        ("encode", {"texts": TEXTS}),
        ("encode", {"texts": TEXTS, "pairs": TEXTS, "attentions": True}),
        ("encode", {"texts": TEXTS, "layers": [6], "attentions": [(1, 1), (2, 2)]}),
        ("encode", {"texts": TEXTS, "layers": [0], "pad_to": 512}),
        ("intervene", {"texts": TEXTS, "interventions": [OFF] * len(TEXTS)}),
        ("embedding_parts", {"text": TEXTS[-1], "pair": "b"}),
        ("word_rows", {"token_ids": list(range(2000))}),
        ("nearest_rows", {"vector": np.ones(384, np.float32), "n": 10**6}),
        ("parameters", {}),
        ("architecture", {}),
        ("matrix", {"name": "embeddings.position_embeddings.weight"}),
    ],
)
def test_an_answer_has_no_more_than_was_said(
    service: EncoderService, method: str, arguments: dict[str, Any]
) -> None:
    given = arguments if method == "models" else {"model": BUNDLED_ID, **arguments}
    found = getattr(service, method)(**given)
    card = getattr(service, CARD_BY[method])(BUNDLED_ID) if method in CARD_BY else None
    assert len(pack_answer(found)) <= check_answer(method, given, card)


def test_predictions_have_no_more_than_was_said(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    build("bert", tmp_path / "words", head="PreTraining")
    names = {i: str(i) * 80 for i in range(9)}
    for head in ("SequenceClassification", "TokenClassification"):
        build("bert", tmp_path / head, head=head, id2label=names)
    service, texts = open_with(model_folder=tmp_path), [text or "a" for text in TEXTS]
    for folder, method, more in (
        ("words", "predict_tokens", {"positions": [[1]] * 6, "n_best": 100, "layers": [0, 1, 2]}),
        ("words", "predict_tokens", {"positions": [[0, 1, 2]] * 6, "candidates": [5] * 50}),
        ("words", "follows", {"pairs": texts}),
        ("SequenceClassification", "classify", {}),
        ("TokenClassification", "classify", {"pairs": texts}),
    ):
        arguments: dict[str, Any] = {"model": f"folder:{folder}", "texts": texts, **more}
        n_bytes = len(pack_answer(getattr(service, method)(**arguments)))
        assert n_bytes <= check_answer(method, arguments, service.load(arguments["model"]))
    model = "folder:SequenceClassification"
    for text in texts:
        arguments = {"model": model, "text": text, "label": 1, "n_best": 100}
        n_bytes = len(pack_answer(service.label_replacements(**arguments)))
        assert n_bytes <= check_answer("label_replacements", arguments, service.load(model))


def test_a_matrix_is_bounded_where_it_is_read() -> None:
    assert wire._MATRIX_BYTES >= 4 * parameters.MAX_VALUES


@settings(max_examples=50)
@given(
    st.lists(st.text(max_size=3).map(lambda t: t * 1000), max_size=300),
    st.sampled_from(["tokenize", "encode", "intervene", "predict_tokens"]),
    st.booleans(),
)
def test_every_part_is_one_that_the_service_takes(
    texts: list[str], method: str, attentions: bool
) -> None:
    given: dict[str, Any] = {"texts": texts, "attentions": attentions and method == "encode"}
    if method == "predict_tokens":
        given["positions"] = [[1, 2] for _ in texts]
    parts = list(parts_of(method, given, LARGE))
    assert [text for part in parts for text in texts[part]] == texts
    for part in parts:
        own = {**given, "texts": texts[part]}
        if "positions" in given:
            own["positions"] = given["positions"][part]
        assert check_answer(method, own, LARGE) <= MAX_BYTES
        is_alone = len(own["texts"]) <= 1
        assert is_alone or sum(result_bytes(method, own, LARGE)) <= wire.PART_BYTES


def test_word_rows_of_a_whole_vocabulary_come_in_parts() -> None:
    ids = np.arange(250_000)
    parts = list(parts_of("word_rows", {"token_ids": ids}, LARGE))
    assert np.array_equal(np.concatenate([ids[part] for part in parts]), ids)
    for part in parts:
        check_answer("word_rows", {"token_ids": ids[part]}, LARGE)
    assert list(parts_of("word_rows", {"token_ids": []}, LARGE))


def test_what_is_too_large_is_refused_with_both_sizes() -> None:
    with pytest.raises(RequestError, match="up to 9,830 MB, and an answer may have 1,000 MB"):
        check_answer("word_rows", {"token_ids": range(600_000)}, LARGE)
