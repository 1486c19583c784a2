"""Of a tokenizer_config.json, transformers is given a short list of names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.core.tokenizer_file import (
    RefusedError,
    allowed_added_tokens,
    allowed_settings,
    allowed_special_tokens,
)
from tests.support.tiny_models import FAMILIES

INJECTED: dict[str, Any] = {
    "vocab": {"a": 0},
    "merges": [],
    "vocab_file": "/etc/passwd",
    "tokenizer_file": "/etc/passwd",
    "tokenizer_object": {},
    "post_processor": {},
    "tokenizer_padding": {"length": 10**9},
    "_json_padding": {"length": 10**9},
    "_spm_precompiled_charsmap": "x",
    "gguf_file": "x.gguf",
    "fast_tokenizer_files": ["tokenizer.4.0.0.json"],
    "init_inputs": [1, 2, 3],
    "auto_map": {"AutoTokenizer": ["trap.Tokenizer", None]},
    "chat_template": "{{ 'a' * 10**9 }}",
    "backend": "sentencepiece",
    "name_or_path": "/etc",
    "unk_id": 10**9,
    "model_input_names": ["x"],
    "added_tokens_encoder": {},
    "max_length": 10**12,
}
REFUSED: list[dict[str, Any]] = [
    {"added_tokens_decoder": {str(4 * 10**9): {"content": "x"}}},
    {"added_tokens_decoder": {"9" * 4000: {"content": "x"}}},
    {"added_tokens_decoder": {"-1": {"content": "x"}}},
    {"added_tokens_decoder": {str(i): {"content": "x"} for i in range(20_001)}},
    {"added_tokens_decoder": []},
    {"added_tokens_decoder": {"0": {"content": "x", "lstrip": "yes"}}},
    {"additional_special_tokens": ["x"] * 20_001},
    {"extra_special_tokens": "x"},
    {"cls_token": "x" * 1000},
    {"cls_token": "$A $A $A"},
    {"sep_token": {"content": "x:4000000000"}},
    {"cls_token": 5},
    {f"x{i}_token": "x" for i in range(65)},
    {"do_lower_case": "yes"},
    {"padding_side": "middle"},
    {"errors": "xmlcharrefreplace"},
    {"model_max_length": 0},
    {"model_max_length": float("inf")},
    {"model_max_length": True},
    {"max_len": "512"},
    {"tokenizer_class": "RagTokenizer"},
    {"tokenizer_class": ["BertTokenizer"]},
]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_transformers_writes_is_let_in(family: str, tiny_root: Path) -> None:
    given = json.loads((tiny_root / family / "tokenizer_config.json").read_text())
    assert allowed_settings(given, 500) == {k: v for k, v in given.items() if k != "backend"}


@pytest.mark.parametrize("name", INJECTED)
def test_names_for_transformers_own_use_are_left_out(name: str) -> None:
    assert allowed_settings({name: INJECTED[name], "do_lower_case": False}, 500) == {
        "do_lower_case": False
    }


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: str(given)[:40])
def test_values_out_of_range_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        allowed_settings(given, 500)
    assert len(str(caught.value)) < 500


def test_the_older_files_are_held_against_the_same_bounds() -> None:
    token = {"content": "[X]", "lstrip": False, "special": True}
    given = {"cls_token": token, "additional_special_tokens": ["[X]", token], "other": 5}
    assert allowed_special_tokens(given) == {k: v for k, v in given.items() if k != "other"}
    assert allowed_added_tokens({"x": 499}, 500) == {"x": 499}
    for strange in ({"x": 500}, {"x": -1}, {"x": "0"}, {"x" * 1000: 1}):
        with pytest.raises(RefusedError):
            allowed_added_tokens(strange, 500)  # type: ignore[arg-type]
