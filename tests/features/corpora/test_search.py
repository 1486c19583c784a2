"""The search for a word in every corpus: counts as an oracle has them, sentences, odd input."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlens.corpus.bundled import ambiguous_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.store import Store
from contextlens.features.corpora import search
from contextlens.features.corpora.controls import MAX_LISTED_SENTENCES, MAX_SEARCH_CHARACTERS
from contextlens.features.corpora.figures import corpus_bars
from contextlens.features.corpora.reading import search_claim, search_title
from contextlens.features.corpora.search import SearchResult, searched
from contextlens.ui.corpora.catalogue import Kept
from contextlens.ui.corpora.controls import WHOLE_READY_TEXTS
from contextlens.ui.corpora.words import all_counts
from tests.support.corpus_store import indexed

TEXTS = ("Python and python.", "my PYTHON", "no snake here", *("a python again",) * 60)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    store = Store(str(tmp_path))
    monkeypatch.setattr(search, "store", lambda: store)
    name = indexed(store, Corpus("<b>mine</b>", TEXTS))
    return Kept(name, store.about(name))


@pytest.mark.parametrize("word", ["python", "the", "film", "Bank", "don't", "and", "zzyth"])
def test_a_ready_made_corpus_is_counted_as_its_words_are(word: str) -> None:
    counts = {
        corpus.name: {count.word: count.n for count in all_counts(corpus)}.get(word.casefold(), 0)
        for corpus in (ambiguous_corpus(), sentiment_corpus())
    }
    result = searched(word, ())
    assert {WHOLE_READY_TEXTS[hit.key]().name: hit.n for hit in result.hits} == counts
    for hit in result.hits:
        assert len(hit.sentences) <= min(MAX_LISTED_SENTENCES, hit.n)
        assert bool(hit.sentences) == bool(hit.n)
        texts = WHOLE_READY_TEXTS[hit.key]().texts
        for left, written, right in hit.sentences:
            assert written.casefold() == word.casefold()
            context = (left + written + right).removeprefix("… ").removesuffix(" …")
            assert any(context in " ".join(text.split()) for text in texts)


def test_a_stored_corpus_is_counted_in_full_and_each_text_is_shown_once(stored: Kept) -> None:
    result = searched("  PYTHON ", [stored])
    hit = result.hits[0]  # of most occurrences
    assert (hit.key, hit.n, hit.n_words) == (stored.name, 63, 3 + 2 + 3 + 3 * 60)
    assert hit.sentences[:3] == (
        ("", "Python", " and python."),
        ("my ", "PYTHON", ""),
        ("a ", "python", " again"),
    )
    assert len(hit.sentences) == MAX_LISTED_SENTENCES
    assert search_title(result) == "“PYTHON” occurs 95 times, in 2 of 3 corpora"
    assert str(search_claim(result)) == (
        r"It is most frequent in **\<b\>mine\</b\>**: **63** of 188 words."
    )
    figure = corpus_bars(result.hits, title="T")
    assert list(figure.data[0].x) == [63, 32, 0]
    assert figure.layout.yaxis.ticktext[0] == "<b>&lt;b&gt;mine&lt;/b&gt;</b>"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("zzyth", "“zzyth” occurs in none of the 3 corpora here. Check the spelling"),
        (".*", r"“\.\*” occurs in none"),
        ("[a-z]+(", "occurs in none"),
        ("' OR 1=1 --", "occurs in none of the 3 corpora here as one word"),
        ("red fox", "Type a single word, without spaces."),
        ("\U0001f600", "“\U0001f600” occurs in none"),
        ("\0", "occurs in none"),
        ("x" * 10_000, f"You typed 10,000 characters; a word has at most {MAX_SEARCH_CHARACTERS}."),
    ],
)
def test_odd_input_is_met_with_one_sentence(stored: Kept, typed: str, said: str) -> None:
    result = searched(typed, [stored])
    assert not result.found
    assert said in str(search_claim(result))
    assert len(str(search_claim(result))) < 300


def test_nothing_typed_searches_nothing(stored: Kept) -> None:
    assert searched(" \n\t ", [stored]) == SearchResult("")


def test_a_corpus_that_cannot_be_read_is_named_and_the_others_are_searched(stored: Kept) -> None:
    gone = Kept("nosuchcorpusname", None, "It is damaged.")
    result = searched("python", [gone, stored])
    assert result.unread == (gone.title,)
    assert [hit.n for hit in result.hits] == [63, 32, 0]
