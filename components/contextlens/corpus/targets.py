"""The marked word of each text in a file: by characters, white-space token, or the word itself.

A file marks the word in columns: `start` and `end` (characters; the end is the first one after the
word), `span` ("12-18", both in one), or `index` (the word's place among the text's white-space
tokens, from 0). A column `word` beside them is checked against the marked characters; alone, it
marks its only occurrence. This module knows no file format. It returns spans of the texts as a
corpus holds them, without surrounding white space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from contextlens.core.words import Span, find_words
from contextlens.corpus.offsets import CODE_POINTS, Unit, is_whole, unit_of
from contextlens.corpus.table import Cells, Table, counts_up, named, text_pair

__all__ = [
    "MarkColumns",
    "Targets",
    "example_of",
    "guess_marks",
    "label_columns",
    "targets_of",
    "titled_marks",
    "two_sides",
]

_NAMES: dict[str, tuple[str, ...]] = {
    "word": ("word", "target_word", "lemma", "keyword"),
    "start": ("start", "begin", "start_char", "char_start", "target_start"),
    "end": ("end", "stop", "end_char", "char_end", "target_end"),
    "span": ("span", "offsets", "char_span", "target_span"),
    "index": ("index", "idx", "token_index", "word_index", "target_index", "target_idx"),
}
"""Titles of the columns for each role, the likeliest first."""
_SIDES = {"": ("",), "1": ("1", "_1", "a", "_a"), "2": ("2", "_2", "b", "_b")}
_NUMBER = re.compile(r"\s*(\d{1,9})(?:\.0*)?\s*", re.ASCII)
_TWO = re.compile(r"\s*[\[(]?\s*(\d{1,9})\s*[-\u2013:,; ]\s*(\d{1,9})\s*[\])]?\s*", re.ASCII)
_TOKEN = re.compile(r"\S+")
_N_EXAMPLES = 5
_LONGEST = 30  # characters of a quotation
_FEWEST = 2  # letters that two forms of a word share at the start

_N_TRIED = 500  # rows that decide whether columns mark words
_MOST, _CLEARLY, _NEARLY_ALL = 0.5, 0.8, 0.9  # shares of them
_N_FORMS = 10  # rows from which words in other forms, such as "went" for "go", are told from errors
_N_SURE = 4  # rows from which columns without a usual title may mark words
_N_GLANCE = 12  # rows that rule most of these columns out
_N_NUMBERS, _N_WORDS = 20, 8  # the most such columns that are tried
_N_DISTINCT = 8  # whole numbers that all differ in so many rows or more are those of rows


@dataclass(frozen=True)
class MarkColumns:
    """The titles of the columns that mark a word; "" for missing ones."""

    word: str = ""
    start: str = ""
    end: str = ""
    span: str = ""
    index: str = ""

    def __bool__(self) -> bool:
        return any((self.word, self.start, self.span, self.index))

    @property
    def numbers(self) -> set[str]:
        """The columns that mark the place of a word."""
        return {self.start, self.end, self.span, self.index} - {""}

    @property
    def kinds(self) -> Iterator[MarkColumns]:
        """The kinds of marks among these columns: by characters, span, index, or the word alone."""
        if self.start:
            yield replace(self, span="", index="")
        if self.span:
            yield MarkColumns(word=self.word, span=self.span)
        if self.index:
            yield MarkColumns(word=self.word, index=self.index)
        if self.word:
            yield MarkColumns(word=self.word)


@dataclass(frozen=True, eq=False)
class Targets:
    """The marked word of each text.

    Attributes:
        spans: in code points of each text without surrounding white space; None if the word could
            not be placed.
        n_missed: the number of words that could not be placed.
        missed: the first of these, by row, with the reason.
        unit: the unit in which the file counts characters.
        n_cut: the number of marks by characters that do not cover whole words.
        cut: the first of these, by row, with what they cover.
    """

    spans: tuple[Span | None, ...]
    n_missed: int
    missed: tuple[tuple[int, str], ...]
    unit: Unit = CODE_POINTS
    n_cut: int = 0
    cut: tuple[tuple[int, str], ...] = ()

    @property
    def examples(self) -> tuple[str, ...]:
        """The first words that could not be placed, and the reasons, in a sentence each."""
        return tuple(f"Row {row + 1:,}: {why}" for row, why in self.missed)

    @property
    def notes(self) -> tuple[str, ...]:
        """The unit of the places if it is not the usual one, and the marks that cut words."""
        notes = []
        if self.unit is not CODE_POINTS:
            unit = self.unit.title
            notes.append(f"Places count {unit}: guessed, as they cover whole words so.")
        if self.n_cut:
            listed = ", ".join(f"{_quoted(word)} in row {row + 1:,}" for row, word in self.cut)
            more = ", …" if self.n_cut > len(self.cut) else ""
            covers = "1 mark covers" if self.n_cut == 1 else f"{self.n_cut:,} marks cover"
            notes.append(f"{covers} no whole words: {listed}{more}.")
        return tuple(notes)


# --- The columns that mark words


def guess_marks(sheet: Table, *texts: str) -> tuple[MarkColumns, ...]:
    """Return the columns that mark a word in each column of texts, all empty or all of one kind.

    Columns are found by their titles, and by their contents if these leave no doubt. Numbers are
    marks only if the `word` beside them agrees, or if they fit nearly every text, differ, and
    neither number the rows nor count time.

    Args:
        sheet: the file.
        texts: the titles of one column of texts, or of the two of a pair.
    """
    pair = text_pair(sheet)
    others = [title for title in sheet.columns if title not in (*texts, *pair)]
    shared = _titled(others)
    if len(texts) == 2:
        first, second = _titled(others, "1"), _titled(others, "2")
        shared = replace(shared, start="", end="")
        possible = [_of_one_side(first, second, shared), _of_one_side(second, first, shared)]
    else:
        own = _titled(others, "12"[pair.index(texts[0])]) if texts[0] in pair else shared
        possible = [_of_one_side(own, own, shared)]
    for kinds in zip(*(marks.kinds for marks in possible), strict=False):
        found = [
            _Sample(sheet, text, n).proved(marks, is_pair=len(texts) == 2)
            for n, (text, marks) in enumerate(zip(texts, kinds, strict=True))
        ]
        if all(found):
            return tuple(found)
    return _by_content(sheet, texts, others) or (MarkColumns(),) * len(texts)


def example_of(sheet: Table, text: str, marks: MarkColumns) -> tuple[int, str] | None:
    """Return the first row, from 1, whose word can be placed, and the word; None for none."""
    sample = _Sample(sheet, text)
    found = zip(sample.rows, sample.texts, sample.spans(marks), strict=True)
    return next(((row + 1, t.strip()[slice(*span)]) for row, t, span in found if span), None)


def titled_marks(sheet: Table) -> tuple[str, ...]:
    """Return the columns that are titled as if they marked the place of a word."""
    titles = list(sheet.columns)
    found = set[str]().union(*(_titled(titles, side).numbers for side in _SIDES))
    return tuple(title for title in titles if title in found)


def label_columns(sheet: Table) -> tuple[str, ...]:
    """Return the columns that are likely labels, without those that mark the places of words.

    A tool repeats each marked word in its export; in a data set the word is a label, too.
    """
    pair = text_pair(sheet)
    marks = guess_marks(sheet, *(pair if all(pair) else (sheet.text_column,)))
    taken = set[str]().union(*(marked.numbers for marked in marks))
    taken |= {marked.word for marked in marks if sheet.export}
    return tuple(title for title in sheet.label_columns if title not in taken)


def _titled(titles: Sequence[str], side: str = "") -> MarkColumns:
    """Return the columns that mark a word, by their titles.

    Args:
        titles: the titles of the file's columns.
        side: "1" or "2" for one text of a pair: `word1`, `start_a` and similar.
    """
    plain = {title.strip().casefold(): title for title in reversed(titles)}
    roles = {
        role: next(
            (plain[name + end] for name in names for end in _SIDES[side] if name + end in plain), ""
        )
        for role, names in _NAMES.items()
    }
    has_end = roles["start"] and (roles["end"] or roles["word"])
    return MarkColumns(**(roles if has_end else {**roles, "start": "", "end": ""}))


def _of_one_side(own: MarkColumns, other: MarkColumns, shared: MarkColumns) -> MarkColumns:
    """Return the marks of one text of a pair; a column that both share is not asked for two."""
    ends = own if own.start and other.start else shared
    return MarkColumns(
        own.word if own.word and other.word else shared.word,
        ends.start,
        ends.end,
        own.span if own.span and other.span else shared.span,
        own.index if own.index and other.index else shared.index,
    )


class _Sample:
    """The first rows of a file that have a text in one column, to try marks on."""

    def __init__(self, sheet: Table, text: str, side: int = 0, n: int = _N_TRIED) -> None:
        cells = sheet.columns[text]
        filled = (i for i, cell in enumerate(cells) if cell and not cell.isspace())
        self.rows = list(islice(filled, n))
        self.texts = [cells[i] or "" for i in self.rows]
        self._sheet, self._side = sheet, side

    def cells(self, title: str) -> Cells:
        """The cells of a column; of two numbers ("3-5") the one for this text."""
        cells = {title: tuple(self._sheet.columns[title][i] for i in self.rows)}
        return two_sides(cells, title)[self._side]

    def spans(self, marks: MarkColumns) -> tuple[Span | None, ...]:
        """The marked word of each text, if it can be placed."""
        columns = {title: self.cells(title) for title in {marks.word, *marks.numbers} - {""}}
        if marks.span:
            columns[marks.span] = tuple(self._sheet.columns[marks.span][i] for i in self.rows)
        return targets_of(columns, self.texts, marks).spans

    def share(self, marks: MarkColumns) -> float:
        """The share of the texts with a mark whose marked word is a whole word of the text."""
        pairs = zip(self.texts, self.spans(marks), strict=True)
        n_whole = sum(span is not None and is_whole(text.strip(), span) for text, span in pairs)
        n_marked = len(self.texts)
        if marks.start or marks.span:  # a tool leaves texts unmarked
            cells = self._sheet.columns[marks.start or marks.span]
            n_marked = sum(1 for row in self.rows if cells[row])
        return n_whole / max(1, n_marked)

    def proved(self, marks: MarkColumns, *, is_pair: bool = False) -> MarkColumns:
        """Return marks of one kind if the texts bear them out, or no marks.

        The word is left out if it is not needed as a check: its other forms would lose rows.
        Places titled for each text of a pair may all be equal, as in sentences of one pattern.
        """
        if not marks.numbers:
            return marks if self.share(marks) >= _MOST else MarkColumns()
        alone = self.share(replace(marks, word=""))
        agreed = self.share(marks) if marks.word else 0.0
        if agreed >= _MOST:
            is_form = agreed >= _CLEARLY and len(self.texts) >= _N_FORMS
            return replace(marks, word="") if is_form and alone > agreed else marks
        doubtful = marks.index and (marks.word or self._numbers_rows(marks.index))
        doubtful = doubtful or self._is_time(marks)
        doubtful = doubtful or not (is_pair or self.vary(marks, unless_one_word=True))
        return replace(marks, word="") if alone >= _NEARLY_ALL and not doubtful else MarkColumns()

    def vary(self, marks: MarkColumns, *, unless_one_word: bool = False) -> bool:
        """True if places differ and cover words with letters; numbers of versions do neither.

        Args:
            marks: the columns of the places.
            unless_one_word: True if all may be equal in few rows, or where they cover one word.
        """
        pairs = zip(self.texts, self.spans(marks), strict=True)
        words = [text.strip()[slice(*span)].casefold() for text, span in pairs if span]
        n_lettered = sum(any(map(str.isalpha, word)) for word in words)
        if not words or n_lettered < _NEARLY_ALL * len(words):
            return False
        columns = [self.cells(title) for title in sorted(marks.numbers)]
        if unless_one_word:
            is_sure = len(words) >= _N_SURE and len(set(words)) > 1
            return not is_sure or len(set(zip(*columns, strict=True))) > 1
        return len(words) >= _N_SURE and all(
            len(set(cells)) > 1 and not counts_up(cells) for cells in columns
        )

    def _is_time(self, marks: MarkColumns) -> bool:
        """True if each start is behind the end before it, as times are that are no places."""
        if not marks.end or len(self.rows) < _N_SURE:
            return False
        matches = [
            [_NUMBER.fullmatch(cell or "") for cell in self.cells(title)]
            for title in (marks.start, marks.end)
        ]
        starts, ends = ([int(match[1]) for match in column if match] for column in matches)
        return all(a >= b for a, b in zip(starts[1:], ends, strict=False))

    def _numbers_rows(self, title: str) -> bool:
        """True if a column numbers the rows, in their order or in any other."""
        cells = self.cells(title)
        numbers = {int(match[1]) for cell in cells if (match := _NUMBER.fullmatch(cell or ""))}
        if len(numbers) < len(cells):
            return counts_up(cells)
        first = min(numbers)
        in_a_row = first < 2 and max(numbers) - first == len(numbers) - 1
        return in_a_row or len(numbers) >= _N_DISTINCT or counts_up(cells)


def _by_content(
    sheet: Table, texts: Sequence[str], others: Sequence[str]
) -> tuple[MarkColumns, ...]:
    """Return marks in columns without usual titles, as in WiC, if nearly every text agrees."""
    glances, samples = (
        [_Sample(sheet, text, side, n_rows) for side, text in enumerate(texts)]
        for n_rows in (_N_GLANCE, _N_TRIED)
    )
    if min(len(sample.texts) for sample in samples) < _N_SURE:
        return ()

    def agree(marks: Sequence[MarkColumns], least: float) -> bool:
        return all(
            sample.share(own) >= share
            for some, share in ((glances, _MOST), (samples, least))
            for sample, own in zip(some, marks, strict=True)
        )

    heads = {title: sheet.columns[title][:_N_TRIED] for title in others}
    numbers = [title for title in others if _all_match(_NUMBER, heads[title])][:_N_NUMBERS]
    twice = [title for title in others if _all_match(_TWO, heads[title])][:_N_NUMBERS]
    words = [
        title
        for title in others
        if title not in {*numbers, *twice} and sheet.kinds[title] in {"many", "label"}
    ]
    n = len(texts)
    for run in _runs(sheet, numbers, 2 * n):
        ends = [MarkColumns(start=run[2 * i], end=run[2 * i + 1]) for i in range(n)]
        if agree(ends, _NEARLY_ALL) and all(map(_Sample.vary, samples, ends)):
            return tuple(ends)
    for run in (*((title,) * n for title in twice), *_runs(sheet, numbers, n)):
        for word in words[:_N_WORDS]:
            marks = [MarkColumns(word=word, index=title) for title in run]
            if agree(marks, _CLEARLY):
                return tuple(map(_Sample.proved, samples, marks))
        if n == 1 and _marks_one_word(samples[0], run[0]):
            return (MarkColumns(index=run[0]),)
    return ()


def _all_match(pattern: re.Pattern[str], cells: Sequence[str | None]) -> bool:
    return any(cells) and all(pattern.fullmatch(cell) for cell in cells if cell)


def _runs(sheet: Table, titles: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """Yield every n of these columns that stand side by side."""
    every = list(sheet.columns)
    for i in range(len(every) - n + 1):
        run = tuple(every[i : i + n])
        if set(run) <= set(titles):
            yield run


def _marks_one_word(sample: _Sample, title: str) -> bool:
    """True if numbers, at least three, are places of one word: as files of one word's senses do."""
    marks = MarkColumns(index=title)
    spans = sample.spans(marks)
    if len(set(sample.cells(title))) < 3 or None in spans:
        return False
    covered = [
        text.strip()[slice(*span)].casefold()
        for text, span in zip(sample.texts, spans, strict=True)
        if span is not None
    ]
    word, _ = Counter(covered).most_common(1)[0]
    n_forms = sum(form.startswith(word) or word.startswith(form) for form in covered)
    return n_forms >= _NEARLY_ALL * len(covered)


def targets_of(
    columns: Mapping[str, Cells | Sequence[str | None]],
    texts: Sequence[str | None],
    marks: MarkColumns,
) -> Targets:
    """Return the word that each row of a file marks in its text.

    Args:
        columns: the file's columns, by title.
        texts: each row's text as in the file; blank texts mark nothing and are not counted.
        marks: the titles of the columns that mark a word.
    """
    marked = _Marked(columns, marks, len(texts))
    unit = marked.unit(texts)
    spans: list[Span | None] = []
    missed: list[tuple[int, str]] = []
    cut: list[tuple[int, str]] = []
    n_missed = n_cut = 0
    for row, text in enumerate(texts):
        span = marked.place(row, text, unit) if text and not text.isspace() else None
        if isinstance(span, str):
            n_missed += 1
            if len(missed) < _N_EXAMPLES:
                missed.append((row, span))
            span = None
        elif text and span and marked.is_by_characters(row) and not _are_words(text, span):
            n_cut += 1
            if len(cut) < _N_EXAMPLES:
                cut.append((row, text[slice(*span)]))
        spans.append(_without_edges(text, span) if text and span else None)
    return Targets(tuple(spans), n_missed, tuple(missed), unit, n_cut, tuple(cut))


def two_sides(
    columns: Mapping[str, Cells | Sequence[str | None]], title: str
) -> tuple[Cells, Cells]:
    """Split a column for both texts of a pair ("3-5") in two; a single number is for both."""
    both = [_TWO.fullmatch(cell or "") for cell in columns[title]]
    cells = columns[title]
    first = tuple(match[1] if match else cell for match, cell in zip(both, cells, strict=True))
    second = tuple(match[2] if match else cell for match, cell in zip(both, cells, strict=True))
    return first, second


_PlaceOrReason = Span | str
"""A place in a text, or the reason why there is none."""


class _Marked:
    """The marks of each row, of which the first kind that the row has counts."""

    def __init__(
        self,
        columns: Mapping[str, Cells | Sequence[str | None]],
        marks: MarkColumns,
        n_rows: int,
    ) -> None:
        none: Sequence[str | None] = (None,) * n_rows
        self._words, self._starts, self._ends, self._spans = (
            columns[title] if title else none
            for title in (marks.word, marks.start, marks.end, marks.span)
        )
        self._indices = two_sides(columns, marks.index)[0] if marks.index else none

    def is_by_characters(self, row: int) -> bool:
        """True if a row marks its word by characters."""
        return any((cells[row] or "").strip() for cells in (self._starts, self._spans))

    def unit(self, texts: Sequence[str | None]) -> Unit:
        """The unit of the places by characters."""
        words, given = [], []
        for row, text in enumerate(texts):
            place = self._given(row) if text else None
            if text and isinstance(place, tuple):
                words.append(self._word(row))
                given.append((text, place))

        def is_right(i: int, text: str, span: Span) -> bool:
            inside = 0 <= span[0] < span[1] <= len(text)
            return _agrees(text, span, words[i]) if inside and words[i] else is_whole(text, span)

        return unit_of(given, is_right)

    def place(self, row: int, text: str, unit: Unit) -> _PlaceOrReason:
        """The place of a row's word in code points, or the reason why there is none."""
        word, given = self._word(row), self._given(row)
        if given is not None:
            return _checked(text, word, given, unit)
        if index := (self._indices[row] or "").strip():
            return _of_index(text, word, index)
        return _only(text, word) if word else "no word is marked."

    def _word(self, row: int) -> str:
        return (self._words[row] or "").strip()

    def _given(self, row: int) -> _PlaceOrReason | None:
        """The place by characters as the file gives it; None if it gives none."""
        if start := (self._starts[row] or "").strip():
            return _of_ends(start, (self._ends[row] or "").strip(), self._word(row))
        if span := (self._spans[row] or "").strip():
            return _of_span(span)
        return None


def _of_ends(start: str, end: str, word: str) -> _PlaceOrReason:
    first, last = _number(start), _number(end)
    if first is None or (last is None and (end or not word)):
        wrong = start if first is None else end
        return f"{_quoted(wrong)} is no place: give a whole number of characters."
    return first, (first + len(word) if last is None else last)


def _of_span(span: str) -> _PlaceOrReason:
    match = _TWO.fullmatch(span)
    if match is None:
        return f"{_quoted(span)} is no span: write it as 12-18."
    return int(match[1]), int(match[2])


def _number(cell: str) -> int | None:
    match = _NUMBER.fullmatch(cell)
    return None if match is None else int(match[1])


def _checked(text: str, word: str, given: _PlaceOrReason, unit: Unit) -> _PlaceOrReason:
    """Return a place that lies in the text, is not blank and agrees with the word, or a reason."""
    if isinstance(given, str):
        return given
    place = start, end = unit.to_code_points(text, *given)
    said = f"characters {given[0]:,} to {given[1]:,}"
    if not 0 <= start < end <= len(text):
        return f"{said} are no place in this text, which has {len(text):,}."
    covered = text[start:end]
    if covered.isspace():
        return f"{said} cover no word."
    if word and not _agrees(text, place, word):
        return f"{said} cover {_quoted(covered)}, and the word is {_quoted(word)}."
    return place


def _are_words(text: str, span: Span) -> bool:
    """True if a place covers whole words, with or without white space around them."""
    covered = text[slice(*span)]
    lead = len(covered) - len(covered.lstrip())
    return is_whole(text, (span[0] + lead, span[0] + lead + len(covered.strip())))


def _of_index(text: str, word: str, index: str) -> _PlaceOrReason:
    number = _number(index)
    if number is None:
        return f"{_quoted(index)} is no index: give a whole number from 0."
    token = next(islice(_TOKEN.finditer(text), number, None), None)
    if token is None:
        n = len(text.split())
        return f"there is no word {number:,} in this text, whose words are 0 to {n - 1:,}."
    start, end = token.span()
    if not word:
        return _inside(text, start, end)
    within = [place for place in _occurrences(text, word, start, end) if is_whole(text, place)]
    if within:
        return within[0]
    inner = _inside(text, start, end)
    if _agrees(text, inner, word):
        return inner
    return f"word {number:,} is {_quoted(token[0])}, and the word is {_quoted(word)}."


def _inside(text: str, start: int, end: int) -> Span:
    """Return a token without the punctuation around it, unless it is only punctuation."""
    first, last = start, end
    while first < last and not text[first].isalnum():
        first += 1
    while last > first and not text[last - 1].isalnum():
        last -= 1
    return (first, last) if first < last else (start, end)


def _agrees(text: str, place: Span, word: str) -> bool:
    """True if a place holds a word, or another form of it if the word is not in the text.

    Files often give the dictionary form: "carry" for "carries".
    """
    covered, wanted = text[slice(*place)].casefold(), word.casefold()
    if covered == wanted:
        return True
    shared = next(
        (i for i, (a, b) in enumerate(zip(covered, wanted, strict=False)) if a != b),
        min(len(covered), len(wanted)),
    )
    is_form = shared >= _FEWEST and 2 * shared >= min(len(covered), len(wanted))
    return is_form and is_whole(text, place) and not list(islice(_whole(text, word), 1))


def _only(text: str, word: str) -> _PlaceOrReason:
    places = list(islice(_whole(text, word), 2))
    if len(places) == 1:
        return places[0]
    if places:
        return f"{_quoted(word)} stands there more than once, and no place is given."
    return f"{_quoted(word)} is not a word of this text."


def _whole(text: str, word: str) -> Iterator[Span]:
    """Yield the spans of a word or phrase between word boundaries, ignoring case."""
    if len(text.casefold()) != len(text) or len(word.casefold()) != len(word):
        return iter(find_words(text, word))
    return (place for place in _occurrences(text, word) if is_whole(text, place))


def _occurrences(text: str, word: str, low: int = 0, high: int | None = None) -> Iterator[Span]:
    """Yield the spans of a word, ignoring case, even inside longer words."""
    folded, wanted = text.casefold(), word.casefold()
    if len(folded) != len(text):
        return
    at = folded.find(wanted, low, high)
    while at >= 0:
        yield at, at + len(wanted)
        at = folded.find(wanted, at + 1, high)


def _without_edges(text: str, span: _PlaceOrReason) -> Span | None:
    """Return a span as counted in the text without surrounding white space, or None."""
    if isinstance(span, str):
        return None
    lead = len(text) - len(text.lstrip())
    end = min(span[1] - lead, len(text.strip()))
    start = max(span[0] - lead, 0)
    return (start, end) if start < end else None


def _quoted(text: str) -> str:
    return f"“{named(text) if len(text) <= _LONGEST else named(text[: _LONGEST - 1]) + '…'}”"
