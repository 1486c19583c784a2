"""What the tests of this reading share: the opening example's cosines."""

from __future__ import annotations

import pytest

from components.analysis.similarity import Comparison
from tests.ui.widgets.comparison.reading.comparisons import made

STORY = {
    "AB": [1.0, 0.96, 0.93, 0.78],
    "A0": [0.34, 0.53, 0.56, 0.51],
    "B0": [0.34, 0.47, 0.47, 0.28],
    "A1": [0.25, 0.38, 0.41, 0.26],
    "B1": [0.25, 0.40, 0.43, 0.41],
}


@pytest.fixture
def story() -> Comparison:
    return made(STORY, references=("snake", "programming"))
