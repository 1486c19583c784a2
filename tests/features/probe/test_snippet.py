"""The snippet under the hood, run as a reader would run it, gives the page's numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.probe.compute import labelled_texts, probe, probe_arrays
from contextlens.features.probe.snippet import LABELS_PICTURE, probe_snippet
from contextlens.ui.widgets.export import to_npz
from tests.support.snippets import drawn, run


@pytest.mark.slow
def test_the_snippet_gives_the_accuracy_of_any_layer_and_pooling(
    service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card, whole = service.load(BUNDLED_ID), sentiment_corpus()
    corpus = Corpus("mine", whole.texts[:40], {"mood": whole.labels["sentiment"][:40]})
    labelled = labelled_texts(corpus, "mood", card)
    result = probe(labelled, card, service, lambda *_: None)
    monkeypatch.chdir(tmp_path)
    Path("probe.npz").write_bytes(to_npz(probe_arrays(labelled, result), result.passport))
    for score in (result.scores[3], result.scores[9]):
        names = run(probe_snippet(card, replace(score), n_labels=2, file="probe.npz"))
        assert names["accuracy"] == pytest.approx(score.accuracy, abs=1.5 / score.n)
        assert drawn(LABELS_PICTURE, names).data[0].z.sum() == score.n
        assert names["f1"] == pytest.approx(score.macro_f1, abs=0.05)
