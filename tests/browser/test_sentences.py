"""Sentence vectors as its readers use it: matrices at first sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
MATRIX = ".st-key-sentences_matrix_cls .js-plotly-plot"


def test_the_matrices_are_seen_at_once(
    visit: Callable[..., Visit],
) -> None:
    here = visit("/sentences", **DESK)
    here.page.wait_for_selector(MATRIX, timeout=SECONDS * 1000)
    here.settle()
    assert here.reading.startswith("Averaging all tokens finds the right partner for 4 of 4")
    assert box(here.main.locator(MATRIX))["y"] <= 430


def test_it_fits_a_phone(visit: Callable[..., Visit]) -> None:
    here = visit("/sentences", **PHONE)
    here.page.wait_for_selector(MATRIX, timeout=SECONDS * 1000)
    here.settle()
    assert not here.page.evaluate(WIDER_THAN_ITSELF)
