"""What the tests of these figures share: the opening example's words, with random vectors."""

from __future__ import annotations

import pytest

from components.analysis.similarity import Comparison
from tests.features.meaning.figures.cosine_figures import comparison_of


@pytest.fixture
def pythons() -> Comparison:
    return comparison_of(["python", "python"], ["snake", "programming"])
