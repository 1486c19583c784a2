"""From a file's columns to pairs: columns guessed or chosen, labels, splits, what is left out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from contextlens.core import schema
from contextlens.core.errors import CorpusError
from contextlens.core.schema import VALIDATION
from contextlens.core.words import Span
from contextlens.corpus.file_vectors import REASONS, FileVectors
from contextlens.corpus.readers import Table
from contextlens.corpus.table import (
    Cells,
    is_number,
    is_numbered,
    label_rank,
    named,
    text_pair,
    titled_sides,
)
from contextlens.corpus.targets import MarkColumns, Targets, guess_marks, targets_of, two_sides
from contextlens.features.pairs.controls import (
    MAX_LABEL_NAMES,
    MAX_PAIRS,
    MAX_TEXT_LENGTH,
)
from contextlens.features.pairs.pair_set import (
    DIFFERENT,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    WHOLE,
    PairSet,
    pair_set,
)
from contextlens.ui.corpora.controls import PAIR_COLUMNS, PAIRS
from contextlens.ui.files import uploads
from contextlens.ui.state.view import ViewState

# --- From a file's table to pairs

_N_EXAMPLES = 3

_SPLIT_WORDS = {**dict.fromkeys(schema.TRAIN, TRAIN), **dict.fromkeys(schema.TEST, TEST)}


@dataclass(frozen=True)
class PairColumns:
    """The titles of the columns of a file of pairs; "" for absent ones.

    `index1` and `index2` may be the same column, which may hold both indices: "3-5".

    Attributes:
        meanings: the chosen meaning of each label, a character of `MEANINGS` for each of
            `names_of`; "" if labels are read as they are.
        vectors1, vectors2: the titles of the file's vectors of either text.
        vectors3: that of the negatives of triplets.
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
    vectors1: str = ""
    vectors2: str = ""
    vectors3: str = ""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles in the order of the fields, which is also that of an address."""
        return tuple(getattr(self, role) for role in ROLES)

    @property
    def vectors(self) -> tuple[str, ...]:
        """The titles of the chosen vectors, in their order."""
        return tuple(filter(None, (self.vectors1, self.vectors2, self.vectors3)))

    @property
    def way(self) -> str:
        """The way in which the columns mark words: a key of `WAYS`."""
        titles = {"ends": self.start1, "span": self.span1, "index": self.index1}
        default = "word" if self.word1 else "none"
        return next((way for way, title in titles.items() if title), default)

    def without_marks(self) -> PairColumns:
        """The same columns to compare whole texts."""
        return PairColumns(
            self.text1, self.text2, label=self.label, split=self.split, meanings=self.meanings
        )

    def marks(self, side: int) -> MarkColumns:
        """The columns that mark the word of one side, 1 or 2."""
        roles = ("word", "start", "end", "span", "index")
        return MarkColumns(**{role: getattr(self, f"{role}{side}") for role in roles})


_NO_ROLES = {"meanings", "vectors1", "vectors2", "vectors3"}
ROLES = tuple(field.name for field in fields(PairColumns) if field.name not in _NO_ROLES)
"""The roles of columns, in the order in which an address names them."""
CHECKED_ROLES = {"check1": "word1", "check2": "word2"}
"""Menus for a column with the word itself, which checks a position, and the columns' roles."""
WAYS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "word": ("word1", "word2"),
    "ends": ("start1", "end1", "start2", "end2", *CHECKED_ROLES),
    "span": ("span1", "span2", *CHECKED_ROLES),
    "index": ("index1", "index2", *CHECKED_ROLES),
}
"""The columns that identify the compared words, for each way to mark them."""


_TRIPLETS = (
    ("anchor", "query", "question", "sentence", "text", "sent 0"),
    ("positive", "pos", "positive passage", "sent 1"),
    ("negative", "neg", "hard negative", "hard neg", "negative passage", "negative 1"),
)
"""Titles of the three texts of triplets, the likeliest first."""
_VECTOR_WORDS = (
    {"anchor", "anchors", "query", "queries", "question", "questions"},
    {"positive", "positives", "pos"},
    {"negative", "negatives", "neg"},
)
"""Words in the titles of the vectors of these texts."""


def _triplet(sheet: Table) -> tuple[str, str, str] | None:
    """Return the columns of anchors, positives and negatives, by their titles; None for none.

    Three columns of texts without titles are triplets, too, as MS MARCO has them.
    """
    if len(sheet.columns) == 3 and all(map(is_numbered, sheet.columns)):
        first, second, third = sheet.columns
        if all(sheet.kinds[title] in {"text", "many"} for title in sheet.columns):
            return first, second, third
    plain = {
        " ".join(re.findall(r"[a-z]+|\d+", title.casefold())): title
        for title in reversed(list(sheet.columns))
        if sheet.kinds[title] not in {"number", "empty"}
    }
    found = [next((plain[name] for name in names if name in plain), "") for names in _TRIPLETS]
    return (found[0], found[1], found[2]) if all(found) else None


def negative_column(sheet: Table, columns: PairColumns) -> str:
    """Return the column of negatives beside the anchors and positives of pairs; "" for none."""
    given = _triplet(sheet)
    is_plain = not columns.marks(1) and not columns.label
    is_given = given is not None and given[:2] == (columns.text1, columns.text2)
    return given[2] if given is not None and is_given and is_plain else ""


def guess_columns(sheet: Table) -> PairColumns:
    """Guess the roles of a file's columns by their titles, then by their contents."""
    if (triplet := _triplet(sheet)) is not None:
        columns = PairColumns(*triplet[:2], split=sheet.split_column)
        given = _vectors_of(sheet, triplet)
        return replace(
            columns, **dict(zip(("vectors1", "vectors2", "vectors3"), given, strict=False))
        )
    text1, text2 = text_pair(sheet)
    if not text2:
        text1, text2 = _pair_by_vectors(sheet) or (text1, "")
    marks = dict[str, str]()
    if text2:
        for side, marked in enumerate(guess_marks(sheet, text1, text2), start=1):
            marks |= {f"{role}{side}": title for role, title in asdict(marked).items()}
    taken = {text1, text2, sheet.split_column, *marks.values()}
    label = _guess_label(sheet, [title for title in sheet.columns if title not in taken])
    columns = PairColumns(text1, text2, **marks, label=label, split=sheet.split_column)
    return with_vectors(sheet, columns)


def _pair_by_vectors(sheet: Table) -> tuple[str, str] | None:
    """Return the two columns of texts that the titles of two vectors name; None without such.

    Texts of different kinds, such as headlines and bodies, do not look like pairs by themselves.
    """
    texts = [title for title, kind in sheet.kinds.items() if kind in {"text", "many"}]
    named_by = [_named_in(own.title, texts) for own in sheet.vectors]
    named_texts = [text for text in texts if text in named_by]
    is_pair = len(named_by) == len(named_texts) == 2
    return (named_texts[0], named_texts[1]) if is_pair else None


def _named_in(title: str, texts: Sequence[str]) -> str:
    """Return the column of texts that the title of vectors names, the longest one; "" for none.

    "context_vector" names "context", and not "text"; "a_embedding" names "a", and not "b".
    """

    def closeness(text: str) -> tuple[bool, int]:
        whole = rf"(?<![^\W\d_]){re.escape(text)}(?![^\W\d_])"
        return re.search(whole, title, re.IGNORECASE) is not None, len(text)

    named = [text for text in texts if text.casefold() in title.casefold()]
    return max(named, key=closeness, default="")


def _vectors_of(sheet: Table, triplet: tuple[str, str, str]) -> Sequence[str]:
    """Return the likely vectors of anchors, positives and negatives; () if that is unclear.

    Their order in the file counts only where no title names one of the three texts.
    """
    titles = [own.title for own in sheet.vectors]
    words = {
        title: {word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", title)}
        for title in titles
    }
    by_text = [[own for own in titles if _named_in(own, triplet) == text] for text in triplet]
    by_role = [[own for own in titles if words[own] & names] for names in _VECTOR_WORDS]
    guesses = [[own[0] for own in by if len(own) == 1] for by in (by_text, by_role)]
    are_named = any(0 < len(own) < len(titles) for own in by_text) or any(by_role)
    for guess in (*guesses, () if are_named else titles):
        if len({*guess}) == len(guess) == len(triplet):
            n_dims = {own.n_dims for own in sheet.vectors if own.title in guess}
            return guess if len(n_dims) == 1 else ()
    return ()


def with_vectors(sheet: Table, columns: PairColumns) -> PairColumns:
    """Return the columns with the likely vectors of their texts, by the titles or by the order.

    They stand for whole texts, so there are none where words are marked.
    """
    titles = [own.title for own in sheet.vectors]
    if not columns.text2 or columns.marks(1) or len(titles) < 2:
        return columns
    texts = columns.text1, columns.text2
    by_text = [[own for own in titles if _named_in(own, texts) == text] for text in texts]
    if [len(own) for own in by_text] == [1, 1]:
        (first,), (second,) = by_text
    else:
        first, second = titled_sides(titles)
        if not second and len(titles) == 2 and by_text[0] != [titles[1]]:
            first, second = titles
    n_dims = {own.n_dims for own in sheet.vectors if own.title in {first, second}}
    return replace(columns, vectors1=first, vectors2=second) if len(n_dims) == 1 else columns


def _guess_label(sheet: Table, titles: Sequence[str]) -> str:
    """Return the likely label of pairs: with a usual title if any has one, else by its values.

    Labels of two kinds come first, then grades, then others, such as entailment.
    """
    ranks = {title: rank for title in titles if (rank := label_rank(title)) is not None}
    titled = sorted(ranks, key=lambda title: ranks[title])
    likely = titled or [title for title in titles if title in sheet.label_columns]
    two_way = [title for title in likely if _is_two_way(sheet.columns[title])]
    graded = [
        title for title in titled or filter(is_numbered, titles) if _is_grade(sheet.columns[title])
    ]
    if titled:
        return (*two_way, *graded, *titled)[0]
    return next((titles[0] for titles in (two_way, graded) if len(titles) == 1), "")


def column_positions(sheet: Table, columns: PairColumns) -> str:
    """The columns' positions in the file, as the view stores them: "0,1,,2".

    The meanings follow, and the positions of the vectors among those of the file: "0-1".
    """
    titles, given = list(sheet.columns), [own.title for own in sheet.vectors]
    positions = [str(titles.index(title)) if title else "" for title in columns.titles]
    vectors = ""
    if columns.vectors1 and columns.vectors2:
        vectors = "-".join(str(given.index(title)) for title in columns.vectors)
    more = [columns.meanings, vectors] if vectors else [columns.meanings]
    return ",".join([*positions, *(more if any(more) else [])])


def chosen_columns(sheet: Table, given: str) -> PairColumns:
    """The columns that a view names by position, or the guessed ones if it names none."""
    titles, parts = list(sheet.columns), given.split(",")
    if not 0 <= len(parts) - len(ROLES) <= 2:
        return guess_columns(sheet)
    meanings, vectors = (*parts[len(ROLES) :], "", "")[:2]
    places = re.fullmatch(r"(\d{1,3})-(\d{1,3})(?:-(\d{1,3}))?", vectors, re.ASCII)
    if vectors and not places:
        return guess_columns(sheet)
    numbers = [int(part) if part.isascii() and part.isdigit() else -1 for part in parts]
    chosen = [titles[n] if 0 <= n < len(titles) else "" for n in numbers[: len(ROLES)]]
    every = [int(place) for place in places.groups() if place] if places else []
    own = [sheet.vectors[place].title for place in every if place < len(sheet.vectors)]
    one, two, three = (*own, "")[:3] if 1 < len(own) == len(every) else ("", "", "")
    columns = replace(PairColumns(*chosen), vectors1=one, vectors2=two, vectors3=three)
    names = names_of(label_cells(sheet, columns.label)) if columns.label else ()
    fits = len(meanings) == len(names) and set(meanings) <= set(MEANINGS)
    return replace(columns, meanings=meanings if fits else "")


def label_cells(sheet: Table, title: str) -> Cells:
    """The cells of a column of labels, of as many pairs as are compared."""
    return sheet.columns[title][:MAX_PAIRS]


def pairs_from(sheet: Table, columns: PairColumns, *, triplets: bool = True) -> PairSet:
    """The pairs of a file; of triplets, two pairs a row.

    Args:
        sheet: the file.
        columns: the roles of its columns.
        triplets: False to leave out the negatives of triplets.

    Raises:
        CorpusError: the columns do not fit together, or no pair can be compared.
    """
    _check(sheet, columns)
    if triplets and (third := negative_column(sheet, columns)):
        if columns.vectors1 and not columns.vectors3:
            raise CorpusError(
                "A triplet has three texts, and vectors of two are chosen. Choose vectors for "
                "the negatives, too. Or choose none, and the model reads the texts."
            )
        return _triplets_from(sheet, columns, third)
    cells = {title: sheet.columns[title][:MAX_PAIRS] for title in columns.titles if title}
    texts = cells[columns.text1], cells[columns.text2]
    targets = _targets(cells, texts, columns) if columns.marks(1) else ()
    usable = [
        row
        for row, pair_texts in enumerate(zip(*texts, strict=True))
        if all(text and not text.isspace() for text in pair_texts)
        and all(side.spans[row] for side in targets)
    ]
    n_blank = sum(
        1 for pair_texts in zip(*texts, strict=True) if not all(t and t.strip() for t in pair_texts)
    )
    notes = [
        *sheet.notes,
        *_row_notes(sheet.n_rows, n_blank, len(texts[0]) - n_blank - len(usable)),
    ]
    misses = [*_misses(targets), *dict.fromkeys(note for side in targets for note in side.notes)]
    usable, skipped = _chosen_rows(cells, usable, columns)
    notes += skipped
    vectors = _vectors(sheet, usable, columns.vectors[:2])
    if not usable:
        raise CorpusError(
            f"{named(sheet.name)} has no pair that can be compared. {' '.join((*notes, *misses))} "
            "Choose other columns, or correct the file."
        )
    labels = Labels([UNKNOWN] * len(usable))
    if columns.label:
        labels = read_labels(cells[columns.label], usable, columns.label, columns.meanings)
    split, split_notes = _split(cells.get(columns.split), usable, columns.split)
    stripped = {  # each text once
        text: text.strip()[:MAX_TEXT_LENGTH]
        for text in {text for row in usable for text in (texts[0][row], texts[1][row]) if text}
    }
    spans: list[tuple[Span, Span]] = [
        (targets[0].spans[row] or WHOLE, targets[1].spans[row] or WHOLE)
        if targets
        else (WHOLE, WHOLE)
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
        vectors=vectors,
    )


def _vectors(
    sheet: Table, rows: Sequence[int], titles: Sequence[str]
) -> tuple[FileVectors, ...] | None:
    by_title = {own.title: own for own in sheet.vectors}
    if not titles or not rows:
        return None
    first, *others = (by_title[title].take(rows) for title in titles)
    wrong = next((own for own in others if own.n_dims != first.n_dims), None)
    if wrong is not None:
        raise CorpusError(
            f"Vectors in “{first.title}” have {first.n_dims:,} numbers, and those in "
            f"“{wrong.title}” {wrong.n_dims:,}, so no cosine can be computed. Choose vectors of "
            "the same length."
        )
    are_missing = reasons_of((first, *others)).reshape(len(rows), -1).any(axis=1)
    if are_missing.all():
        whom = "triplet has all three vectors" if others[1:] else "pair has a vector for both texts"
        raise CorpusError(
            f"No {whom}: {reasons_in(no_vectors((first, *others)))}. Choose other vectors, or "
            "none to read the texts with the model."
        )
    return first, *others


def reasons_of(vectors: Sequence[FileVectors]) -> NDArray[np.int8]:
    """(n_pairs,) why pairs have no vector of either text, as in `FileVectors.reasons`.

    Args:
        vectors: those of the first and the second texts, or of the three texts of triplets.
    """
    first, *others = vectors
    codes = [np.where(first.reasons == 0, own.reasons, first.reasons) for own in others]
    reasons: NDArray[np.int8] = np.stack(codes, axis=1).ravel()
    return reasons


def no_vectors(vectors: Sequence[FileVectors]) -> Counter[str]:
    """Return the number of pairs without a vector of either text, by the first such reason."""
    return Counter(REASONS[code] for code in reasons_of(vectors).tolist() if code)


def reasons_in(counts: Counter[str]) -> str:
    """Return the reasons why there is no vector, with their numbers."""
    return ", ".join(f"{reason} ({n:,})" for reason, n in counts.most_common())


def _triplets_from(sheet: Table, columns: PairColumns, third: str) -> PairSet:
    titles = (columns.text1, columns.text2, third)
    n_most = MAX_PAIRS // 2
    cells = list(zip(*(sheet.columns[title][:n_most] for title in titles), strict=True))
    usable = [i for i, own in enumerate(cells) if all(text and text.strip() for text in own)]
    if not usable:
        raise CorpusError(f"{named(sheet.name)} has no row with all three texts of a triplet.")
    notes = [*sheet.notes, f"Triplets: “{named(third)}” has the negatives, guessed by the titles."]
    if sheet.n_rows > n_most:
        notes.append(f"Only the first {n_most:,} of {sheet.n_rows:,} triplets are compared.")
    if n_blank := len(cells) - len(usable):
        n = f"{n_blank:,} triplet{' was' if n_blank == 1 else 's were'}"
        notes.append(f"{n} left out: a text is empty.")
    texts = [[(text or "").strip()[:MAX_TEXT_LENGTH] for text in cells[row]] for row in usable]
    pairs = [(own[0], other) for own in texts for other in own[1:]]
    vectors = _vectors(sheet, usable, columns.vectors)
    return pair_set(
        named(sheet.name),
        pairs,
        spans=[(WHOLE, WHOLE)] * len(pairs),
        rows=[row + 1 for row in usable for _ in range(2)],
        gold=[UNKNOWN] * len(pairs),
        split=None,
        notes=tuple(notes),
        are_triplets=True,
        vectors=vectors,
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
    rows = [row for row in usable if _plain(labels[row]) not in left_out]
    if len(rows) == len(usable):
        return usable, []
    examples = ", ".join(f"“{named(name)}”" for name in sorted(left_out)[:_N_EXAMPLES])
    more = ", …" if len(left_out) > _N_EXAMPLES else ""
    return rows, [f"{_pairs(len(usable) - len(rows))} left out, as you chose: {examples}{more}."]


def _check(sheet: Table, columns: PairColumns) -> None:
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
    has_one = bool(columns.vectors1) != bool(columns.vectors2)
    if has_one or (columns.vectors3 and not columns.vectors1):
        raise CorpusError(
            "Vectors of one text alone are chosen. Choose vectors of both texts, or of neither to "
            "read them with the model."
        )
    if not columns.vectors1:
        return
    if len({*columns.vectors}) < len(columns.vectors):
        raise CorpusError("Two texts would have the same vectors. Choose a column for each.")
    if columns.marks(1):
        raise CorpusError(
            "The vectors of a file stand for whole texts, and words are marked. Compare whole "
            "texts, or choose no vectors."
        )


def _targets(
    cells: Mapping[str, Cells], texts: tuple[Cells, Cells], columns: PairColumns
) -> tuple[Targets, Targets]:
    first, second = dict(cells), dict(cells)
    if columns.index1 and columns.index1 == columns.index2:
        first[columns.index1], second[columns.index1] = two_sides(cells, columns.index1)
    return (
        targets_of(first, texts[0], columns.marks(1)),
        targets_of(second, texts[1], columns.marks(2)),
    )


def _misses(targets: Sequence[Targets]) -> list[str]:
    """The first rows whose word could not be located, with the reason."""
    misses = [
        (row, f"Row {row + 1:,}, text {side}: {reason}")
        for side, side_targets in enumerate(targets, start=1)
        for row, reason in side_targets.missed
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


def _split(
    cells: Cells | None, usable: Sequence[int], title: str
) -> tuple[list[int] | None, list[str]]:
    if cells is None:
        return None, []
    values = [_plain(cells[row]) for row in usable]
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


# --- The column of labels: two kinds, graded scores, or names that a visitor sorts

_SAME_WORDS = {"1", "1.0", "t", "true", "y", "yes", "same", "identical", "equal", "match"}
_DIFFERENT_WORDS = {"0", "0.0", "f", "false", "n", "no", "different", "diff", "other", "distinct"}
_KNOWN = {**dict.fromkeys(_SAME_WORDS, SAME), **dict.fromkeys(_DIFFERENT_WORDS, DIFFERENT)}

LEFT_OUT = "-"
MEANINGS = {"1": SAME, "0": DIFFERENT, LEFT_OUT: UNKNOWN}
"""A label's meaning as an address writes it: same, different, or left out."""
_USUAL = {"entailment": "1", "paraphrase": "1", "duplicate": "1", "contradiction": "0"} | {
    word: str(kind) for word, kind in _KNOWN.items()
}
_MAX_OTHER_LABELS = 0.1  # the share of labels among scores that may be no numbers
_MAX_SCORE = 1e12
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?%?")


@dataclass(frozen=True)
class Labels:
    """The labels of pairs.

    Attributes:
        gold: SAME, DIFFERENT or UNKNOWN for each pair.
        grades: the score of each pair, NaN if it has none; None if the labels are no scores.
        notes: sentences on the labels.
    """

    gold: list[int]
    grades: list[float] | None = None
    notes: tuple[str, ...] = ()


def _plain(cell: str | None) -> str:
    """Return a cell without surrounding white space, in lower case; "" for a missing one."""
    return (cell or "").strip().casefold()


def _is_two_way(cells: Cells) -> bool:
    """True if cells say same or different, and both occur."""
    values = {_plain(cell) for cell in set(cells)} - {""}
    return len(values) == 2 and len(values & _SAME_WORDS) == len(values & _DIFFERENT_WORDS) == 1


def _is_grade(cells: Cells) -> bool:
    """True if cells are numbers with decimals: "1.8"."""
    given = [cell for cell in cells if cell and not cell.isspace()]
    return any("." in cell for cell in given) and all(map(is_number, given))


def names_of(cells: Cells) -> tuple[str, ...]:
    """Return the different labels in alphabetical order if their meaning must be chosen.

    There are none if labels say same and different themselves, are numbers with decimals, or are
    too many for a menu each. Whole numbers may be scores or kinds.
    """
    values = {_plain(cell) for cell in set(cells)} - {""}
    if values <= set(_KNOWN) or len(values) > MAX_LABEL_NAMES:
        return ()
    if can_be_scores(cells) and any((score or 0.0) % 1 for score in _scores_of(cells).values()):
        return ()
    return tuple(sorted(values))


def can_be_scores(cells: Cells) -> bool:
    """True if labels are three different numbers or more, and hardly anything else."""
    counts = Counter(map(_plain, cells))
    counts.pop("", None)
    if set(counts) <= set(_KNOWN):
        return False
    scores = _scores_of(cells)
    others = sum(n for value, n in counts.items() if scores[value] is None)
    return len(set(scores.values()) - {None}) > 2 and others <= _MAX_OTHER_LABELS * counts.total()


def guess_meanings(names: Sequence[str]) -> str:
    """Return the likely meaning of each name, a character of `MEANINGS` each."""
    return "".join(_USUAL.get(name, LEFT_OUT) for name in names)


def read_labels(cells: Cells, rows: Sequence[int], title: str, meanings: str = "") -> Labels:
    """Read the labels of some rows.

    Args:
        cells: the whole column.
        rows: the rows of the pairs.
        title: the column's title.
        meanings: the chosen meaning of each of `names_of(cells)`; "" if nothing was chosen.
    """
    values = [_plain(cells[row]) for row in rows]
    counts = Counter(values)
    n_missing = counts.pop("", 0)
    if not counts:
        return Labels([UNKNOWN] * len(rows), None, (f"The column {named(title)} has no label.",))
    known = dict(_KNOWN)
    if meanings:
        known = {
            name: MEANINGS[meaning] for name, meaning in zip(names_of(cells), meanings, strict=True)
        }
    elif can_be_scores(cells):
        scores = _scores_of(cells)
        return _graded([scores[value] for value in values], title)
    if set(counts) - set(known):
        return Labels([UNKNOWN] * len(rows), None, (_unknown_labels(title, counts),))
    notes: tuple[str, ...] = ()
    if n_missing:
        has = "pair has" if n_missing == 1 else "pairs have"
        notes = (f"{n_missing:,} {has} no label: a cosine and no verdict on it.",)
    return Labels([known.get(value, UNKNOWN) for value in values], None, notes)


def _graded(numbers: Sequence[float | None], title: str) -> Labels:
    n_missing = numbers.count(None)
    notes: tuple[str, ...] = ()
    if n_missing:
        has = "pair has" if n_missing == 1 else "pairs have"
        notes = (f"{n_missing:,} {has} no number in {named(title)}: a cosine and no score.",)
    grades = [math.nan if number is None else number for number in numbers]
    return Labels([UNKNOWN] * len(numbers), grades, notes)


def _scores_of(cells: Cells) -> dict[str, float | None]:
    """Return the number in each value, as files write it, or None.

    A comma is that of decimals, unless all commas can divide thousands and a number of three
    digits or more has none.
    """
    values = set(map(_plain, cells))
    with_comma = {value for value in values if "," in value}
    divides = all(map(_THOUSANDS.fullmatch, with_comma)) and any(
        abs(_score(value) or 0.0) >= 100 for value in values - with_comma
    )
    return {value: _score(value.replace(",", "") if divides else value) for value in values}


def _score(text: str) -> float | None:
    """Return a number, also with a decimal comma; None for other texts."""
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    if not is_number(text):
        return None
    number = float(text.rstrip("%"))
    return number if abs(number) <= _MAX_SCORE else None


def _unknown_labels(title: str, counts: Counter[str]) -> str:
    examples = ", ".join(f"“{named(value)}”" for value, _ in counts.most_common(4))
    more = ", …" if len(counts) > 4 else ""
    kinds = "one kind" if len(counts) == 1 else f"{len(counts):,} kinds"
    remedy = (
        "Choose under Columns which of them mean same and different."
        if len(counts) <= MAX_LABEL_NAMES
        else "Write same and different, 1 and 0, or T and F; or a number for each pair."
    )
    return (
        f"Labels in {named(title)} are of {kinds} ({examples}{more}), so the pairs are shown "
        f"without them. {remedy}"
    )


# --- The pairs of a file, for whoever has their digest


def share_pairs(visitor: str, sheet: Table, columns: PairColumns, *, triplets: bool = True) -> str:
    """Keep the pairs of a file's chosen columns for whoever has their digest, and return it.

    Raises:
        CorpusError: the columns cannot be used.
    """
    pairs = pairs_from(sheet, columns, triplets=triplets)
    digest = pairs.key[:32]
    uploads.keep_shared(visitor, digest, pairs, pairs.n_bytes)
    return digest


def share_again(visitor: str, view: ViewState, sheet: Table) -> PairColumns | None:
    """Return the columns of a file if it is the one that a view names, and share them again.

    A view names columns by position, so they are known only for a file that was just uploaded.
    """
    columns = chosen_columns(sheet, PAIR_COLUMNS.of(view))
    for triplets in (True, False):
        try:
            pairs = pairs_from(sheet, columns, triplets=triplets)
        except CorpusError:
            continue
        if pairs.key[:32] == PAIRS.of(view):
            uploads.keep_shared(visitor, PAIRS.of(view), pairs, pairs.n_bytes)
            return columns
    return None
