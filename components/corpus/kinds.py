"""What a column is likely to be, guessed from its name and values. Knows no file format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import fmean
from typing import Literal

__all__ = [
    "LABEL_NAMES",
    "N_LABELS",
    "TEXT_NAMES",
    "Kind",
    "guess_text_column",
    "is_number",
    "kind_of",
]

Kind = Literal["text", "label", "number", "empty", "many"]

N_LABELS = 50
"""Most different values that a column of labels has."""

TEXT_NAMES = (
    *("text", "texts", "sentence", "sentences", "content", "review", "body", "comment"),
    *("document", "tweet", "message", "abstract", "utterance", "question", "description"),
    *("headline", "title"),
)
"""Titles of columns that hold sentences, the likeliest first."""

LABEL_NAMES = (
    *("label", "labels", "class", "category", "target", "sentiment", "score", "rating", "stars"),
    *("topic", "split", "lang", "language", "source", "author", "user", "name", "date", "year"),
    *("id", "index", "word", "sense", "tag", "tags", "intent", "emotion"),
)
"""Other titles that tell a row of names from a row of values."""

_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?%?\s*", re.ASCII)
_N_NUMBERS = 20  # different numbers that may still be grades or classes
_SAMPLE = 1_000  # different values looked at closely
_CUT = 1_000  # characters of each


def is_number(text: str) -> bool:
    """Whether a text is a number, as a spreadsheet writes one: "12", "-0.5", "1e-3", "40%"."""
    return len(text) <= 400 and _NUMBER.fullmatch(text) is not None


def kind_of(cells: Sequence[str | None]) -> Kind:
    """What the values of a column look like.

    Returns:
        "empty" without any value, "text" for sentences, "number", "label" for few different
        values (numbers too), "many" for names and the like that hardly repeat.
    """
    different = [cell for cell in dict.fromkeys(cells) if cell and not cell.isspace()]
    if not different:
        return "empty"
    n_values = sum(1 for cell in cells if cell and not cell.isspace())
    if all(is_number(value) for value in islice(different, _SAMPLE)):
        few = len(different) <= min(_N_NUMBERS, max(2, n_values // 2))
        return "label" if few else "number"
    if _reads_like_text(different) and (
        len(different) > _N_NUMBERS or len(different) * 2 > n_values
    ):
        return "text"
    few = len(different) <= N_LABELS and (len(different) < n_values or n_values <= 2)
    return "label" if few else "many"


def _reads_like_text(different: Sequence[str]) -> bool:
    """Whether values are three words or more on average, or of a script without spaces."""
    sample = [value[:_CUT] for value in islice(different, _SAMPLE)]
    if sum(value.lstrip().startswith(("{", "[")) for value in sample) * 2 > len(sample):
        return False  # nested values, written as JSON
    joined = "".join(sample)
    foreign = len(joined) - len(joined.encode("ascii", "ignore"))
    if foreign * 2 > len(joined) and fmean(map(len, sample)) >= 8:
        return True
    return fmean(len(value.split()) for value in sample) >= 3


def guess_text_column(
    columns: Mapping[str, Sequence[str | None]], kinds: Mapping[str, Kind]
) -> str:
    """The column most likely to hold the sentences: by kind, then by title, then by length."""
    wanted: tuple[tuple[Kind, ...], ...] = (("text",), ("many", "label"), ("number",))
    for allowed in wanted:
        titles = [title for title in columns if kinds[title] in allowed]
        if titles:
            return min(titles, key=lambda title: (_rank(title), -_mean_length(columns[title])))
    return next(iter(columns), "")


def _rank(title: str) -> int:
    plain = title.strip().casefold()
    return TEXT_NAMES.index(plain) if plain in TEXT_NAMES else len(TEXT_NAMES)


def _mean_length(cells: Sequence[str | None]) -> float:
    return fmean([len(cell) for cell in islice(filter(None, cells), _SAMPLE)] or [0])
