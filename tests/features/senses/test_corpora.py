"""The corpus that a view names, and the words suggested from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlens.core import EncoderService
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.store import Store
from contextlens.features.senses import corpora
from contextlens.features.senses.corpora import corpus_of, suggested
from tests.support.corpus_store import indexed
from tests.support.senses import MODEL, live, senses_view


def test_a_missing_corpus_is_reported(
    tiny_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpora, "store", lambda: Store(str(tmp_path)))
    with pytest.raises(CorpusError, match="There is no such corpus here"):
        corpus_of(senses_view(corpus="Zm9vYmFyYmF6cXV4"), tiny_service)
    with pytest.raises(CorpusError, match="Your sentences are empty"):
        corpus_of(senses_view(" ", "", word="a"), tiny_service)


def test_content_words_are_suggested_first(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, [f"{i} the python {i} and the cat" for i in range(10)])
    counts = {row.word: row.n for row in suggested(senses_view(), corpus)}
    words = list(counts)
    assert set(words[:2]) == {"python", "cat"}
    assert {"the", "and"} < set(words[2:])
    assert counts["the"] == 20


@pytest.mark.parametrize("is_stored", [False, True])
def test_words_with_most_senses_are_suggested_first(
    tiny_service: EncoderService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stored: bool
) -> None:
    marked = {"cat": ("a", "b", "a"), "python": ("a", "b", "c"), "lamp": ("a", "a", "")}
    rows = [(f"the {word} and the noise of noise", word, label)
            for word, labels in marked.items() for label in labels]  # fmt: skip
    spans = tuple((4, 4 + len(word)) for _, word, _ in rows)
    labels = {"sense": tuple(label for *_, label in rows), "one": ("x",) * 9}
    corpus = Corpus("Marked", tuple(text for text, *_ in rows), labels, spans=spans)
    searchable: SearchableCorpus = LiveCorpus(corpus, tiny_service, MODEL)
    if is_stored:
        store = Store(str(tmp_path))
        monkeypatch.setattr(corpora, "store", lambda: store)
        searchable = store.open(indexed(store, corpus))
    rows_by_word = {row.word: row for row in suggested(senses_view(), searchable)}
    assert [(row.word, row.n_senses) for row in rows_by_word.values()][:4] == [
        ("python", 3), ("cat", 2), ("lamp", 1), ("noise", 0),
    ]  # fmt: skip
    assert (rows_by_word["noise"].n, rows_by_word["python"].n) == (18, 3)
    assert list(rows_by_word)[4:] == ["the", "and", "of"]
    unlabelled = [row.word for row in suggested(senses_view(labels="none"), searchable)]
    assert unlabelled[0] == "noise"
