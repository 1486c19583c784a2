"""Tiny models with a trained-looking head for hidden words, and a service that knows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from contextlens.core import EncoderService
from contextlens.ui.state.view import Sentence, ViewState
from tests.support.tiny_models import MASKED, build

BOTH = "bert-both-heads"
"""A BERT with heads for hidden words and for the next sentence, as published."""
LONG = "roberta-long"
"""A RoBERTa that takes 512 tokens."""


@pytest.fixture(scope="session")
def masked_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny masked-language model for each family, `BOTH`, `LONG`, and no head."""
    root = tmp_path_factory.mktemp("masked")
    for family in MASKED:
        build(family, root / family, head="MaskedLM")
    build("bert", root / "no-head")
    build("bert", root / BOTH, head="PreTraining")
    build("roberta", root / LONG, head="MaskedLM", max_position_embeddings=514)
    settings = root / LONG / "tokenizer_config.json"
    written = {**json.loads(settings.read_text(encoding="utf-8")), "model_max_length": 512}
    settings.write_text(json.dumps(written), encoding="utf-8")
    return root


@pytest.fixture(scope="session")
def masked_service(masked_root: Path, open_with: Callable[..., EncoderService]) -> EncoderService:
    """A service that knows these models as "folder:bert" and so on."""
    return open_with(model_folder=masked_root)


@pytest.fixture(scope="session")
def view_of() -> Callable[..., ViewState]:
    """Makes a view of some sentences, read by a family."""

    def view(*texts: str, family: str = BOTH, pairs: Sequence[str | None] = ()) -> ViewState:
        pairs = [*pairs, *[None] * (len(texts) - len(pairs))]
        sentences = [Sentence(text, pair) for text, pair in zip(texts, pairs, strict=True)]
        return ViewState(f"folder:{family}", tuple(sentences))

    return view
