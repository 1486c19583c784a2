"""The corpus that a view of Senses names, and its default word."""

from __future__ import annotations

from collections.abc import Iterable

from contextlens.analysis.separation import SPLIT
from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import CorpusError
from contextlens.core.words import Span
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.senses.controls import MAX_SUGGESTED_WORDS, PAGE
from contextlens.features.senses.occurrences import column_of
from contextlens.ui.corpora.controls import FILE_NAME, NOT_STORED, SENTENCES
from contextlens.ui.corpora.texts import collection_of, texts_of
from contextlens.ui.corpora.words import WordRow, is_content, marked_words, senses_in
from contextlens.ui.models.background import store
from contextlens.ui.state.view import ViewState

_FIRST = {"ambiguous": "python"}
_N_LOOKED = 100_000  # most frequent words, among which those with marked senses are looked for


def is_stored(view: ViewState) -> bool:
    """True if a view names a stored corpus, whose vectors exist already."""
    return collection_of(view, PAGE) not in NOT_STORED


def corpus_of(view: ViewState, service: EncoderService) -> SearchableCorpus:
    """The corpus that a view names; a live one has the vectors of the view's model.

    Raises:
        ContextlensError: the corpus is missing or unusable, or the model is unusable.
    """
    name = collection_of(view, PAGE)
    if name not in NOT_STORED:
        return store().open(name).read_exactly(service)
    corpus = texts_of(view, name, whole=True)
    if corpus is None:
        raise CorpusError(say("own_file.gone", name=escape(FILE_NAME.of(view))))
    split = next((title for title in corpus.labels if title == SPLIT), "")
    return LiveCorpus(corpus, service, view.model, split=split)


def has_changed(corpus: SearchableCorpus, card: ModelCard) -> bool:
    """True if a corpus was indexed with other weights than those of a model's card."""
    return isinstance(corpus, StoredCorpus) and corpus.about.indexing.checksum != card.checksum


def first_word(view: ViewState, corpus: SearchableCorpus) -> str:
    """The default word: the one chosen in the visitor's sentences, else the first suggestion.

    "" for a corpus without words.
    """
    name = collection_of(view, PAGE)
    sentence = view.sentences[0] if view.sentences else None
    if name == SENTENCES and sentence is not None and sentence.word is not None:
        return sentence.text[slice(*sentence.word)].casefold()
    if name in _FIRST:
        return _FIRST[name]
    return next((row.word for row in suggested(view, corpus)), "")


def suggested(view: ViewState, corpus: SearchableCorpus) -> tuple[WordRow, ...]:
    """Words to choose from, by how much there is to see.

    Words with the most marked senses come first, then content words, then function words, the most
    frequent first.
    """
    column = column_of(view, corpus)
    key = corpus.name, corpus.n_occurrences, column
    return remembered("senses: suggested words", *key, compute=lambda: _suggested(corpus, column))


def _suggested(corpus: SearchableCorpus, column: str) -> tuple[WordRow, ...]:
    n_senses = senses_in(corpus, column, lambda: _marked_texts(corpus))
    words = [
        WordRow(count.word, count.n, n_senses.get(count.word, 0))
        for count in corpus.words(n=_N_LOOKED)
    ]
    words.sort(key=lambda row: (-row.n_senses, not is_content(row.word)))
    return tuple(words[:MAX_SUGGESTED_WORDS])


def _marked_texts(corpus: SearchableCorpus) -> Iterable[tuple[str, Span | None]]:
    """Each text of a corpus with the span of its marked word, or None."""
    if isinstance(corpus, LiveCorpus):
        return marked_words(corpus.corpus)
    return store().texts(corpus.name)
