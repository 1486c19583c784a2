"""Probing as a job."""

from __future__ import annotations

import pytest

from contextlens.core import EncoderService, ModelCard
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.probing import PROBES, probe_task, run_probe
from contextlens.jobs import StoppedError
from tests.features.probe.examples import unsplit


def test_cancel_ends_the_work_at_the_next_step(service: EncoderService, card: ModelCard) -> None:
    labelled = labelled_texts(unsplit(), "mood", card)

    def stop(stage: str, share: float) -> None:
        if stage.startswith("Learning"):
            raise StoppedError("stop")

    with pytest.raises(StoppedError):
        run_probe(labelled, card, service, stop)
    task = probe_task(labelled, card, service, seconds=1.0)
    assert task.kind is PROBES
    assert task.key == probe_task(labelled, card, service, seconds=9.0).key
