"""A probe of the moods of 60 texts."""

from __future__ import annotations

import pytest

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.labels import LabelProbe, LabelResult
from contextlens.features.probe.probing import run_probe
from tests.features.probe.examples import unsplit


@pytest.fixture(scope="package")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.fixture(scope="package")
def moods(service: EncoderService, card: ModelCard) -> LabelProbe:
    labelled = labelled_texts(unsplit(), "mood", card)
    result = run_probe(labelled, card, service, lambda *_: None)
    assert isinstance(result, LabelResult)
    return LabelProbe(labelled, result, card)
