"""The corpus that a view of Senses names, and its default word."""

from __future__ import annotations

from collections.abc import Callable

from components.analysis.separation import SPLIT
from components.content.language import say
from components.core import EncoderService
from components.core.byte_cache import remembered
from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus, sentiment_corpus
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.corpus.searchable import SearchableCorpus, WordCount
from components.features.senses.controls import CORPUS, LIVE, SENTENCES
from components.ui.corpora.texts import own_sentences
from components.ui.models.background import store
from components.ui.state.view import ViewState

__all__ = ["OpenStored", "corpus_of", "first_word", "no_store", "open_stored", "suggested"]


# --- Stored corpora


def open_stored(name: str) -> SearchableCorpus:
    """A stored corpus, as far as it is indexed.

    Raises:
        CorpusError: no corpus has this name, or it is damaged or of a newer version.
    """
    return store().open(name)


# --- The corpus that a view names

OpenStored = Callable[[str], SearchableCorpus]
"""Opens a stored corpus by name; raises `CorpusError` if it cannot."""
_FIRST = {"ambiguous": "python"}
_N_SUGGESTED = 500
_N_LOOKED = 300  # most frequent words, among which the default word is looked for
_N_TRIED = 30  # content words that are checked for marked occurrences
_LEAST_LETTERS = 3


def no_store(name: str) -> SearchableCorpus:
    """The `OpenStored` of a server without a store.

    Raises:
        CorpusError: always.
    """
    raise CorpusError(say("senses.missing.no_corpus", name=name[:40]))


def corpus_of(
    view: ViewState, service: EncoderService, open_stored: OpenStored = no_store
) -> SearchableCorpus:
    """The corpus that a view names; a live one has the vectors of the view's model.

    Raises:
        ContextlensError: the corpus is missing or unusable, or the model is unusable.
    """
    name = CORPUS.asked(view) or CORPUS.default
    if name not in LIVE:
        return open_stored(name)
    corpus = _live(name, view)
    split = next((title for title in corpus.labels if title == SPLIT), "")
    return LiveCorpus(corpus, service, view.model, split=split)


def first_word(view: ViewState, corpus: SearchableCorpus) -> str:
    """The default word: the one chosen in the visitor's sentences, else a frequent content word.

    If the corpus marks words in its texts, a marked word is preferred. "" for a corpus without
    words.
    """
    name = CORPUS.asked(view) or CORPUS.default
    sentence = view.sentences[0] if view.sentences else None
    if name == SENTENCES and sentence is not None and sentence.word is not None:
        return sentence.text[slice(*sentence.word)].casefold()
    if name in _FIRST:
        return _FIRST[name]
    return remembered(
        "senses: first word", corpus.name, corpus.n_occurrences, compute=lambda: _frequent(corpus)
    )


def suggested(corpus: SearchableCorpus) -> tuple[WordCount, ...]:
    """Words to choose from: content words, then function and short words, by frequency."""
    return remembered(
        "senses: suggested words",
        corpus.name,
        corpus.n_occurrences,
        compute=lambda: _suggested(corpus),
    )


def _suggested(corpus: SearchableCorpus) -> tuple[WordCount, ...]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = corpus.words(n=_N_SUGGESTED)
    plain = [
        count.word in ENGLISH_STOP_WORDS or len(count.word) < _LEAST_LETTERS for count in words
    ]
    pairs = list(zip(words, plain, strict=True))
    return tuple(
        count for wanted in (False, True) for count, is_plain in pairs if is_plain is wanted
    )


def _frequent(corpus: SearchableCorpus) -> str:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = [count.word for count in corpus.words(n=_N_LOOKED)]
    telling = [
        word
        for word in words
        if len(word) >= _LEAST_LETTERS and word.isalpha() and word not in ENGLISH_STOP_WORDS
    ]
    if corpus.has_targets:
        marked = (w for w in telling[:_N_TRIED] if corpus.occurrences(w, most=50).is_target.any())
        return next(marked, next(iter([*telling, *words]), ""))
    return next(iter([*telling, *words]), "")


def _live(name: str, view: ViewState) -> Corpus:
    if name == SENTENCES:
        return own_sentences(view.sentences)
    return sentiment_corpus() if name == "sentiment" else ambiguous_corpus()
