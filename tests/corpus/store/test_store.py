"""Stored corpora: created, found, deleted, damaged, and never mixed."""

from __future__ import annotations

import shutil
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import Settings
from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import VERSION, overwrite
from contextlens.corpus.store.store import Store, open_store
from contextlens.corpus.store.tables import is_name
from tests.support.corpus_store import indexed, indexing, made_up_corpus, rows_in

NAME = "a" * 16
OTHER = "b" * 16


def files_of(store: Store, name: str) -> list[Path]:
    return [p for p in sorted(Path(store.root).rglob(f"{name}*/**/*")) if p.is_file()]


# Creating, finding, deleting


def test_a_corpus_is_there_once_it_is_created_and_in_the_next_server_too(store: Store) -> None:
    corpus = made_up_corpus(10)
    about = store.create(corpus, indexing())
    assert is_name(about.name)
    counts = about.n_texts, about.n_texts_done, about.n_occurrences
    assert (about.state, counts) == ("waiting", (10, 0, 0))
    assert (about.title, about.digest, about.columns) == (corpus.name, corpus.digest, ("sense",))
    assert store.names() == (about.name,)
    assert Store(store.root).about(about.name) == store.about(about.name)
    store.delete(about.name)
    again = store.create(corpus, indexing(), name=about.name)
    assert again.created > about.created  # an answer about the deleted one is not taken for its own


def test_its_folder_is_the_servers_alone(store: Store) -> None:
    store.create(made_up_corpus(2), indexing())
    assert stat.S_IMODE(Path(store.root).stat().st_mode) == 0o700


def test_an_empty_place_has_no_corpora_and_nothing_is_made_there(tmp_path: Path) -> None:
    assert Store(str(tmp_path / "none")).names() == ()
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_more_than_a_page_of_corpora_are_listed(store: Store) -> None:
    names = {store.create(made_up_corpus(1), indexing(), name=f"{i:016}").name for i in range(25)}
    assert set(store.names()) == names


def test_a_deleted_corpus_leaves_nothing(store: Store) -> None:
    name, other = indexed(store, made_up_corpus(5)), indexed(store, made_up_corpus(5))
    store.delete(name)
    assert store.names() == (other,)
    assert not list(Path(store.root).glob(f"{name}*"))
    with pytest.raises(CorpusError, match="no longer"):
        store.about(name)
    store.delete(name)  # once more: nothing happens
    assert store.open(other).n_occurrences


def test_vectors_of_sentences_are_stored_once_count_and_go_with_their_corpus(store: Store) -> None:
    name = store.create(made_up_corpus(5), indexing()).name
    assert not store.open(name).has_sentences
    left = Path(store.root) / f"{name}.sentences.lance" / "data"  # by a process that was killed
    left.mkdir(parents=True)
    (left / "part.lance").write_bytes(b"half")
    assert not store.open(name).has_sentences
    vectors = np.arange(5 * 16).reshape(5, 16).astype(np.float16)
    n_bytes = store.n_bytes
    store.keep_sentences(name, vectors)
    store.keep_sentences(name, 2 * vectors)
    assert np.array_equal(Store(store.root).open(name).sentences(), vectors)
    assert store.n_bytes >= n_bytes + vectors.nbytes
    assert store.about(name).n_texts == 5
    store.delete(name)
    assert not list(Path(store.root).glob(f"{name}*"))
    with pytest.raises(CorpusError, match="no longer"):
        store.keep_sentences(name, vectors)
    assert not list(Path(store.root).glob(f"{name}*"))


@pytest.mark.parametrize("name", ["../../somewhere", "", "a" * 15, "a.b/" * 4])
def test_a_name_that_is_none_reaches_no_file(store: Store, name: str, tmp_path: Path) -> None:
    store.create(made_up_corpus(2), indexing())
    for ask in (store.about, store.open, store.delete, store.last_text):
        with pytest.raises(CorpusError, match="16 letters"):
            ask(name)
    with pytest.raises(CorpusError):
        store.create(made_up_corpus(2), indexing(), name=name or "../x")
    assert [path.name for path in tmp_path.iterdir()] == ["corpora"]


def test_the_same_file_twice_is_recognised_where_it_is_indexed_alike(store: Store) -> None:
    corpus = made_up_corpus(5)
    about = store.create(corpus, indexing())
    others = store.create(made_up_corpus(6), indexing()).name, "c" * 16, "no name"
    among = (*others, about.name)
    again = Corpus("another name.csv", corpus.texts, corpus.labels)
    assert store.find(again.digest, indexing(), among) == about
    assert store.find(again.digest, indexing((0, 1)), among) is None
    assert store.find(again.digest, indexing(checksum="b" * 64), among) is None
    assert store.find(again.digest, indexing(), others) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"corpus": Corpus("e.csv", ())}, "e.csv has no text"),
        ({"split": "no such"}, "has no column no such"),
        ({"indexing": indexing(())}, "No layer was chosen"),
        ({"name": NAME}, "already"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    store: Store, changes: dict[str, Any], sentence: str
) -> None:
    store.create(made_up_corpus(1), indexing(), name=NAME)
    asked = {"corpus": made_up_corpus(2), "indexing": indexing(), **changes}
    with pytest.raises(CorpusError, match=sentence):
        store.create(asked.pop("corpus"), asked.pop("indexing"), **asked)
    assert store.names() == (NAME,)


def test_settings_say_where_corpora_are_and_how_large(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path, corpus_bytes=10_000))
    assert store.root == str(tmp_path / "corpora")
    with pytest.raises(CorpusError, match="one corpus may take"):
        store.create(made_up_corpus(500), indexing())
    assert open_store(Settings(corpora_uri="s3://b/c")).root == "s3://b/c"


def test_object_storage_is_used_the_same_way() -> None:
    store = Store("memory://corpora")
    corpus = made_up_corpus(20)
    name = indexed(store, corpus)
    assert store.names() == (name,)
    assert store.about(name).state == "done"
    assert store.about(name).n_bytes > 0
    found = store.open(name).occurrences("python")
    assert store.open(name).text(found.texts) == tuple(corpus.texts[i] for i in found.texts)
    store.delete(name)
    assert store.names() == ()


def test_two_servers_write_how_a_corpus_stands_one_after_the_other(store: Store) -> None:
    """Each has seen it a moment ago, before the other wrote."""
    name = store.create(made_up_corpus(2), indexing()).name
    other = Store(store.root)
    assert other.about(name).state == store.about(name).state == "waiting"
    store.set_state(name, "paused")
    other.set_state(name, "failed", "A reason.")
    store.set_state(name, "indexing")
    assert Store(store.root).about(name).state == "indexing"


def test_rows_that_another_server_added_are_not_added_again(store: Store) -> None:
    name = indexed(store, made_up_corpus(5))
    rows = rows_in(store, name).combine_chunks().to_batches()
    with pytest.raises(BusyError, match="took the indexing of this corpus over"):
        store.append(name, indexing(), rows)
    assert rows_in(store, name).num_rows == rows[0].num_rows


# What is never mixed


@pytest.mark.parametrize(
    "changes",
    [{"checksum": "b" * 64}, {"layers": (0, 1)}, {"precision": "fast"}, {"model": "other"}],
)
def test_vectors_of_something_else_are_refused(store: Store, changes: dict[str, Any]) -> None:
    name = indexed(store, made_up_corpus(5))
    before = rows_in(store, name)
    with pytest.raises(CorpusError, match="never mixed"):
        store.append(name, indexing(**changes), [])
    assert rows_in(store, name) == before


def test_a_corpus_that_a_newer_version_stored_is_told_and_the_others_work(store: Store) -> None:
    indexed(store, made_up_corpus(5), name=NAME)
    indexed(store, made_up_corpus(5), name=OTHER)
    overwrite(store._tables, replace(store.about(NAME), version=VERSION + 1))
    with pytest.raises(CorpusError, match=r"newer Contextlens.*Update this app"):
        store.about(NAME)
    with pytest.raises(CorpusError, match="newer Contextlens"):
        store.open(NAME)
    assert store.names() == (NAME, OTHER)
    assert len(store.open(OTHER).occurrences("python"))


# Damage


def use(store: Store, name: str) -> None:
    """All that a page may ask of a corpus."""
    corpus = store.open(name)
    found = corpus.occurrences("python")
    corpus.occurrences("python", most=2)
    corpus.text(np.arange(corpus.n_texts))
    corpus.column("sense", found.texts)
    corpus.words()
    for layer in corpus.layers:
        corpus.nearest(corpus.vectors(found, layer)[0], layer, 3)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["empty", "half", "noise", "gone"])
def test_a_damaged_file_marks_its_corpus_and_the_others_work(tmp_path: Path, damage: str) -> None:
    """Whichever file it is, what comes is a sentence of ours, and no other corpus notices."""
    first = Store(str(tmp_path / "first"))
    for name in (NAME, OTHER):
        indexed(first, made_up_corpus(30), name=name)
    for number in range(len(files_of(first, NAME))):
        root = shutil.copytree(first.root, tmp_path / str(number))
        path = files_of(Store(str(root)), NAME)[number]
        content = path.read_bytes()
        if damage == "gone":
            path.unlink()
        else:
            noise = np.random.default_rng(number).bytes(len(content))
            path.write_bytes(
                {"empty": b"", "half": content[: len(content) // 2], "noise": noise}[damage]
            )
        again = Store(str(root))
        with suppress(CorpusError):  # an old version's file, for instance, is not needed
            use(again, NAME)
        assert NAME in again.names()
        use(again, OTHER)
        again.delete(NAME)
        assert again.names() == (OTHER,)


def test_a_file_that_is_missing_or_cut_is_seen_without_reading_it(store: Store) -> None:
    name = indexed(store, made_up_corpus(30))
    data = max(files_of(store, name), key=lambda path: path.stat().st_size)
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    with pytest.raises(CorpusError, match=r"damaged or missing\. Delete it here, and index"):
        Store(store.root).about(name)


def test_what_is_no_table_is_no_corpus(store: Store) -> None:
    indexed(store, made_up_corpus(2), name=NAME)
    (Path(store.root) / "notes.txt").write_text("hello")
    (Path(store.root) / "other.lance").mkdir()
    assert store.names() == (NAME,)
