"""Which columns of a file become a corpus: guessed, then chosen, then taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from components.core.errors import CorpusError
from components.core.words import Span
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet, to_corpus
from components.corpus.sheet import named
from components.corpus.targets import MarkColumns, Targets, guess_marks, targets_of
from components.features.corpora.compute.words import sense_column

__all__ = ["MOST_TEXTS", "FileChoice", "corpus_from", "guess"]

MOST_TEXTS = 1_000_000
"""Texts of one corpus; what they may take on disk is bounded besides."""
_SPLITS = ("split", "set", "subset", "part", "partition", "fold")
_N_TRIED = 500  # rows by which it is judged whether columns mark words
_MOST_SENSES = 5_000  # different labels


@dataclass(frozen=True)
class FileChoice:
    """The columns that are taken of a file.

    Attributes:
        text: the title of the sentences.
        labels: the titles of what labels them.
        split: the one of train and test, or "".
        marks: those that mark a word of each text.
    """

    text: str
    labels: tuple[str, ...] = ()
    split: str = ""
    marks: MarkColumns = field(default_factory=MarkColumns)


def guess(sheet: Sheet) -> FileChoice:
    """What its titles and first rows say."""
    text, titles = sheet.text_column, list(sheet.columns)
    marks = _marks(sheet, text)
    taken = {text, marks.start, marks.end, marks.span, marks.index}
    own = [title for title in sheet.label_columns if title not in taken]
    sense = sense_column([title for title in titles if title not in taken])
    if sense and sense not in own and len(set(sheet.columns[sense])) <= _MOST_SENSES:
        own.append(sense)
    plain = {title.strip().casefold(): title for title in reversed(titles)}
    split = next((plain[name] for name in _SPLITS if name in plain), "")
    if split and not _is_split(sheet.columns[split]):
        split = ""
    if split and split not in own:
        own.append(split)
    return FileChoice(text, tuple(title for title in titles if title in own), split, marks)


def corpus_from(sheet: Sheet, chosen: FileChoice) -> Corpus:
    """The texts of a file with their labels and marked words.

    Rows whose word cannot be placed are left out, and said: their labels would be nobody's.

    Raises:
        CorpusError: there is no text, or no marked word, or a column cannot be used.
    """
    labels = tuple(title for title in chosen.labels if title != chosen.text)
    if chosen.split and chosen.split not in labels:
        labels = (*labels, chosen.split)
    if not chosen.marks:
        return to_corpus(sheet, chosen.text, labels, max_texts=MOST_TEXTS)
    if chosen.text not in sheet.columns:
        return to_corpus(sheet, chosen.text)  # says so
    found = targets_of(sheet.columns, sheet.columns[chosen.text], chosen.marks)
    rows = [i for i, span in enumerate(found.spans) if span is not None]
    if not rows:
        raise CorpusError(_none_placed(sheet, found))
    corpus = to_corpus(_rows_of(sheet, rows), chosen.text, labels, max_texts=MOST_TEXTS)
    spans = [span for span in found.spans if span is not None][: len(corpus.texts)]
    placed = _within(corpus, spans)
    return replace(placed, notes=(*placed.notes, *_missed_notes(found)))


def _marks(sheet: Sheet, text: str) -> MarkColumns:
    """The columns that mark a word in most of the first rows, if any do."""
    found = guess_marks([title for title in sheet.columns if title != text])
    if not found:
        return found
    some = {title: cells[:_N_TRIED] for title, cells in sheet.columns.items()}
    spans = targets_of(some, some[text], found).spans
    n_texts = sum(1 for cell in some[text] if cell and not cell.isspace())
    placed = sum(span is not None for span in spans)
    return found if 2 * placed > n_texts else MarkColumns()


def _is_split(cells: Sequence[str | None]) -> bool:
    values = {cell.strip().casefold() for cell in cells if cell}
    return "test" in values and bool(values & {"train", "training"})


def _rows_of(sheet: Sheet, rows: Sequence[int]) -> Sheet:
    if len(rows) == sheet.n_rows:
        return sheet
    columns = {title: tuple(cells[i] for i in rows) for title, cells in sheet.columns.items()}
    return replace(sheet, columns=MappingProxyType(columns))


def _within(corpus: Corpus, spans: Sequence[Span]) -> Corpus:
    """A corpus with its marked words; of a text that was cut, one behind the cut is at its end."""
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
            {title: tuple(own[i] for i in fits) for title, own in corpus.labels.items()}
        ),
        spans=tuple(spans[i] for i in fits),
        notes=(*corpus.notes, _left_out(len(corpus.texts) - len(fits), "their word was cut off.")),
    )


def _missed_notes(found: Targets) -> tuple[str, ...]:
    if not found.n_missed:
        return ()
    first = found.examples[0] if found.examples else ""
    return (_left_out(found.n_missed, f"their marked word could not be placed. {first}").strip(),)


def _left_out(n: int, why: str) -> str:
    return f"{n:,} {'row was' if n == 1 else 'rows were'} left out: {why}"


def _none_placed(sheet: Sheet, found: Targets) -> str:
    first = found.examples[0] if found.examples else "No row has a text with a marked word."
    return (
        f"{named(sheet.name)}: no marked word could be placed in its text. {first} Choose other "
        "columns, or mark no word."
    )
