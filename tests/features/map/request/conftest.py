"""What the tests of requests share: the bundled model's card."""

from __future__ import annotations

import pytest

from components.core import BUNDLED_ID, EncoderService, ModelCard


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)
