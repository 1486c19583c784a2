"""Word2vec as a yardstick: every word has one vector, whatever its context; a text is their mean.

Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013). Gensim, an
extra, learns vectors from texts; files need no extra. Words are runs of letters and digits.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from contextlens.content.language import say
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.features.probe.controls import MAX_WORD_VECTORS

_N_EPOCHS = 10
_TRAINING = {"vector_size": 100, "window": 5, "min_count": 2, "sg": 1, "epochs": _N_EPOCHS}
_ONE_ORDER = {"seed": 1, "workers": 1}  # the same texts always give the same vectors


def vectors_from_texts(
    texts: Sequence[str], on_progress: Callable[[float], None]
) -> FloatArray | None:
    """Return texts as the means of word vectors that are learned from these texts alone.

    The skip-gram model of 100 dimensions sees words within five places, in ten passes. A word that
    occurs once has no vector; a text without any is zero.

    Args:
        texts: the texts.
        on_progress: told the share done; an exception from it ends the training.

    Returns:
        (n_texts, 100) float32; None if no word occurs twice, or without gensim.
    """
    if find_spec("gensim") is None:
        return None
    from gensim.models.callbacks import CallbackAny2Vec
    from gensim.models.word2vec import Word2Vec

    class Passes(CallbackAny2Vec):  # type: ignore[misc]  # gensim has no types
        n = 0

        def on_epoch_begin(self, _: Any) -> None:
            on_progress(self.n / _N_EPOCHS)
            self.n += 1

    words = [[word.casefold() for word in _words(text)] for text in texts]
    model = Word2Vec(**_TRAINING, **_ONE_ORDER)
    model.build_vocab(words)
    if not len(model.wv):
        return None
    model.train(words, total_examples=len(words), epochs=_N_EPOCHS, callbacks=[Passes()])
    return _means(model.wv.key_to_index, model.wv.vectors, words)


def vectors_from_file(texts: Sequence[str], path: Path) -> FloatArray:
    """Return texts as the means of their words' vectors in a file.

    The file is in the form of word2vec or GloVe: text, word2vec's binary form (.bin), or one of
    them in .gz. Its first `MAX_WORD_VECTORS` words are read. A word is looked up as it is written,
    else in small letters; a text without a known word is zero.

    Returns:
        (n_texts, n_dims) float32.

    Raises:
        RequestError: the file cannot be read, or is not in this form.
    """
    words = [_words(text) for text in texts]
    wanted = {form for text in words for word in text for form in (word, word.casefold())}
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            is_binary = ".bin" in path.suffixes[-2:]
            n_dims, rows = _binary_rows(file) if is_binary else _text_rows(file)
            known = {word: row for word, row in islice(rows, MAX_WORD_VECTORS) if word in wanted}
            vectors = np.array([*known.values()], np.float32).reshape(-1, n_dims)
            return _means({word: row for row, word in enumerate(known)}, vectors, words)
    except (OSError, EOFError, ValueError) as exc:
        raise RequestError(say("probe.word2vec_file", name=path.name)) from exc


_File = gzip.GzipFile | BufferedReader
_Rows = Iterator[tuple[str, Any]]
_MAX_DIMS = 4_096
_MAX_BYTES = 64 * _MAX_DIMS  # of a line, or of a word in the binary form


def _text_rows(file: _File) -> tuple[int, _Rows]:
    """The number of dimensions, and each word with its numbers as text."""
    parts = (line := file.readline(_MAX_BYTES)).split()
    n_dims = len(parts) - 1
    if len(parts) == 2:  # the numbers of words and dimensions, which GloVe leaves out
        n_dims, line = int(parts[1]), file.readline(_MAX_BYTES)
    if not line or not 1 <= n_dims <= _MAX_DIMS:
        raise ValueError(f"{n_dims} dimensions")

    def rows(line: bytes) -> _Rows:
        while line:
            word, *numbers = line.rstrip().rsplit(b" ", n_dims)  # a word of GloVe can have spaces
            if len(numbers) != n_dims:
                raise ValueError(f"{len(numbers)} numbers")
            yield word.decode(errors="replace"), numbers
            line = file.readline(_MAX_BYTES)

    return n_dims, rows(line)


def _binary_rows(file: _File) -> tuple[int, _Rows]:
    """The number of dimensions, and each word with its float32 values."""
    n_words, n_dims = (int(number) for number in file.readline(_MAX_BYTES).split())
    if not 1 <= n_dims <= _MAX_DIMS:
        raise ValueError(f"{n_dims} dimensions")

    def rows() -> _Rows:
        for _ in range(n_words):
            letters = bytearray()
            while (letter := file.read(1)) != b" ":
                letters += letter
                if not letter or len(letters) > _MAX_BYTES:
                    raise ValueError("no end of a word")
            values = np.frombuffer(file.read(4 * n_dims), "<f4", count=n_dims)
            yield letters.decode(errors="replace").lstrip("\n"), values

    return n_dims, rows()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _means(
    numbers: Mapping[str, int], vectors: FloatArray, texts: Sequence[Sequence[str]]
) -> FloatArray:
    means = np.zeros((len(texts), vectors.shape[1]), np.float32)
    for row, words in enumerate(texts):
        looked_up = [numbers.get(word, numbers.get(word.casefold(), -1)) for word in words]
        known = [number for number in looked_up if number >= 0]
        if known:
            means[row] = vectors[known].mean(axis=0)
    return means
