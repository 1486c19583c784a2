"""The label column of a file of pairs: two kinds, graded scores, or names that a visitor sorts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.corpus.sheet import Cells, is_number, named
from contextlens.features.pairs.measures import DIFFERENT, SAME, UNKNOWN

_SAME_WORDS = {"1", "1.0", "t", "true", "y", "yes", "same", "identical", "equal", "match"}
_DIFFERENT_WORDS = {"0", "0.0", "f", "false", "n", "no", "different", "diff", "other", "distinct"}
_KNOWN = {**dict.fromkeys(_SAME_WORDS, SAME), **dict.fromkeys(_DIFFERENT_WORDS, DIFFERENT)}

LEFT_OUT = "-"
MEANINGS = {"1": SAME, "0": DIFFERENT, LEFT_OUT: UNKNOWN}
"""A label's meaning as an address writes it: same, different, or left out."""
_USUAL = {"entailment": "1", "paraphrase": "1", "duplicate": "1", "contradiction": "0"} | {
    word: str(kind) for word, kind in _KNOWN.items()
}
_MOST_NAMES = 12  # different labels that are offered with a menu each
_MOST_OTHERS = 0.1  # the share of labels among scores that may be no numbers
_LARGEST = 1e12


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


def plain(cell: str | None) -> str:
    """Return a cell without surrounding white space, in lower case; "" for a missing one."""
    return (cell or "").strip().casefold()


def is_two_way(cells: Cells) -> bool:
    """True if cells say same or different, and both occur."""
    values = {plain(cell) for cell in set(cells)} - {""}
    return len(values) == 2 and len(values & _SAME_WORDS) == len(values & _DIFFERENT_WORDS) == 1


def is_grade(cells: Cells) -> bool:
    """True if cells are numbers with decimals: "1.8"."""
    given = [cell for cell in cells if cell and not cell.isspace()]
    return any("." in cell for cell in given) and all(map(is_number, given))


def names_of(cells: Cells) -> tuple[str, ...]:
    """Return the different labels in alphabetical order if their meaning must be chosen.

    There are none if labels say same and different themselves, are numbers with decimals, or are
    too many for a menu each. Whole numbers may be scores or kinds.
    """
    values = {plain(cell) for cell in set(cells)} - {""}
    if values <= set(_KNOWN) or len(values) > _MOST_NAMES:
        return ()
    if can_be_scores(cells) and any((_score(value) or 0.0) % 1 for value in values):
        return ()
    return tuple(sorted(values))


def can_be_scores(cells: Cells) -> bool:
    """True if labels are three different numbers or more, and hardly anything else."""
    counts = Counter(map(plain, cells))
    counts.pop("", None)
    if set(counts) <= set(_KNOWN):
        return False
    numbers = {value: number for value in counts if (number := _score(value)) is not None}
    others = sum(n for value, n in counts.items() if value not in numbers)
    return len(set(numbers.values())) > 2 and others <= _MOST_OTHERS * counts.total()


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
    values = [plain(cells[row]) for row in rows]
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
        return _scores(values, title)
    if set(counts) - set(known):
        return Labels([UNKNOWN] * len(rows), None, (_odd_labels(title, counts),))
    notes: tuple[str, ...] = ()
    if n_missing:
        has = "pair has" if n_missing == 1 else "pairs have"
        notes = (f"{n_missing:,} {has} no label: a cosine and no verdict on it.",)
    return Labels([known.get(value, UNKNOWN) for value in values], None, notes)


def _scores(values: Sequence[str], title: str) -> Labels:
    numbers = [_score(value) for value in values]
    n_missing = numbers.count(None)
    notes: tuple[str, ...] = ()
    if n_missing:
        has = "pair has" if n_missing == 1 else "pairs have"
        notes = (f"{n_missing:,} {has} no number in {named(title)}: a cosine and no score.",)
    grades = [math.nan if number is None else number for number in numbers]
    return Labels([UNKNOWN] * len(values), grades, notes)


def _score(text: str) -> float | None:
    """Return a number as files write it, with a decimal comma too; None for other texts."""
    text = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    if not is_number(text):
        return None
    number = float(text.rstrip("%"))
    return number if abs(number) <= _LARGEST else None


def _odd_labels(title: str, counts: Counter[str]) -> str:
    examples = ", ".join(f"“{named(value)}”" for value, _ in counts.most_common(4))
    more = ", …" if len(counts) > 4 else ""
    kinds = "one kind" if len(counts) == 1 else f"{len(counts):,} kinds"
    remedy = (
        "Choose under Columns which of them mean same and different."
        if len(counts) <= _MOST_NAMES
        else "Write same and different, 1 and 0, or T and F; or a number for each pair."
    )
    return (
        f"Labels in {named(title)} are of {kinds} ({examples}{more}), so the pairs are shown "
        f"without them. {remedy}"
    )
