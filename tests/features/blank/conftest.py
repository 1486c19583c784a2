"""Tiny models with a trained-looking head for hidden words, and a service that knows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from contextlens.core import EncoderService
from tests.support.tiny_models import build

FAMILIES = ("bert", "distilbert", "roberta", "xlm-roberta", "mpnet", "albert", "electra")


@pytest.fixture(scope="session")
def masked_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny masked-language model for each family, named after it."""
    root = tmp_path_factory.mktemp("masked")
    for family in FAMILIES:
        build(family, root / family, head="MaskedLM")
    build("bert", root / "no-head")
    return root


@pytest.fixture(scope="session")
def masked_service(masked_root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    """A service that knows these models as "folder:bert" and so on."""
    return open_with(model_folder=masked_root)
