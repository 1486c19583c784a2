"""What cells of labels may hold beside one label: several of them, or one in another spelling.

Several labels in a cell ("joy,surprise") make as many classes as there are combinations. That a
cell holds several is guessed where their parts repeat in other combinations. This module changes
nothing by itself: a page shows the guess, and a click makes other columns.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = [
    "SeveralLabels",
    "SpeltApart",
    "have_several",
    "several_labels",
    "spelt_apart",
    "with_one_spelling",
    "with_yes_no_columns",
]

_SEPARATORS = ";|,\n/+"
_LIST = "["  # instead of a separator
_MAX_DIFFERENT = 5_000  # cells
_MAX_PARTS = 200  # columns
_MAX_CELL = 1_000  # characters
_MAX_PART = 40
_MAX_WORDS = 4  # of a part
_REPEAT = 0.8  # of the parts are also in other combinations
_N_SEVERAL = 2  # different cells with several labels


class Table(Protocol):
    """What this module reads of `contextlens.corpus.table.Table`."""

    @property
    def columns(self) -> Mapping[str, tuple[str | None, ...]]:
        """The cells of each column by title."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The likely kind of each column."""

    @property
    def text_column(self) -> str:
        """The column of texts."""

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that are likely labels."""

    @property
    def metadata(self) -> frozenset[str]:
        """The columns that a survey tool fills."""


Change = tuple[dict[str, tuple[str | None, ...]], str]
"""Other columns, and a note that says why."""


@dataclass(frozen=True)
class SeveralLabels:
    """A column whose cells hold several labels.

    Attributes:
        title: the column.
        separator: what stands between two labels; "[" for lists.
        labels: the different labels, the commonest first.
        row: the first row with several labels, from 1.
        example: the labels in it.
    """

    title: str
    separator: str
    labels: tuple[str, ...]
    row: int
    example: tuple[str, ...]


@dataclass(frozen=True)
class SpeltApart:
    """Labels of a column that differ in letter case or in spaces only.

    Attributes:
        title: the column.
        spellings: the spelling of each label in use, and the commonest one of it.
        row: the first row with another spelling than the commonest, from 1.
    """

    title: str
    spellings: Mapping[str, str]
    row: int

    @property
    def example(self) -> tuple[str, str]:
        """A spelling that is changed, and the commonest one."""
        return next((a, b) for a, b in self.spellings.items() if a.strip() != b)


# --- Several labels in a cell


def several_labels(table: Table) -> SeveralLabels | None:
    """Return the first column whose cells likely hold several labels; None if there is none."""
    for title, cells in table.columns.items():
        if title == table.text_column or table.kinds[title] in {"empty", "number"}:
            continue
        if title in table.metadata:
            continue
        counts = Counter(cell for cell in cells if cell and not cell.isspace())
        if len(counts) > _MAX_DIFFERENT or max(map(len, counts), default=0) > _MAX_CELL:
            continue
        separators = _LIST if all(c.lstrip().startswith("[") for c in counts) else _SEPARATORS
        for separator in separators:
            labels = _proved(counts, separator)
            if labels:
                row = next(
                    i for i, cell in enumerate(cells) if len(_parts(cell or "", separator)) > 1
                )
                example = _parts(cells[row] or "", separator)
                return SeveralLabels(title, separator, labels, row + 1, example)
    return None


def have_several(cells: Sequence[str | None]) -> bool:
    """True if cells likely hold several labels, with commas between them."""
    return bool(_proved(Counter(cell for cell in cells if cell and not cell.isspace()), ","))


def with_yes_no_columns(table: Table, found: SeveralLabels) -> Change:
    """Return the columns with a column of "yes" and "no" for each label, in place of the column.

    An empty cell stays empty in each.
    """
    cells = table.columns[found.title]
    parts = {cell: frozenset(_parts(cell, found.separator)) for cell in set(cells) if cell}
    blank = {cell for cell in parts if cell.isspace()}
    columns: dict[str, tuple[str | None, ...]] = {}
    for title, own in table.columns.items():
        if title != found.title:
            columns[title] = own
            continue
        for label in found.labels:
            name, number = f"{title}: {label}", 1
            while name in table.columns or name in columns:
                number += 1
                name = f"{title}: {label} ({number})"
            columns[name] = tuple(
                None if not cell or cell in blank else "yes" if label in parts[cell] else "no"
                for cell in cells
            )
    n = len(found.labels)
    return columns, f"{n:,} labels became columns of yes and no."


def _proved(counts: Mapping[str, int], separator: str) -> tuple[str, ...]:
    """Return the labels in cells if these repeat in other combinations, the commonest first."""
    if separator != _LIST and sum(separator in cell for cell in counts) < _N_SEVERAL:
        return ()
    rows = {cell: _parts(cell, separator) for cell in counts}
    several = {frozenset(parts) for parts in rows.values() if len(parts) > 1}
    n_of = Counter[str]()
    for cell, parts in rows.items():
        n_of.update(dict.fromkeys(parts, counts[cell]))
    if not 1 < len(n_of) <= _MAX_PARTS or not several:
        return ()
    if any(len(part) > _MAX_PART or len(part.split()) > _MAX_WORDS for part in n_of):
        return ()
    if separator != _LIST:
        combinations = Counter(
            part for parts in {frozenset(parts) for parts in rows.values()} for part in parts
        )
        shares = [combinations[part] > 1 for parts in several for part in parts]
        if len(several) < _N_SEVERAL or sum(shares) < _REPEAT * len(shares):
            return ()
        are_numbers = all(part.isdecimal() for part in n_of)
        if separator == "," and are_numbers and max(map(len, rows.values())) < 3:
            return ()  # decimals, as most of Europe writes them
    return tuple(label for label, _ in n_of.most_common())


def _parts(cell: str, separator: str) -> tuple[str, ...]:
    """Return the different labels in a cell, in their order."""
    if separator == _LIST:
        return tuple(dict.fromkeys(map(str, _list_in(cell))))
    return tuple(dict.fromkeys(filter(None, map(str.strip, cell.split(separator)))))


def _list_in(cell: str) -> Sequence[object]:
    """Return the list in a cell, as JSON or Python writes it; an empty one if it has none."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(cell.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, list) and all(isinstance(own, str | int) for own in value):
            return value
    return ()


# --- Labels in several spellings


def spelt_apart(table: Table) -> SpeltApart | None:
    """Return the first column of labels that differ in letter case or in spaces only, or None."""
    for title in table.label_columns:
        counts = Counter(cell for cell in table.columns[title] if cell and not cell.isspace())
        commonest: dict[str, str] = {}
        for cell, _ in counts.most_common():
            commonest.setdefault(_plain(cell), " ".join(cell.split()))
        spellings = {cell: commonest[_plain(cell)] for cell in counts}
        if any(cell.strip() != spelling for cell, spelling in spellings.items()):
            row = next(
                i for i, cell in enumerate(table.columns[title])
                if cell in spellings and cell.strip() != spellings[cell]
            )  # fmt: skip
            return SpeltApart(title, spellings, row + 1)
    return None


def with_one_spelling(table: Table, found: SpeltApart) -> Change:
    """Return the columns with the commonest spelling of each label of a column."""
    cells = tuple(found.spellings.get(cell or "", cell) for cell in table.columns[found.title])
    n = sum(
        bool(old) and old.strip() != new
        for old, new in zip(table.columns[found.title], cells, strict=True)
        if old
    )
    cells_were = "1 label was" if n == 1 else f"{n:,} labels were"
    note = f"{cells_were} written as the commonest spelling: letter case and spaces differed."
    return {**table.columns, found.title: cells}, note


def _plain(label: str) -> str:
    return " ".join(label.casefold().split())
