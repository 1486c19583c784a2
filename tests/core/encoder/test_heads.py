"""A checkpoint's trained heads are found whatever else transformers loads at the time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from transformers.initialization import no_tie_weights

from contextlens.core import BUNDLED_ID, EncoderService
from tests.support.tiny_models import build


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_a_head_is_found_while_another_model_is_loaded(
    family: str, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    build(family, tmp_path / family, head="MaskedLM")
    service = open_with(model_folder=tmp_path)
    service.load(BUNDLED_ID)
    with no_tie_weights():  # as `from_pretrained` leaves the class meanwhile, for all threads
        card = service.load(f"folder:{family}")
    assert card.provenance.token_head.state == "trained"
    assert card.left_out == ()
    assert service.vocabulary(card.id).mask_id is not None
