"""Models whose anatomy is measured, as the service knows them and as transformers reads them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import transformers

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Architecture
from tests.support.tiny_models import ALL

__all__ = ["MODELS", "direct", "made"]

MODELS = [BUNDLED_ID, *(f"folder:{name}" for name in ALL)]


def made(service: EncoderService, model: str) -> Architecture:
    service.load(model)
    return service.architecture(model)


@cache
def direct(model: str, tiny_root: Path, bundled_folder: Path) -> Any:
    """The model as transformers alone reads it."""
    folder = bundled_folder if model == BUNDLED_ID else tiny_root / model.split(":")[1]
    read = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    if model == "folder:bert-without-pooler":
        read.pooler = None
    return read
