"""The data behind the Corpora page: word counts, the columns of a file, estimates, passports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.schema import Passport
from contextlens.core.words import Span
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table, to_corpus
from contextlens.corpus.searchable import WordCount
from contextlens.corpus.store.about import Indexing, indexing_of
from contextlens.corpus.store.rows import words_of
from contextlens.corpus.store.run import word_seconds
from contextlens.corpus.store.space import estimated_bytes
from contextlens.corpus.table import named
from contextlens.corpus.targets import (
    MarkColumns,
    Targets,
    guess_marks,
    label_columns,
    targets_of,
)
from contextlens.features.corpora.controls import (
    MAX_DRAWN_WORDS,
    MAX_SAVED_WORDS,
    MAX_SENSES,
    MAX_STORED_TEXTS,
    PAGE,
)
from contextlens.ui.corpora.catalogue import Kept, kept_of
from contextlens.ui.corpora.controls import COLLECTION, FILE_NAME, NOT_STORED, WORD
from contextlens.ui.corpora.texts import collection_of, texts_of
from contextlens.ui.corpora.words import (
    WordCounts,
    all_counts,
    counted_in,
    counted_of,
    sense_column,
)
from contextlens.ui.models.background import store
from contextlens.ui.state.view import ViewState

# --- The columns of a file that become a corpus


@dataclass(frozen=True)
class FileChoice:
    """The chosen columns of a file.

    Attributes:
        text: the title of the column with the sentences.
        labels: the titles of the label columns.
        split: the title of the column with train and test, or "".
        marks: the columns that mark a word in each text.
    """

    text: str
    labels: tuple[str, ...] = ()
    split: str = ""
    marks: MarkColumns = field(default_factory=MarkColumns)


def guess(sheet: Table, text: str = "") -> FileChoice:
    """Guess the columns of a file, or those beside a given column of texts."""
    text, titles = text or sheet.text_column, list(sheet.columns)
    (marks,) = guess_marks(sheet, text)
    labels = {*label_columns(sheet), sheet.split_column} - {""}
    sense = sense_column([title for title in titles if title not in {text, *marks.numbers}])
    if sense and len(set(sheet.columns[sense])) <= MAX_SENSES:
        labels.add(sense)
    ordered = tuple(title for title in titles if title in labels - {text})
    return FileChoice(text, ordered, sheet.split_column, marks)


def corpus_from(sheet: Table, chosen: FileChoice) -> Corpus:
    """The texts of a file with their labels and marked words.

    Rows whose word cannot be located are left out, with a note, because their labels would belong
    to no word.

    Raises:
        CorpusError: there is no text or no marked word, or a column cannot be used.
    """
    labels = tuple(title for title in chosen.labels if title != chosen.text)
    if chosen.split and chosen.split not in labels:
        labels = (*labels, chosen.split)
    if not chosen.marks:
        return to_corpus(sheet, chosen.text, labels, max_texts=MAX_STORED_TEXTS)
    if chosen.text not in sheet.columns:
        return to_corpus(sheet, chosen.text)  # raises with the reason
    targets = targets_of(sheet.columns, sheet.columns[chosen.text], chosen.marks)
    rows = [i for i, span in enumerate(targets.spans) if span is not None]
    if not rows:
        raise CorpusError(_none_placed(sheet, targets))
    corpus = to_corpus(_rows_of(sheet, rows), chosen.text, labels, max_texts=MAX_STORED_TEXTS)
    spans = [span for span in targets.spans if span is not None][: len(corpus.texts)]
    placed = _within(corpus, spans)
    return replace(placed, notes=(*placed.notes, *_missed_notes(targets), *targets.notes))


def _rows_of(sheet: Table, rows: Sequence[int]) -> Table:
    if len(rows) == sheet.n_rows:
        return sheet
    columns = {title: tuple(cells[i] for i in rows) for title, cells in sheet.columns.items()}
    return replace(sheet, columns=MappingProxyType(columns), vectors=())


def _within(corpus: Corpus, spans: Sequence[Span]) -> Corpus:
    """A corpus with its marked words; texts whose word lies beyond the cut are left out."""
    fits = [i for i, (text, span) in enumerate(zip(corpus.texts, spans, strict=True))
            if span[1] <= len(text)]  # fmt: skip
    if len(fits) == len(corpus.texts):
        return replace(corpus, spans=tuple(spans))
    if not fits:
        raise CorpusError(
            f"{named(corpus.name)} marks words behind the first 20,000 characters only, which are "
            "not read. Shorten its texts."
        )
    return replace(
        corpus,
        texts=tuple(corpus.texts[i] for i in fits),
        labels=MappingProxyType(
            {title: tuple(labels[i] for i in fits) for title, labels in corpus.labels.items()}
        ),
        spans=tuple(spans[i] for i in fits),
        notes=(*corpus.notes, _left_out(len(corpus.texts) - len(fits), "their word was cut off.")),
    )


def _missed_notes(targets: Targets) -> tuple[str, ...]:
    if not targets.n_missed:
        return ()
    first = targets.examples[0] if targets.examples else ""
    return (_left_out(targets.n_missed, f"their marked word could not be placed. {first}").strip(),)


def _left_out(n: int, why: str) -> str:
    return f"{n:,} {'row was' if n == 1 else 'rows were'} left out: {why}"


def _none_placed(sheet: Table, targets: Targets) -> str:
    first = targets.examples[0] if targets.examples else "No row has a text with a marked word."
    return (
        f"{named(sheet.name)}: no marked word could be placed in its text. {first} Choose other "
        "columns, or mark no word."
    )


def marks_beyond(corpus: Corpus, card: ModelCard, service: EncoderService) -> int:
    """Return the number of marked words that lie behind the last token that the model reads."""
    last = card.max_length - 1  # the place of [SEP]
    far = [
        (text, span[0])
        for text, span in zip(corpus.texts, corpus.spans or (), strict=False)
        if len(text[: span[0]].encode("utf-8", "replace")) >= last - 1  # a token has a byte or more
    ]
    texts = list(dict.fromkeys(text for text, _ in far))
    ends: dict[str, int] = {}
    for start in range(0, len(texts), _N_TOKENIZED):
        some = texts[start : start + _N_TOKENIZED]
        for text, tokens in zip(some, service.tokenize(card.id, some), strict=True):
            ends[text] = int(tokens.offsets[:last, 1].max(initial=0))
    return sum(start >= ends[text] for text, start in far)


# --- The cost of indexing

_MAX_BYTES = 500_000_000
"""The size up to which all layers are indexed by default."""
_N_SAMPLES, _N_TOKENIZED = 500, 64
_LONGER = 1.2  # times encoding alone, because words are also gathered and written


@dataclass(frozen=True)
class IndexingCost:
    """The approximate cost of indexing.

    Attributes:
        n_texts: texts to read.
        n_words: occurrences to store.
        n_bytes: space on disk.
        seconds: time on this machine.
    """

    n_texts: int
    n_words: int
    n_bytes: int
    seconds: float


def usual_layers(corpus: Corpus, card: ModelCard) -> tuple[int, ...]:
    """All layers if they take little space, else the first, the middle and the last."""
    every = tuple(range(card.n_layers + 1))
    if estimated_bytes(corpus, indexing_of(card, every, "exact")) < _MAX_BYTES:
        return every
    return tuple(sorted({0, card.n_layers // 2, card.n_layers}))


def indexing_cost(
    corpus: Corpus,
    indexing: Indexing,
    card: ModelCard,
    service: EncoderService,
    token_seconds: float,
) -> IndexingCost:
    """Estimate the cost of indexing a corpus from a sample of its texts.

    The time is that of the last corpus that was indexed alike here, else that of the model's work.

    Args:
        corpus: the corpus to index.
        indexing: the settings.
        card: the model's card.
        service: tokenizes the sample.
        token_seconds: the model's time for one token, if no corpus was indexed yet.
    """
    n = len(corpus.texts)
    sample = _spread(corpus.texts, _N_SAMPLES)
    n_words = sum(len(words_of(text)) for text in sample) * n / len(sample)
    cut = service.tokenize(card.id, _spread(corpus.texts, _N_TOKENIZED))
    n_tokens = sum(min(tokens.n_tokens, card.max_length) for tokens in cut) * n / len(cut)
    measured = word_seconds(indexing)
    return IndexingCost(
        n_texts=n,
        n_words=round(n_words),
        n_bytes=estimated_bytes(corpus, indexing),
        seconds=_LONGER * n_tokens * token_seconds if measured is None else measured * n_words,
    )


def _spread(texts: Sequence[str], n: int) -> list[str]:
    return list(texts[:: max(1, len(texts) // n)][: 2 * n])


# --- The corpus that a view shows

_MAX_ARRAY_WORD_LENGTH = 100  # characters: an array gives every word the width of its longest
_NO_WORDS = WordCounts(0, 0, 0, ())


@dataclass(frozen=True, eq=False)
class CorpusResult:
    """A corpus as the page shows it.

    Attributes:
        key: its name in the view.
        title: its title on the page.
        corpus: the texts of a ready-made corpus, else None.
        stored: a stored corpus, else None.
        words: the words of its texts, or of those indexed so far.
        problem: the reason why it cannot be shown, in a sentence, or "".
        word: the selected word, or "".
    """

    key: str
    title: str
    corpus: Corpus | None
    stored: Kept | None
    words: WordCounts
    problem: str
    word: str

    @property
    def n_texts(self) -> int:
        """The number of texts whose words are counted."""
        if self.corpus is not None:
            return len(self.corpus.texts)
        about = None if self.stored is None else self.stored.about
        return 0 if about is None else about.n_texts_done

    @property
    def is_whole(self) -> bool:
        """True if all of its words are counted."""
        return self.corpus is not None or (self.stored is not None and self.stored.is_indexed)

    @property
    def first(self) -> tuple[Any, ...]:
        """The rows of the picture: the most frequent words, and the selected one."""
        rows = self.words.rows[:MAX_DRAWN_WORDS]
        chosen = self.words.row(self.word)
        return rows if chosen is None or chosen in rows else (*rows[:-1], chosen)


def result_of(view: ViewState) -> CorpusResult:
    """Return the corpus that a view names."""
    key = collection_of(view, PAGE)
    if key in NOT_STORED:
        try:
            corpus = texts_of(view, key, whole=True)
        except CorpusError as exc:
            return CorpusResult(key, COLLECTION.options[key], None, None, _NO_WORDS, str(exc), "")
        if corpus is None:
            problem = say("own_file.gone", name=escape(FILE_NAME.of(view)))
            return CorpusResult(key, FILE_NAME.of(view), None, None, _NO_WORDS, problem, "")
        words = counted_in(corpus)
        return CorpusResult(key, corpus.name, corpus, None, words, "", _word(view, words))
    stored = kept_of(key)
    if stored.about is None:
        return CorpusResult(key, stored.title, None, stored, _NO_WORDS, stored.problem, "")
    try:
        words = counted_of(store().open(key), lambda: store().texts(key))
    except CorpusError as exc:
        return CorpusResult(key, stored.title, None, stored, _NO_WORDS, str(exc), "")
    return CorpusResult(key, stored.title, None, stored, words, "", _word(view, words))


def word_rows(result: CorpusResult) -> Sequence[Mapping[str, Any]]:
    """Every word with its occurrences and their share, most frequent first, up to a limit."""
    senses = {row.word: row.n_senses for row in result.words.rows}
    total = max(1, result.words.n)
    return [
        {
            "word": count.word,
            "occurrences": count.n,
            "share": count.n / total,
            **({"senses": senses.get(count.word) or ""} if result.words.sense else {}),
        }
        for count in _counts(result)
    ]


def word_arrays(result: CorpusResult) -> Mapping[str, NDArray[Any]]:
    """The words and counts of `word_rows` as arrays; the texts of a corpus in memory, in JSON."""
    counts = _counts(result)
    arrays: dict[str, NDArray[Any]] = {
        "words": np.array([count.word[:_MAX_ARRAY_WORD_LENGTH] for count in counts], dtype=np.str_),
        "counts": np.array([count.n for count in counts], dtype=np.int64),
    }
    if result.corpus is not None:
        arrays["texts"] = np.array(json.dumps(result.corpus.texts))
    return arrays


def _counts(result: CorpusResult) -> Sequence[WordCount]:
    if result.corpus is not None:
        return all_counts(result.corpus)[:MAX_SAVED_WORDS]
    return store().open(result.key).words(n=MAX_SAVED_WORDS)


def _word(view: ViewState, words: WordCounts) -> str:
    chosen = WORD.of(view)
    if words.row(chosen) is not None:
        return chosen
    return words.rows[0].word if words.rows else ""


# --- The passport of a corpus

_NO_MODEL = "none: words are counted without one"


def passport_of(result: CorpusResult) -> Passport:
    """The passport of the corpus on screen."""
    about = None if result.stored is None else result.stored.about
    if about is None:
        digest = "" if result.corpus is None else result.corpus.digest
        settings = {"corpus": result.title, "corpus_sha256": digest, "n_texts": result.n_texts}
        return Passport(_NO_MODEL, "", "", "exact", {"regex": version("regex")}, settings)
    indexing = about.indexing
    return Passport(
        indexing.model,
        indexing.revision,
        indexing.checksum,
        indexing.precision,
        {name: version(name) for name in ("regex", "lancedb", "pyarrow")},
        {
            "corpus": about.title,
            "corpus_sha256": about.digest,
            "n_texts": about.n_texts_done,
            "n_occurrences": about.n_occurrences,
            "n_cut": about.n_cut,
            "layers": list(indexing.layers),
            "pooling": indexing.pooling,
            "created": about.created,
        },
    )


def caption_of(result: CorpusResult) -> str:
    """The caption of a saved picture."""
    words: WordCounts = result.words
    passport = passport_of(result)
    parts = [
        result.title,
        f"{result.n_texts:,} texts",
        f"{words.n:,} words",
        *(f"{name} {number}" for name, number in passport.versions.items()),
    ]
    return " · ".join(parts)
