"""Fixtures of the core's tests: the tokenizers of transformers, and a model to spoil."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from tests.support.tiny_models import TYPICAL, build


@pytest.fixture(scope="session")
def reference(tiny_root: Path, bundled_folder: Path) -> dict[str, Any]:
    """Each model's tokenizer as transformers reads it."""
    folders = {f"folder:{name}": tiny_root / name for name in TYPICAL}
    folders[BUNDLED_ID] = bundled_folder
    return {model: AutoTokenizer.from_pretrained(folder) for model, folder in folders.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a tiny BERT for the test to spoil."""
    return build("bert", tmp_path / "model")


@pytest.fixture
def load(tmp_path: Path, open_with: Callable[..., EncoderService]) -> Callable[[], ModelCard]:
    """Load whatever the folder holds."""
    return lambda: open_with(model_folder=tmp_path).load("folder:model")
