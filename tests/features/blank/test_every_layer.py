"""The read-out at every layer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.blank.every_layer import EveryLayer, every_layer
from contextlens.features.blank.predictions import predictions
from contextlens.ui.state.view import DEFAULT, ViewState


def result(view: ViewState, service: EncoderService, at: int = 0) -> EveryLayer:
    shown = predictions(view, service, service.load(view.model))
    return every_layer(view, service, shown, list(shown.answers())[at])


def test_lines_are_the_probabilities_of_the_final_answers_and_of_the_written_word(
    masked_service: EncoderService,
) -> None:
    view = replace(DEFAULT, model="folder:bert")
    look = result(view, masked_service)
    shown = predictions(view, masked_service, masked_service.load(view.model))
    answer = next(iter(shown.answers()))
    assert look.ids[:4] == tuple(bar.token_id for bar in answer.guesses[:4])
    assert look.written == 4
    assert answer.written is not None
    assert look.logs[-1, 4] == pytest.approx(answer.written.log, abs=1e-6)
    chart = look.figure()
    assert [len(trace.x) for trace in chart.data] == [4] * 5
    np.testing.assert_allclose(chart.data[-1].y, np.exp(look.logs[:, 4]), atol=1e-5)
    assert next(iter(look.rows()[0])) == "layer"
    assert look.arrays()["line_ranks"].shape == (4, 5)


@pytest.mark.parametrize(
    ("ranks", "first", "start"),
    [
        ([1, 1, 1, 1], 0, "In A, the final answer"),
        ([9, 1, 2, 1], 3, "In A, the final answer"),
        ([9, 1, 1, 1], 1, "In A, the final answer"),
        ([1, 2, 1, 1], 2, "In A, the final answer"),
    ],
)
def test_the_finding_is_where_the_final_answer_stays_first(
    ranks: list[int], first: int, start: str, masked_service: EncoderService
) -> None:
    look = result(replace(DEFAULT, model="folder:bert"), masked_service)
    changed = look.ranks.copy()
    changed[:, 0] = ranks
    look = replace(look, ranks=changed)
    assert look.first == first
    assert str(look.title()).startswith(start)
    assert (f"**{first}**" in str(look.title())) == (first > 0)
