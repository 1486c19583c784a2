"""Pairs of texts or words, from a file or ready-made."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core import schema
from contextlens.core.errors import CorpusError
from contextlens.core.schema import VALIDATION, IntArray
from contextlens.core.words import Span
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.readers import Sheet
from contextlens.corpus.sheet import Cells, is_numbered, label_rank, named, text_pair
from contextlens.corpus.targets import MarkColumns, Targets, guess_marks, targets_of, two_sides
from contextlens.features.pairs.labels import (
    LEFT_OUT,
    MEANINGS,
    Labels,
    is_grade,
    is_two_way,
    names_of,
    plain,
    read_labels,
)
from contextlens.features.pairs.measures import DIFFERENT, NEITHER, SAME, TEST, TRAIN, UNKNOWN

# --- Pairs of texts to compare

WHOLE = (-1, -1)
"""The span of a side that is compared as a whole text."""
_BATCH = 200  # texts that are hashed at once


@dataclass(frozen=True, eq=False)
class PairSet:
    """Pairs of texts.

    Attributes:
        name: the file's name, or the title of bundled pairs.
        texts: each distinct text once.
        sides: (n_pairs, 2) int64, the texts of each pair.
        spans: (n_pairs, 2, 2) int64, the compared word of each side in code points, or `WHOLE`.
        rows: (n_pairs,) int64, the row of each pair in the file, from 1.
        gold: (n_pairs,) int64, SAME, DIFFERENT or UNKNOWN.
        split: (n_pairs,) int64, TRAIN, TEST or NEITHER; None if none is given.
        grades: (n_pairs,) float64, the graded score of each pair, NaN if it has none; None if
            pairs have no scores.
        notes: sentences on how the file was read and on pairs that were left out.
    """

    name: str
    texts: tuple[str, ...]
    sides: IntArray
    spans: IntArray
    rows: IntArray
    gold: IntArray
    split: IntArray | None
    grades: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.sides)

    @property
    def has_words(self) -> bool:
        """True if words are compared, not whole texts."""
        return bool((self.spans >= 0).any())

    @property
    def has_labels(self) -> bool:
        """True if any pair has a label."""
        return bool((self.gold != UNKNOWN).any())

    @property
    def _arrays(self) -> tuple[NDArray[Any] | None, ...]:
        return (self.sides, self.spans, self.rows, self.gold, self.split, self.grades)

    @cached_property
    def key(self) -> str:
        """The SHA-256 of all contents, in hex."""
        digest = hashlib.sha256()
        for start in range(0, len(self.texts), _BATCH):
            packed = json.dumps(self.texts[start : start + _BATCH])
            digest.update(packed.encode("utf-8", "surrogatepass"))
        for array in self._arrays:
            digest.update(b"none" if array is None else array.tobytes())
        digest.update(json.dumps([self.name, self.notes]).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @cached_property
    def n_bytes(self) -> int:
        """The approximate memory of the pairs, in bytes."""
        n = sum(array.nbytes for array in self._arrays if array is not None)
        return n + sum(map(sys.getsizeof, self.texts)) + 8 * len(self.texts)

    def text(self, pair: int, side: int) -> str:
        """The text of one side of a pair."""
        return self.texts[int(self.sides[pair, side])]

    def span(self, pair: int, side: int) -> Span | None:
        """The span of the compared word of one side; None for a whole text."""
        start, end = self.spans[pair, side].tolist()
        return None if start < 0 else (start, end)

    def word(self, pair: int, side: int) -> str:
        """The compared word itself; "" for a whole text."""
        span = self.span(pair, side)
        return "" if span is None else self.text(pair, side)[slice(*span)]


def pair_set(
    name: str,
    pairs: list[tuple[str, str]],
    *,
    spans: list[tuple[Span, Span]],
    rows: list[int],
    gold: list[int],
    split: list[int] | None,
    grades: list[float] | None = None,
    notes: tuple[str, ...] = (),
) -> PairSet:
    """Build a `PairSet` from lists with one item for each pair."""
    places: dict[str, int] = {}
    sides = [[places.setdefault(text, len(places)) for text in pair] for pair in pairs]
    return PairSet(
        name=name,
        texts=tuple(places),
        sides=np.array(sides, np.int64).reshape(-1, 2),
        spans=np.array(spans, np.int64).reshape(-1, 2, 2),
        rows=np.array(rows, np.int64),
        gold=np.array(gold, np.int64),
        split=None if split is None else np.array(split, np.int64),
        grades=None if grades is None else np.array(grades, np.float64),
        notes=notes,
    )


# --- The bundled pairs

_N_EACH = 20
"""At most this many pairs of each kind, same and different, are drawn for each word."""
_EVERY = 2
"""Only every second sentence of each sense is used: half the work for nearly the same result."""


@lru_cache(maxsize=1)
def bundled_pairs() -> PairSet:
    """The example pairs, drawn with fixed seeds; half of the words train, the others test."""
    corpus = ambiguous_corpus()
    spans = corpus.spans or ()
    senses = corpus.labels["sense"]
    members = defaultdict[str, list[int]](list)
    met: Counter[str] = Counter()
    for i, (word, sense) in enumerate(zip(corpus.labels["word"], senses, strict=True)):
        if met[sense] % _EVERY == 0:
            members[word].append(i)
        met[sense] += 1
    trained = set(sorted(members, key=_shuffled)[: len(members) // 2])
    chosen: list[tuple[int, int]] = []
    gold, split = list[int](), list[int]()
    for word, places in members.items():
        for kind in (SAME, DIFFERENT):
            pairs = [
                (a, b) for a, b in combinations(places, 2) if (senses[a] == senses[b]) == bool(kind)
            ]
            drawn = sorted(Random(f"{word} {kind}").sample(pairs, min(_N_EACH, len(pairs))))
            chosen += drawn
            gold += [kind] * len(drawn)
            split += [TRAIN if word in trained else TEST] * len(drawn)
    both: list[tuple[Span, Span]] = [(spans[a], spans[b]) for a, b in chosen]
    return pair_set(
        "Example pairs",
        [(corpus.texts[a], corpus.texts[b]) for a, b in chosen],
        spans=both,
        rows=list(range(1, len(chosen) + 1)),
        gold=gold,
        split=split,
    )


def _shuffled(word: str) -> str:
    """A sort key unrelated to the words themselves, and stable when others are added."""
    return hashlib.sha256(word.encode()).hexdigest()


# --- From a file's table to pairs

MAX_PAIRS = 100_000
_MAX_LENGTH = 20_000  # characters of a text; a model that reads 512 tokens reads about 2,500
_N_EXAMPLES = 3

_SPLIT_WORDS = {**dict.fromkeys(schema.TRAIN, TRAIN), **dict.fromkeys(schema.TEST, TEST)}


@dataclass(frozen=True)
class PairColumns:
    """The titles of the columns of a file of pairs; "" for absent ones.

    `index1` and `index2` may be the same column, which may hold both indices: "3-5".

    Attributes:
        meanings: the chosen meaning of each label, a character of `labels.MEANINGS` for each of
            `labels.names_of`; "" if labels are read as they are.
    """

    text1: str = ""
    text2: str = ""
    word1: str = ""
    word2: str = ""
    start1: str = ""
    end1: str = ""
    start2: str = ""
    end2: str = ""
    span1: str = ""
    span2: str = ""
    index1: str = ""
    index2: str = ""
    label: str = ""
    split: str = ""
    meanings: str = ""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles in the order of the fields, which is also that of an address."""
        return tuple(getattr(self, role) for role in ROLES)

    def without_marks(self) -> PairColumns:
        """The same columns to compare whole texts."""
        return PairColumns(
            self.text1, self.text2, label=self.label, split=self.split, meanings=self.meanings
        )

    def marks(self, side: int) -> MarkColumns:
        """The columns that mark the word of one side, 1 or 2."""
        roles = ("word", "start", "end", "span", "index")
        return MarkColumns(**{role: getattr(self, f"{role}{side}") for role in roles})


ROLES = tuple(field.name for field in fields(PairColumns) if field.name != "meanings")
"""The roles of columns, in the order in which an address names them."""


def guess_columns(sheet: Sheet) -> PairColumns:
    """Guess the roles of a file's columns by their titles, then by their contents."""
    text1, text2 = text_pair(sheet)
    marks = dict[str, str]()
    if text2:
        for side, marked in enumerate(guess_marks(sheet, text1, text2), start=1):
            marks |= {f"{role}{side}": title for role, title in asdict(marked).items()}
    taken = {text1, text2, sheet.split_column, *marks.values()}
    label = _guess_label(sheet, [title for title in sheet.columns if title not in taken])
    return PairColumns(text1, text2, **marks, label=label, split=sheet.split_column)


def _guess_label(sheet: Sheet, titles: Sequence[str]) -> str:
    """Return the likely label of pairs: with a usual title if any has one, else by its values.

    Labels of two kinds come first, then grades, then others, such as entailment.
    """
    ranks = {title: rank for title in titles if (rank := label_rank(title)) is not None}
    titled = sorted(ranks, key=lambda title: ranks[title])
    likely = titled or [title for title in titles if title in sheet.label_columns]
    two_way = [title for title in likely if is_two_way(sheet.columns[title])]
    graded = [
        title for title in titled or filter(is_numbered, titles) if is_grade(sheet.columns[title])
    ]
    if titled:
        return (*two_way, *graded, *titled)[0]
    return next((found[0] for found in (two_way, graded) if len(found) == 1), "")


def places(sheet: Sheet, columns: PairColumns) -> str:
    """The columns' positions in the file, then the meanings, as the view stores them: "0,1,,2"."""
    every = list(sheet.columns)
    positions = [str(every.index(title)) if title else "" for title in columns.titles]
    return ",".join([*positions, *([columns.meanings] if columns.meanings else [])])


def chosen_columns(sheet: Sheet, given: str) -> PairColumns:
    """The columns that a view names by position, or the guessed ones if it names none."""
    titles, parts = list(sheet.columns), given.split(",")
    if not 0 <= len(parts) - len(ROLES) <= 1:
        return guess_columns(sheet)
    numbers = [int(part) if part.isascii() and part.isdigit() else -1 for part in parts]
    chosen = [titles[n] if 0 <= n < len(titles) else "" for n in numbers[: len(ROLES)]]
    columns, meanings = PairColumns(*chosen), "".join(parts[len(ROLES) :])
    names = names_of(label_cells(sheet, columns.label)) if columns.label else ()
    fits = len(meanings) == len(names) and set(meanings) <= set(MEANINGS)
    return replace(columns, meanings=meanings if fits else "")


def label_cells(sheet: Sheet, title: str) -> Cells:
    """The cells of a column of labels, of as many pairs as are compared."""
    return sheet.columns[title][:MAX_PAIRS]


def pairs_from(sheet: Sheet, columns: PairColumns) -> PairSet:
    """The pairs of a file.

    Raises:
        CorpusError: the columns do not fit together, or no pair can be compared.
    """
    _check(sheet, columns)
    cells = {title: sheet.columns[title][:MAX_PAIRS] for title in columns.titles if title}
    texts = cells[columns.text1], cells[columns.text2]
    marked = bool(columns.marks(1))
    placed = _placed(cells, texts, columns) if marked else ()
    usable = [
        row
        for row, pair_texts in enumerate(zip(*texts, strict=True))
        if all(text and not text.isspace() for text in pair_texts)
        and all(side.spans[row] for side in placed)
    ]
    n_blank = sum(
        1 for pair_texts in zip(*texts, strict=True) if not all(t and t.strip() for t in pair_texts)
    )
    notes = [
        *sheet.notes,
        *_row_notes(sheet.n_rows, n_blank, len(texts[0]) - n_blank - len(usable)),
    ]
    misses = _misses(placed)
    usable, skipped = _chosen_rows(cells, usable, columns)
    notes += skipped
    if not usable:
        raise CorpusError(
            f"{named(sheet.name)} has no pair that can be compared. {' '.join((*notes, *misses))} "
            "Choose other columns, or correct the file."
        )
    labels = Labels([UNKNOWN] * len(usable))
    if columns.label:
        labels = read_labels(cells[columns.label], usable, columns.label, columns.meanings)
    split, split_notes = _split(cells.get(columns.split), usable, columns.split)
    stripped = _stripped(
        {text for row in usable for text in (texts[0][row], texts[1][row]) if text}
    )
    spans: list[tuple[Span, Span]] = [
        (placed[0].spans[row] or WHOLE, placed[1].spans[row] or WHOLE) if placed else (WHOLE, WHOLE)
        for row in usable
    ]
    return pair_set(
        named(sheet.name),
        [(stripped[texts[0][row] or ""], stripped[texts[1][row] or ""]) for row in usable],
        spans=spans,
        rows=[row + 1 for row in usable],
        gold=labels.gold,
        split=split,
        grades=labels.grades,
        notes=(*notes, *misses, *labels.notes, *split_notes),
    )


def _chosen_rows(
    cells: Mapping[str, Cells], usable: list[int], columns: PairColumns
) -> tuple[list[int], list[str]]:
    """The rows without those whose label is left out, and a note on them."""
    if LEFT_OUT not in columns.meanings:
        return usable, []
    labels = cells[columns.label]
    names = zip(names_of(labels), columns.meanings, strict=True)
    left_out = {name for name, meaning in names if meaning == LEFT_OUT}
    rows = [row for row in usable if plain(labels[row]) not in left_out]
    if len(rows) == len(usable):
        return usable, []
    examples = ", ".join(f"“{named(name)}”" for name in sorted(left_out)[:_N_EXAMPLES])
    more = ", …" if len(left_out) > _N_EXAMPLES else ""
    return rows, [f"{_pairs(len(usable) - len(rows))} left out, as you chose: {examples}{more}."]


def _check(sheet: Sheet, columns: PairColumns) -> None:
    if len(sheet.columns) < 2:
        raise CorpusError(
            f"{named(sheet.name)} has one column. Give a file of pairs: two columns with a text "
            "each, such as text1 and text2."
        )
    if not columns.text1 or not columns.text2:
        raise CorpusError(
            "A pair needs two texts, and one column is chosen. Choose the column of the other text."
        )
    if columns.text1 == columns.text2:
        raise CorpusError(
            "Both texts of a pair would come from one column. Choose a column for each."
        )
    if bool(columns.marks(1)) != bool(columns.marks(2)):
        raise CorpusError(
            "The word is marked in one text alone. Choose columns that mark it in both, or in "
            "neither to compare whole texts."
        )


def _placed(
    cells: Mapping[str, Cells], texts: tuple[Cells, Cells], columns: PairColumns
) -> tuple[Targets, Targets]:
    first, second = dict(cells), dict(cells)
    if columns.index1 and columns.index1 == columns.index2:
        first[columns.index1], second[columns.index1] = two_sides(cells, columns.index1)
    return (
        targets_of(first, texts[0], columns.marks(1)),
        targets_of(second, texts[1], columns.marks(2)),
    )


def _misses(placed: Sequence[Targets]) -> list[str]:
    """The first rows whose word could not be located, with the reason."""
    misses = [
        (row, f"Row {row + 1:,}, text {side}: {reason}")
        for side, targets in enumerate(placed, start=1)
        for row, reason in targets.missed
    ]
    return [miss for _, miss in sorted(misses)[:_N_EXAMPLES]]


def _row_notes(n_rows: int, n_blank: int, n_missed: int) -> list[str]:
    notes = []
    if n_rows > MAX_PAIRS:
        notes.append(f"Only the first {MAX_PAIRS:,} of {n_rows:,} pairs are compared.")
    if n_blank:
        notes.append(f"{_pairs(n_blank)} left out: a text is empty.")
    if n_missed:
        notes.append(f"{_pairs(n_missed)} left out: the word could not be placed.")
    return notes


def _pairs(n: int) -> str:
    return f"{n:,} pair was" if n == 1 else f"{n:,} pairs were"


def _stripped(texts: set[str]) -> dict[str, str]:
    """Each text without surrounding white space, cut if it is far longer than models read."""
    return {text: text.strip()[:_MAX_LENGTH] for text in texts}


def _split(
    cells: Cells | None, usable: Sequence[int], title: str
) -> tuple[list[int] | None, list[str]]:
    if cells is None:
        return None, []
    values = [plain(cells[row]) for row in usable]
    words, notes = _SPLIT_WORDS, list[str]()
    if set(values).isdisjoint(schema.TEST) and not set(values).isdisjoint(VALIDATION):
        words = {**words, **dict.fromkeys(VALIDATION, TEST)}
        notes = [f"No row of {named(title)} says test, so the validation rows test."]
    parts = [words.get(value, NEITHER) for value in values]
    if set(parts) == {NEITHER}:
        return None, [
            f"The column {named(title)} names neither train nor test, so it is not used as a split."
        ]
    return parts, notes
