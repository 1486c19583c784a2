"""A corpus on disk and one in memory show the same, but for what float16 rounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.corpus.store.about import Indexing
from components.corpus.store.indexing import index
from components.corpus.store.store import Store
from components.features.senses.compute import Senses, senses_in, senses_of
from tests.support.corpus_store import ignore
from tests.support.senses import senses_view

MODEL = "folder:bert"
TEXTS = tuple(
    text.format(i)
    for i in ("one", "two", "three", "four", "five")
    for text in ("my {} python sleeps, python", "write {} lines in Python")
)


@pytest.mark.slow
def test_both_show_the_same(tiny_service: EncoderService, tmp_path: Path) -> None:
    card = tiny_service.load(MODEL)
    corpus = Corpus("Pets", TEXTS, {"sense": ("snake", "language") * 5})
    store = Store(str(tmp_path))
    layers = tuple(range(card.n_layers + 1))
    given = Indexing(MODEL, card.checksum, card.revision, layers, card.n_dims, "exact")
    about = store.create(corpus, given)
    index(store, tiny_service, about.name, ignore)

    view = replace(
        senses_view(corpus=about.name, word="python", groups="2", own=TEXTS[0]), model=MODEL
    )
    kept = senses_of(view, tiny_service, store.open)
    live = senses_in(LiveCorpus(corpus, tiny_service, MODEL), view, tiny_service)
    assert isinstance(kept, Senses)
    assert isinstance(live, Senses)
    assert kept.uses.labels == live.uses.labels
    assert kept.uses.occurrences.left == live.uses.occurrences.left
    assert kept.uses.occurrences.rows.tolist() == live.uses.occurrences.rows.tolist()
    assert kept.concordance.lines[0].right == live.concordance.lines[0].right
    for ours, theirs in zip(kept.course.curve, live.course.curve, strict=True):
        assert abs(ours.right - theirs.right) <= 1
        assert ours.silhouette == pytest.approx(theirs.silhouette, abs=0.01)
    assert kept.cosines is not None
    assert live.cosines is not None
    np.testing.assert_allclose(kept.cosines, live.cosines, atol=2e-3)
