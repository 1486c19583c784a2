"""The corpora that ship with the app, and those of the operator's folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from contextlens.analysis.words import word_vectors
from contextlens.content.bundled_texts import (
    MEASURED_WORDS,
    ambiguous_words,
    sentiment_sentences,
)
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import CorpusError
from contextlens.core.words import find_word
from contextlens.corpus.bundled import (
    MAX_FILES,
    ambiguous_corpus,
    offered,
    read_offered,
    sample_corpus,
    sentiment_corpus,
    stored_name,
)
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.tables import is_name

pytestmark = pytest.mark.slow


CORPUS = ambiguous_corpus()
N_LAYERS = 6


def test_every_sentence_of_the_file_has_its_labels_and_its_word() -> None:
    assert (CORPUS.name, CORPUS.notes) == ("Ambiguous words", ())
    assert list(CORPUS.labels) == ["word", "sense"]
    assert CORPUS.spans is not None
    columns = (CORPUS.texts, CORPUS.spans, *CORPUS.labels.values(), ambiguous_words())
    for text, span, word, sense, entry in zip(*columns, strict=True):
        assert (text, word, sense) == (entry.text, entry.word, f"{entry.word}: {entry.sense}")
        assert span == find_word(text, word)
        assert text[slice(*span)].casefold() == word
    pairs = set(zip(*CORPUS.labels.values(), strict=True))
    assert len({sense for _, sense in pairs}) == len(pairs)  # a sense alone names one word


def test_it_is_made_once_and_its_labels_cannot_be_changed() -> None:
    assert ambiguous_corpus() is CORPUS
    with pytest.raises(TypeError):
        CORPUS.labels["word"] = ()  # type: ignore[index]
    parts = {"labels": dict(CORPUS.labels), "spans": CORPUS.spans}
    assert Corpus("again", CORPUS.texts, **parts).digest == CORPUS.digest


def test_the_sample_has_every_sentence_of_some_words() -> None:
    sample = sample_corpus()
    rows = [i for i, word in enumerate(CORPUS.labels["word"]) if word in MEASURED_WORDS]
    assert sample.texts == tuple(CORPUS.texts[i] for i in rows)
    assert tuple(dict.fromkeys(sample.labels["word"])) == tuple(MEASURED_WORDS)


def test_the_sentiment_corpus_has_every_sentence_of_its_file_with_its_labels() -> None:
    corpus, entries = sentiment_corpus(), sentiment_sentences()
    assert corpus.name == "Sentiment"
    assert corpus.texts == tuple(entry.text for entry in entries)
    assert list(corpus.labels) == ["sentiment", "kind", "split"]
    for title, own in corpus.labels.items():
        assert own == tuple(getattr(entry, title) for entry in entries), title
    assert corpus.spans is None
    assert not corpus.notes


# What the bundled model makes of it


@pytest.fixture(scope="module")
def vectors(service: EncoderService) -> np.ndarray:
    """(n_layers + 1, n_sentences, n_dims): the chosen words at each layer."""
    encodings = service.encode(BUNDLED_ID, CORPUS.texts)
    found = zip(encodings, CORPUS.spans or (), strict=True)
    return np.stack([word_vectors(encoding, span) for encoding, span in found], axis=1)


def of_word(word: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a word's sentences, and their senses."""
    rows = np.flatnonzero(np.array(CORPUS.labels["word"]) == word)
    return rows, np.array(CORPUS.labels["sense"])[rows]


def silhouettes(vectors: np.ndarray, word: str) -> np.ndarray:
    """(n_layers + 1,) mean silhouette of a word's senses by cosine."""
    rows, senses = of_word(word)
    return np.array([silhouette_score(v, senses, metric="cosine") for v in vectors[:, rows]])


def test_the_encoder_parts_the_two_pythons(vectors: np.ndarray) -> None:
    """Not at layer 0, in part at layer 1, most at layer 5; the last layer takes some back."""
    parted = silhouettes(vectors, "python")
    assert len(parted) == N_LAYERS + 1
    assert parted[0] < 0.05
    assert parted[0] + 0.1 < parted[1] < parted[N_LAYERS] - 0.04
    assert parted.argmax() == 5
    assert parted[5] > parted[N_LAYERS] + 0.04


def test_the_model_hardly_parts_the_two_bats(vectors: np.ndarray) -> None:
    """Bat keeps the lowest silhouette of these words, near zero at every layer; python the best."""
    highest = {word: silhouettes(vectors, word).max() for word in MEASURED_WORDS}
    assert min(highest, key=highest.__getitem__) == "bat"
    assert highest["bat"] < 0.05
    assert max(highest, key=highest.__getitem__) == "python"


def write(folder: Path, name: str, text: str = "one\ntwo\n") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_readable_files_are_offered_by_name_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b.csv", "A.TXT", "c.parquet", "notes.docx", "d.jsonl", ".hidden"):
        write(tmp_path, name)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "b.csv")
    assert [file.title for file in offered(tmp_path)] == ["A.TXT", "b.csv", "c.parquet", "d.jsonl"]


@pytest.mark.parametrize("folder", [None, Path("/no/such/folder")])
def test_without_a_folder_nothing_is_offered(folder: Path | None) -> None:
    assert offered(folder) == ()


def test_a_folder_of_many_files_is_bounded(tmp_path: Path) -> None:
    for i in range(MAX_FILES + 5):
        write(tmp_path, f"{i:04}.txt")
    assert len(offered(tmp_path)) == MAX_FILES


def test_a_name_follows_from_file_model_and_content(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv")
    write(tmp_path, "b.csv")
    first, other = offered(tmp_path)
    name = stored_name(first, "model")
    assert is_name(name)
    assert name == stored_name(offered(tmp_path)[0], "model")
    assert len({name, stored_name(other, "model"), stored_name(first, "another")}) == 3
    os.utime(path, (1, 1))
    assert stored_name(offered(tmp_path)[0], "model") != name


def test_what_is_too_large_damaged_or_gone_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "text,label\nI saw a python,x\n")
    write(tmp_path, "b.parquet", "no parquet")
    file, damaged = offered(tmp_path)
    assert list(read_offered(file, max_bytes=1_000).columns) == ["text", "label"]
    with pytest.raises(CorpusError, match=r"at most 0 MB are read here\. Whoever runs"):
        read_offered(file, max_bytes=10)
    with pytest.raises(CorpusError):
        read_offered(damaged, max_bytes=1_000_000)
    path.unlink()
    with pytest.raises(CorpusError, match="cannot be read on this server any more"):
        read_offered(file, max_bytes=10_000)
