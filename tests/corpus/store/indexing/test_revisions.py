"""A corpus is indexed with one revision of a model, whatever servers answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from components.core.cache import ByteCache, CachedService
from components.core.errors import RevisionError
from components.corpus.live import LiveCorpus
from components.corpus.store.about import indexing_of
from components.corpus.store.indexing import index
from components.corpus.store.store import Store
from tests.support.corpus_store import ignore, made_up_corpus, rows_in
from tests.support.revisions import MODEL, two_revisions


def test_the_rows_of_two_revisions_are_never_mixed(store: Store, tmp_path: Path) -> None:
    corpus = made_up_corpus(40)
    with two_revisions(tmp_path / "models") as two:
        card = two.services[0].load(MODEL)
        about = store.create(corpus, indexing_of(card, [2], "exact"))
        two.alternate("encode")
        with pytest.raises(RevisionError):
            index(store, CachedService(two.remote, ByteCache(10**7)), about.name, ignore)
        failed = store.about(about.name)
        assert failed.state == "failed"
        assert "another revision" in failed.why
        two.turns = {}
        store.set_state(about.name, "waiting")
        index(store, two.remote, about.name, ignore)  # type: ignore[arg-type]
        plain = store.create(corpus, indexing_of(card, [2], "exact"))
        index(store, two.services[0], plain.name, ignore)  # type: ignore[arg-type]
    found, expected = (
        np.stack(rows_in(store, name)["layer_2"].to_pylist()) for name in (about.name, plain.name)
    )
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_corpus_in_memory_has_the_vectors_of_the_model_that_it_was_opened_with(
    tmp_path: Path,
) -> None:
    with two_revisions(tmp_path) as two:
        service = CachedService(two.remote, ByteCache(10**7))
        corpus = LiveCorpus(made_up_corpus(10), service, MODEL)
        two.replace()
        service.load(MODEL)
        with pytest.raises(RevisionError):
            corpus.vectors(corpus.occurrences("python"), 1)
