"""Word2vec as a yardstick: against gensim, from files of each form, and without gensim."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from contextlens.core.errors import RequestError
from contextlens.features.probe import word2vec

TEXTS = ["The soup was good", "the room was bad", "Soup, soup!", "unheard", ""] * 3
WORDS = {"the": [1.0, 0.0], "soup": [0.0, 2.0], "The": [5.0, 5.0], "was": [0.5, 0.5]}


def test_a_text_is_the_mean_of_gensim_s_vectors_and_the_same_each_time() -> None:
    shares: list[float] = []
    vectors = word2vec.vectors_from_texts(TEXTS, shares.append)
    again = word2vec.vectors_from_texts(TEXTS, lambda _: None)
    assert vectors is not None
    assert vectors.shape == (15, 100)
    np.testing.assert_array_equal(vectors, again)
    words = [["the", "soup", "was", "good"], ["the", "room", "was", "bad"], ["soup"] * 2] * 3
    words = [w for i in range(0, 9, 3) for w in (*words[i : i + 3], ["unheard"], [])]
    model = Word2Vec(words, vector_size=100, window=5, min_count=2, sg=1, epochs=10, seed=1,
                     workers=1)  # fmt: skip
    np.testing.assert_allclose(vectors[0], model.wv[words[0]].mean(axis=0), rtol=1e-5)
    assert not vectors[4].any()
    assert shares == [i / 10 for i in range(10)]


def test_without_gensim_only_files_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word2vec, "find_spec", lambda _: None)
    assert word2vec.vectors_from_texts(TEXTS, lambda _: None) is None


def test_words_that_occur_once_teach_nothing() -> None:
    assert word2vec.vectors_from_texts(["a b", "c d"], lambda _: None) is None


def _write(path: Path) -> None:
    known = KeyedVectors(2)
    known.add_vectors(list(WORDS), np.array(list(WORDS.values()), np.float32))
    known.save_word2vec_format(path, binary=".bin" in path.suffixes)


@pytest.mark.parametrize("name", ["w.txt", "w.vec.gz", "w.bin", "w.bin.gz", "glove.txt"])
def test_every_form_of_file_gives_the_same_means(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "glove.txt":  # without the line of numbers
        rows = [*WORDS.items(), ("a soup", (9, 9))]  # GloVe's largest file has words with spaces
        path.write_text("".join(f"{word} {a} {b}\n" for word, (a, b) in rows))
    else:
        _write(path)
    vectors = word2vec.vectors_from_file(["the soup", "The soup", "SOUP?", "none here"], path)
    np.testing.assert_allclose(vectors, [[0.5, 1], [2.5, 3.5], [0, 2], [0, 0]])


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"3 2\nthe 1.0\n"), ("a.txt", b"the one two\n"),
     ("a.gz", b"plain"), ("a.bin", b"x"),
     ("a.txt", b""), ("a.bin", b"1 9999999\n"),
     ("a.bin", b"2 3\nthe "), ("a.txt.gz", gzip.compress(b"2 3\n", mtime=0))],
)  # fmt: skip
def test_another_file_is_named_with_what_would_fit(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RequestError, match=f"{name}.*word2vec or GloVe"):
        word2vec.vectors_from_file(["the soup"], path)
