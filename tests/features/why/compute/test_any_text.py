"""Whatever was typed can be taken apart, or it is said what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import EncoderService
from components.features.why.compute import edits_of, leave_out, shares_at, swap_in
from components.features.why.reading import reading_of, title_of
from components.features.why.score import NoScore, score_of
from components.features.why.work import rows
from tests.features.why.scores import sentence, view_on
from tests.support.texts import TYPED


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart(tiny_service: EncoderService, text: str) -> None:
    view = view_on(sentence(text), sentence("A cat slept"), model="folder:bert", layer=1)
    score = score_of(view, tiny_service, tiny_service.load("folder:bert"))
    if isinstance(score, NoScore):
        assert not text.strip()
        assert "Sentence A is empty" in score.problem
        return
    looks = [
        shares_at(score),
        leave_out(score, tiny_service),
        leave_out(score, tiny_service, how="hidden"),
        swap_in(score, tiny_service),
    ]
    for shown in looks:
        assert str(title_of(shown))
        assert all(map(str, reading_of(shown).sentences))
        assert isinstance(rows(shown), list)
    assert np.isfinite([each.cosine for each in edits_of(score, tiny_service).edits]).all()
