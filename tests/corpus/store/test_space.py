from __future__ import annotations

import os
import shutil
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.indexing import index
from contextlens.corpus.store.space import (
    FREE_BYTES,
    Space,
    check_export_space,
    estimated_bytes,
    export_folder,
)
from contextlens.corpus.store.store import Store
from tests.support.corpus_store import (
    MadeUpService,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
    rows_in,
)
from tests.support.together import together

SPACE = Space(2 * 10**9, 10**9)
LAYERS = tuple(range(4))

_Usage = namedtuple("_Usage", ["total", "used", "free"])


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Says how many bytes each disk has left from now on."""

    def say(n_bytes: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(10**12, 0, n_bytes))

    return say


@pytest.fixture
def low_estimates(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Says what every corpus is estimated to take; commits are small."""
    monkeypatch.setattr("contextlens.corpus.store.run._COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("contextlens.corpus.store.run._MAX_TEXTS", 20)

    def say(n_bytes: int) -> None:
        monkeypatch.setattr("contextlens.corpus.store.store.estimated_bytes", lambda *_: n_bytes)

    return say


def test_the_estimate_is_near_what_it_takes(tmp_path: Any) -> None:
    store = Store(str(tmp_path / "corpora"))
    corpus = made_up_corpus(1500)
    about = store.about(indexed(store, corpus, layers=LAYERS))
    assert about.n_bytes / 2 < estimated_bytes(corpus, indexing(LAYERS)) < 2 * about.n_bytes


def test_labels_are_part_of_the_estimate() -> None:
    plain = Corpus("a.csv", ("one text",) * 1_000)
    labelled = Corpus("a.csv", plain.texts, {"topic": ("x" * 50,) * 1_000})
    more = estimated_bytes(labelled, indexing()) - estimated_bytes(plain, indexing())
    assert more == pytest.approx(50_000, rel=0.01)


@pytest.mark.parametrize("free", [10**9, None])
def test_what_fits_passes(free: int | None) -> None:
    SPACE.check_new("a.csv", 10**8, reserved=10**9, free=free)
    SPACE.check_growth("a.csv", 10**8, others=10**9, free=free)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"n_bytes": 1_500 * 10**6}, r"take about 1,500 MB here.*one corpus may take 1,000 MB"),
        ({"reserved": 1_990 * 10**6}, r"room for 10 MB more of all corpora. Delete one"),
        ({"reserved": 3 * 10**9}, r"room for 0.0 MB more"),
        ({"free": FREE_BYTES + 10**6}, r"the disk has 1.0 MB left for corpora. Make room"),
        ({"free": 10**6}, r"the disk has 0.0 MB left for corpora. Make room"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(
    changed: dict[str, int], sentence: str
) -> None:
    given: dict[str, Any] = {"n_bytes": 10**8, "reserved": 0, "free": 10**12, **changed}
    with pytest.raises(CorpusError, match=sentence):
        SPACE.check_new("a.csv", **given)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"n_bytes": 1_500 * 10**6}, r"grow to 1,500 MB; one corpus may take 1,000 MB"),
        ({"others": 1_950 * 10**6}, r"all corpora here may take 2,000 MB\. What was stored can"),
        ({"free": FREE_BYTES}, r"500 MB of the disk stay free.*make room and go on"),
    ],
)
def test_growth_beyond_a_bound_is_told_in_one_sentence(
    changed: dict[str, int], sentence: str
) -> None:
    given: dict[str, Any] = {"n_bytes": 10**8, "others": 0, "free": 10**12, **changed}
    with pytest.raises(CorpusError, match=sentence):
        SPACE.check_growth("a.csv", **given)


def index_all(store: Store, names: list[str]) -> list[str]:
    """The sentences that indexing stopped with."""
    sentences = []
    for name in names:
        try:
            index(store, MadeUpService(), name, ignore)  # type: ignore[arg-type]
        except CorpusError as exc:
            sentences.append(str(exc))
    return sentences


def test_what_is_promised_to_one_corpus_is_not_promised_to_the_next(tmp_path: Path) -> None:
    """All are stored before the first grows."""
    bound = 3_000_000
    store, names, refused = Store(str(tmp_path), max_bytes=bound), list[str](), list[str]()
    for seed in range(8):
        try:
            about = store.create(made_up_corpus(330, seed=seed), indexing(LAYERS))
        except CorpusError as exc:
            refused.append(str(exc))
        else:
            names.append(about.name)
            assert 800_000 < about.n_bytes_expected < 1_000_000
    assert (len(names), len(refused)) == (3, 5)
    assert all("more of all corpora. Delete one" in sentence for sentence in refused)
    assert index_all(store, names) == []
    assert store.n_bytes <= bound
    left = bound - store.n_bytes  # a corpus that is done counts as what it takes
    store.check_room("next.csv", left)
    with pytest.raises(CorpusError, match="more of all corpora"):
        store.check_room("next.csv", left + 1)


def test_corpora_that_outgrow_their_estimates_stop_at_the_bound_for_all(
    tmp_path: Path, low_estimates: Callable[[int], None]
) -> None:
    low_estimates(1_000)
    bound = 1_000_000
    store = Store(str(tmp_path), max_bytes=bound)
    names = [store.create(made_up_corpus(330, seed=i), indexing(LAYERS)).name for i in range(3)]
    sentences = index_all(store, names)
    assert sentences
    assert all("all corpora here may take 1.0 MB" in sentence for sentence in sentences)
    assert store.n_bytes <= bound
    stopped = store.about(names[-1])
    assert (stopped.state, stopped.why) == ("failed", sentences[-1])
    first = store.about(names[0])
    assert first.n_texts_done > 0
    assert len(store.open(names[0]).occurrences("python"))  # the store works
    store.delete(names[0])
    assert index_all(store, names[1:2]) == []  # there is room again
    assert store.about(names[1]).state == "done"


def test_corpora_that_grow_at_the_same_time_stop_at_the_bound_for_all(
    tmp_path: Path, low_estimates: Callable[[int], None]
) -> None:
    low_estimates(1_000)
    bound = 1_000_000
    store = Store(str(tmp_path), max_bytes=bound)
    names = [store.create(made_up_corpus(330, seed=i), indexing(LAYERS)).name for i in range(3)]
    sentences = together(3, lambda i: index_all(store, [names[i]]))
    assert sum(map(len, sentences)) >= 2
    assert bound / 2 < store.n_bytes <= bound


def test_what_is_reserved_for_others_is_not_grown_into(
    tmp_path: Path, low_estimates: Callable[[int], None]
) -> None:
    low_estimates(1_000)
    store = Store(str(tmp_path), max_bytes=400_000)
    greedy = store.create(made_up_corpus(200), indexing(LAYERS)).name
    low_estimates(300_000)
    modest = store.create(made_up_corpus(60), indexing(LAYERS)).name
    (sentence,) = index_all(store, [greedy])
    assert "has no room to grow" in sentence
    assert index_all(store, [modest]) == []


def test_a_corpus_stops_before_the_disk_is_full(tmp_path: Path, free: Any) -> None:
    store = Store(str(tmp_path))
    name = store.create(made_up_corpus(20), indexing()).name
    free(FREE_BYTES)
    (sentence,) = index_all(store, [name])
    assert "500 MB of the disk stay free for everything else" in sentence
    assert store.about(name).state == "failed"
    free(10**10)
    store.set_state(name, "waiting")
    assert index_all(store, [name]) == []
    assert rows_in(store, name).num_rows == store.about(name).n_occurrences


def test_an_export_is_measured_on_the_disk_that_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: Any
) -> None:
    asked = []

    def usage(folder: Path) -> _Usage:
        asked.append(Path(folder))
        return _Usage(10**12, 0, FREE_BYTES + 10**6)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    check_export_space("a.csv", 10**6, tmp_path)
    assert asked == [tmp_path]
    with pytest.raises(CorpusError, match=r"a\.csv would take up to 2\.0 MB more.*has 1\.0 MB for"):
        check_export_space("a.csv", 2 * 10**6, tmp_path)
    free(10**10)
    store = Store(str(tmp_path / "corpora"))
    name = indexed(store, made_up_corpus(5))
    free(FREE_BYTES)
    with pytest.raises(CorpusError, match="for files on their way"):
        store.export(name, tmp_path / "a.parquet")


def test_exports_are_written_beside_the_data_and_old_ones_are_deleted(tmp_path: Path) -> None:
    folder = export_folder(tmp_path / "data")
    assert folder == tmp_path / "data" / "exports"
    for name, days in (("old", 2.0), ("new", 0.0)):
        own = folder / name
        own.mkdir()
        (own / "corpus.parquet").write_bytes(b"x")
        os.utime(own, (time.time() - days * 86_400,) * 2)
    export_folder(tmp_path / "data")
    assert [path.name for path in folder.iterdir()] == ["new"]
