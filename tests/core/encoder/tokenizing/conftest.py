"""What the tests of tokenizing share: models, their tokenizers, and those of transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from components.core import BUNDLED_ID, EncoderService, Tokens
from tests.support.tiny_models import FAMILIES


@pytest.fixture(scope="session")
def reference(tiny_root: Path, bundled_folder: Path) -> dict[str, Any]:
    """Each model's tokenizer as transformers reads it."""
    folders = {f"folder:{name}": tiny_root / name for name in FAMILIES}
    folders[BUNDLED_ID] = bundled_folder
    return {model: AutoTokenizer.from_pretrained(folder) for model, folder in folders.items()}


@pytest.fixture(params=[BUNDLED_ID, *(f"folder:{name}" for name in FAMILIES)])
def model(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def cut(tiny_service: EncoderService, model: str) -> Callable[..., Tokens]:
    """Tokenizes one text (and pair) with the model of the test."""

    def one(text: str, pair: str | None = None, pad_to: int | None = None) -> Tokens:
        pairs = None if pair is None else [pair]
        return tiny_service.tokenize(model, [text], pairs=pairs, pad_to=pad_to)[0]

    return one
