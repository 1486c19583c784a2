"""Tiny models with a recipe for sentence vectors, as sentence-transformers saves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer

from contextlens.core import EncoderService
from tests.support.tiny_models import build

__all__ = ["Open", "with_recipe"]

Open = Callable[..., EncoderService]


def with_recipe(
    family: str, steps: list[Any], open_with: Open, folder: Path, **reading: Any
) -> tuple[EncoderService, str, SentenceTransformer]:
    """A tiny model with a recipe: in a new service, its id, and as the library reads it."""
    built = build(family, folder / "built")
    network = Transformer(str(built), **reading)
    target = folder / "models" / family
    SentenceTransformer(modules=[network, *steps], device="cpu").save(str(target))
    service = open_with(model_folder=folder / "models")
    return service, f"folder:{family}", SentenceTransformer(str(target), device="cpu")
