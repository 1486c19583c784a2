from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.store.store import Store
from tests.support.corpus_store import indexed, made_up_corpus, rows_in


@pytest.mark.slow
def test_a_corpus_is_exported_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.corpus.store.stored_corpus._EXPORTED_ROWS", 100)
    store = Store(str(tmp_path / "corpora"))
    corpus = made_up_corpus(40)
    name = indexed(store, corpus)
    store.export(name, tmp_path / "out.parquet")
    found, rows = pq.read_table(tmp_path / "out.parquet"), rows_in(store, name)
    assert found.num_rows == rows.num_rows == store.about(name).n_occurrences
    for title in ("text", "start", "end", "word", "surface", "left", "right", "is_target"):
        assert found[title].to_pylist() == rows[title].to_pylist()
    texts = found["text"].to_pylist()
    assert found["sentence"].to_pylist() == [corpus.texts[i] for i in texts]
    assert found["label: sense"].to_pylist() == [corpus.labels["sense"][i] for i in texts]
    for column in ("layer_0", "layer_2"):
        own = [np.array(found[column].to_pylist()), np.array(rows[column].to_pylist())]
        assert np.array_equal(*own)
    said = json.loads(found.schema.metadata[b"contextlens"])
    assert said["indexing"]["model"] == "made-up"
    assert said["indexing"]["layers"] == [0, 2]


def test_labels_called_as_our_own_columns_are_no_clash(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "corpora"))
    labels = {"word": ("x",), "sentence": ("y",), "layer_0": ("z",), "": ("w",)}
    name = indexed(store, Corpus("c", ("a python",), labels))
    store.export(name, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found["label: word"].to_pylist() == ["x", "x"]
    assert found["label: layer_0"].to_pylist() == ["z", "z"]


def test_a_corpus_without_a_word_is_exported_as_no_rows(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "corpora"))
    store.export(indexed(store, Corpus("c", ("...",))), tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_a_corpus_that_is_not_there_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such corpus"):
        Store(str(tmp_path)).export("a" * 16, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
