from __future__ import annotations

from typing import Any

import pytest

from components.core.errors import CorpusError
from components.corpus.store.space import check_room, check_size, estimated_bytes
from components.corpus.store.store import Store
from tests.support.corpus_store import indexed, indexing, made_up_corpus

ROOM: dict[str, Any] = {"max_corpus": 10**9, "left": 10**9, "free": 10**9}


@pytest.mark.slow
def test_the_estimate_is_near_what_it_takes(tmp_path: Any) -> None:
    store = Store(str(tmp_path / "corpora"))
    corpus = made_up_corpus(1500)
    wide = indexing(range(4))
    about = store.about(indexed(store, corpus, layers=range(4)))
    assert about.n_bytes / 2 < estimated_bytes(corpus.texts, wide) < 2 * about.n_bytes


def test_what_fits_passes() -> None:
    check_room("a.csv", 10**8, **ROOM)
    check_room("a.csv", 10**8, max_corpus=10**9, left=10**9, free=None)
    check_size("a.csv", 10**8, 10**9)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"max_corpus": 10**7}, r"a.csv would take about 100 MB here.*one corpus may take 10 MB"),
        ({"left": 10**7}, r"room for 10 MB more of all corpora. Delete one"),
        ({"left": -5}, r"room for 0.0 MB more"),
        ({"free": 10**6}, r"the disk has 1.0 MB left. Make room"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(
    changed: dict[str, int], sentence: str
) -> None:
    with pytest.raises(CorpusError, match=sentence):
        check_room("a.csv", 10**8, **{**ROOM, **changed})


def test_a_corpus_that_grows_too_large_is_told() -> None:
    with pytest.raises(CorpusError, match=r"takes 2,000 MB on disk; one corpus may take 1,000 MB"):
        check_size("a.csv", 2 * 10**9, 10**9)
