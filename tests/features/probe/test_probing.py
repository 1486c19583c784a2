"""Probing as a job."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.separation import scaled
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.probing import PROBES, probe_task, run_probe
from contextlens.features.probe.text_vectors import text_vectors, vectors_script
from contextlens.jobs import StoppedError
from tests.features.probe.examples import unsplit
from tests.support.snippets import run


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


def test_fast_vectors_have_a_script_that_computes_fast(fast_service: EncoderService) -> None:
    card, texts = fast_service.load(BUNDLED_ID), unsplit().texts[:6]
    fast, exact = (
        text_vectors(texts, card, fast_service, lambda *_: None, precision)
        for precision in ("fast", "exact")
    )
    assert (fast.passport.precision, exact.passport.precision) == ("fast", "exact")
    assert fast.passport.cosine_errors is not None
    ours, plain = fast.pooled["mean"][5], exact.pooled["mean"][5]
    assert not np.array_equal(ours, plain)
    assert fast.recipe is not None
    np.testing.assert_allclose(fast.recipe, scaled(fast.pooled["mean"][6]), atol=1e-6)
    load = f"texts = {list(texts)!r}\n"
    options = {"precision": "fast", "imports": "", "load": load, "learn": ""}
    code = vectors_script(card, "mean", 5, **options)  # type: ignore[arg-type]
    assert "dtype=torch.bfloat16" in code
    theirs = run(code)["vectors"]
    norms = np.linalg.norm(theirs, axis=1) * np.linalg.norm(ours, axis=1)
    assert ((theirs * ours).sum(axis=1) / norms).min() > 0.9995
