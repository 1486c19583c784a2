"""The page's snippets leave the page's numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.store.store import Store
from contextlens.features.corpora.compute import CorpusResult, word_arrays
from contextlens.features.corpora.snippet import export_snippet, texts_snippet
from contextlens.ui.corpora.words import all_counts, counted_in
from tests.support.corpus_store import indexed, made_up_corpus


def run(code: str) -> dict[str, object]:
    own: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), own)
    return own


@pytest.mark.parametrize("word", ["python", "café", "don't", "2024"])
def test_the_export_gives_the_words_and_a_word_s_vectors(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(str(tmp_path / "store"))
    name = indexed(store, made_up_corpus(30))
    store.export(name, tmp_path / "mine.parquet")
    monkeypatch.chdir(tmp_path)
    own = run(export_snippet("mine.parquet", word=word, layer=2, n=3))
    stored = store.open(name)
    counts = [(each.word, each.n) for each in stored.words(n=1_000)]
    assert list(own["counts"].items()) == counts  # type: ignore[attr-defined]
    expected = stored.vectors(stored.occurrences(word), 2)
    np.testing.assert_array_equal(own["vectors"].astype(np.float32), expected)  # type: ignore[attr-defined]
    assert capsys.readouterr().out.splitlines()[:3] == [f"{w} {n}" for w, n in counts[:3]]


def test_the_texts_give_the_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One long text does not make the array of the texts as wide for all of them."""
    corpus = ambiguous_corpus()
    texts = (*corpus.texts, "Ünï “quotes” 水 3rd don’t café cafe\u0301", "long " * 4_000)
    corpus = replace(corpus, texts=texts, spans=None)
    monkeypatch.chdir(tmp_path)
    counted = counted_in(corpus)
    arrays = word_arrays(CorpusResult("file", corpus.name, corpus, None, counted, "", ""))
    assert arrays["texts"].nbytes < 10 * sum(map(len, corpus.texts))
    np.savez("word-counts.npz", **arrays)
    own = run(texts_snippet("word-counts.npz", n=5))
    counts = [(each.word, each.n) for each in all_counts(corpus)]
    assert list(own["counts"].items()) == counts  # type: ignore[attr-defined]
    assert capsys.readouterr().out.splitlines() == [f"{w} {n}" for w, n in counts[:5]]
