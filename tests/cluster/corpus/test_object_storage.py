"""The whole life of a corpus on S3-compatible object storage, as in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from contextlens.core.errors import CorpusError
from contextlens.corpus.store import indexing as store_indexing
from contextlens.corpus.store.indexing import index, pause, unfinished
from contextlens.corpus.store.store import Store
from contextlens.jobs import Jobs
from tests.cluster.object_store import BUCKET, ObjectStore, overdue
from tests.support.corpus_store import (
    MadeUpService,
    ignore,
    indexed,
    indexing,
    made_up_corpus,
    rows_in,
)

pytestmark = pytest.mark.cluster

NAME, OTHER = "a" * 16, "b" * 16


@pytest.fixture
def root(object_store: ObjectStore, request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name.replace('[', '-').strip(']')}"


@pytest.fixture
def store(root: str) -> Store:
    return Store(root)


def below(root: str) -> str:
    return root.removeprefix(f"s3://{BUCKET}/")


def service(before: Any = lambda: None) -> Any:
    return MadeUpService(before=before)


def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextlens.corpus.store.run._MAX_TEXTS", 4)
    monkeypatch.setattr("contextlens.corpus.store.run._COMMIT_SECONDS", 0.0)


# Its life


def test_a_corpus_lives_there_as_in_a_folder(store: Store, tmp_path: Path) -> None:
    corpus = made_up_corpus(60)
    folder = Store(str(tmp_path / "folder"))
    indexed(folder, corpus, name=NAME)
    indexed(store, corpus, name=NAME)
    there, here = Store(store.root).open(NAME), folder.open(NAME)
    assert there.about.state == "done"
    assert rows_in(store, NAME).equals(rows_in(folder, NAME))
    assert there.words("p") == here.words("p")
    found, expected = there.occurrences("python"), here.occurrences("python")
    assert found.rows.tolist() == expected.rows.tolist()
    assert there.text(found.texts) == here.text(expected.texts)
    assert there.column("sense", found.texts) == here.column("sense", expected.texts)
    vector = here.vectors(expected, 2)[0]
    for word in ("python", None):
        near, own = there.nearest(vector, 2, 5, word=word), here.nearest(vector, 2, 5, word=word)
        assert near.rows.tolist() == own.rows.tolist()
        assert near.cosines.tolist() == own.cosines.tolist()
    store.export(NAME, tmp_path / "there.parquet")
    folder.export(NAME, tmp_path / "here.parquet")
    assert pq.read_table(tmp_path / "there.parquet").equals(
        pq.read_table(tmp_path / "here.parquet")
    )


def test_a_deleted_corpus_leaves_no_object(store: Store, object_store: ObjectStore) -> None:
    indexed(store, made_up_corpus(5), name=NAME)
    indexed(store, made_up_corpus(5), name=OTHER)
    other = Store(store.root)
    assert other.about(NAME).state == "done"  # so that it has the tables open
    store.delete(NAME)
    assert not object_store.keys(f"{below(store.root)}/{NAME}")
    for asked in (store, other, Store(store.root)):
        assert asked.names() == (OTHER,)
        with pytest.raises(CorpusError, match="no longer"):
            asked.about(NAME)
    store.delete(NAME)
    assert len(store.open(OTHER).occurrences("python"))


def test_a_paused_corpus_goes_on_behind_its_last_row(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch)
    corpus = made_up_corpus(40)
    store.create(corpus, indexing(), name=NAME)
    n_asked = 0

    def before() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 3:
            pause(Store(store.root), NAME)  # as another process does

    index(store, service(before), NAME, ignore)
    about = store.about(NAME)
    assert about.state == "paused"
    assert 0 < about.n_texts_done < 40
    assert store.open(NAME).occurrences("python").n_total

    again = Store(store.root)
    again.set_state(NAME, "waiting")
    assert [own.name for own in unfinished(again)] == [NAME]
    index(again, service(), NAME, ignore)
    folder = Store(str(tmp_path))
    indexed(folder, corpus, name=NAME)
    assert rows_in(again, NAME).equals(rows_in(folder, NAME))
    assert again.about(NAME).state == "done"


def test_what_failed_with_a_long_reason_can_go_on(store: Store) -> None:
    """Its state is shorter then than before, and nothing else is less."""
    store.create(made_up_corpus(5), indexing(), name=NAME)
    store.set_state(NAME, "failed", "A long reason. " * 100)
    store.set_state(NAME, "waiting")
    index(store, service(), NAME, ignore)
    assert Store(store.root).about(NAME).state == "done"


def test_an_index_of_vectors_is_made_there_and_used(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_indexing, "MIN_ROWS", 500)
    indexed(store, made_up_corpus(60), name=NAME)
    assert store_indexing.layers_without(store, NAME) == (0, 2)
    jobs = Jobs(10**6)
    job = store_indexing.index_vectors(jobs, store, NAME)
    assert job is not None
    job.result(100)
    again = Store(store.root)
    assert store_indexing.layers_without(again, NAME) == ()
    corpus = again.open(NAME)
    python = corpus.occurrences("python")
    near = corpus.nearest(corpus.vectors(python, 2)[0], 2, 3)
    assert near.cosines[0] > 0.999


def test_fifty_corpora_are_listed_and_counted(root: str, object_store: ObjectStore) -> None:
    """Not one request after the other where there are many of them."""
    store = Store(root)
    store.create(made_up_corpus(2), indexing(), name=NAME)
    objects = {key: object_store.get(key) for key in object_store.keys(f"{below(root)}/{NAME}")}
    names = {f"{number:016}" for number in range(49)}
    for name in names:
        for key, content in objects.items():
            object_store.put(key.replace(NAME, name), content)
    again = Store(root)
    assert set(again.names()) == {NAME, *names}
    assert len(unfinished(again)) == 50
    assert again.n_bytes == 50 * again.about(NAME).n_bytes


def test_there_is_room_for_so_much_and_no_more(root: str) -> None:
    small = Store(root, max_corpus_bytes=10_000)
    with pytest.raises(CorpusError, match=r"one corpus may take 0\.0 MB"):
        small.create(made_up_corpus(500), indexing())
    full = Store(root, max_bytes=100_000)
    indexed(full, made_up_corpus(30))
    with pytest.raises(CorpusError, match=r"of all corpora\. Delete one"):
        full.create(made_up_corpus(500), indexing())


# What goes wrong


def use(store: Store) -> None:
    corpus = store.open(NAME)
    found = corpus.occurrences("python")
    corpus.text(np.arange(corpus.n_texts))
    corpus.words()
    for layer in corpus.layers:
        corpus.nearest(corpus.vectors(found, layer)[0], layer, 3)


def test_a_damaged_object_marks_its_corpus_and_the_others_work(
    store: Store, object_store: ObjectStore
) -> None:
    """One after the other is cut in half, or gone, and then there again."""
    indexed(store, made_up_corpus(30), name=OTHER)
    indexed(store, made_up_corpus(30), name=NAME)
    objects = {
        key: object_store.get(key) for key in object_store.keys(f"{below(store.root)}/{NAME}")
    }
    n_told = 0
    for number, (key, content) in enumerate(objects.items()):
        if number % 2:
            object_store.delete(key)
        else:
            object_store.put(key, content[: len(content) // 2])
        again = Store(store.root)
        try:
            use(again)
        except CorpusError:  # not for an old version's object, for instance, which nobody needs
            n_told += 1
        assert set(again.names()) == {NAME, OTHER}
        object_store.put(key, content)
    assert n_told >= 3
    use(Store(store.root))
    last = next(key for key in objects if ".occurrences.lance/data/" in key)
    object_store.put(last, b"")
    again = Store(store.root)
    with pytest.raises(CorpusError, match=r"damaged or missing\. Delete it here"):
        use(again)
    again.delete(NAME)
    assert again.names() == (OTHER,)


def test_storage_that_goes_away_while_a_corpus_grows_is_told_and_loses_nothing(
    store: Store, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small_chunks(monkeypatch)
    monkeypatch.setattr("contextlens.corpus.store.tables._AWAY_SECONDS", 60)
    corpus = made_up_corpus(40)
    store.create(corpus, indexing(), name=NAME)
    n_asked = 0

    def before() -> None:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 5:
            object_store.stop()

    try:
        with pytest.raises(CorpusError, match="does not answer just now"):
            index(store, service(before), NAME, ignore)
        for ask in (store.names, lambda: store.about(NAME), Store(store.root).names):
            with pytest.raises(CorpusError, match="does not answer just now"):
                ask()
    finally:
        object_store.start()
    again = Store(store.root)
    assert again.about(NAME).state == "indexing"
    overdue(store.root, NAME)
    index(again, service(), NAME, ignore)
    folder = Store(str(tmp_path))
    indexed(folder, corpus, name=NAME)
    assert rows_in(again, NAME).equals(rows_in(folder, NAME))


def test_credentials_that_are_refused_are_told(store: Store, object_store: ObjectStore) -> None:
    with (
        object_store.only_known_keys(),
        pytest.raises(CorpusError, match="refuses the credentials of this server"),
    ):
        Store(store.root).names()


def test_a_bucket_that_does_not_exist_is_told(object_store: ObjectStore) -> None:
    with pytest.raises(CorpusError, match=r"bucket .* does not exist"):
        Store("s3://no-such-bucket/corpora").names()


def test_an_address_that_is_not_encrypted_has_to_be_allowed(
    store: Store, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(CorpusError, match="set AWS_ALLOW_HTTP=true"):
        Store(store.root).names()
