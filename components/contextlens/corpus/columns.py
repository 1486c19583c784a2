"""Label columns of a file that hold numbers or dates, as numbers that can colour a map."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from contextlens.core.schema import FloatArray

__all__ = ["MAX_KINDS", "date_of", "kind_of_column", "numbers_of"]

ColumnKind = Literal["category", "number", "date"]
MAX_KINDS = 12
"""Numbers with at most this many different values, such as ratings, are categories."""
_MISSING = {"", "nan", "na", "n/a", "none", "null", "nat", "-", "?"}
_DAY = 86_400.0
_FORMATS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")


def kind_of_column(labels: Sequence[str]) -> ColumnKind:
    """Return what a column's labels are; numbers or dates only if all that are given can be read.

    Dates that could be day or month first throughout stay categories.
    """
    values = sorted(_given(labels))
    if len(values) < 2:
        return "category"
    if all(_number(value) is not None for value in values):
        return "number" if len(values) > MAX_KINDS else "category"
    return "category" if _reader_of(values) is None else "date"


def numbers_of(labels: Sequence[str], kind: ColumnKind) -> FloatArray:
    """(n,) float32: numbers, or days since 1970 for dates; NaN where there is none."""
    read = _number if kind == "number" else _reader_of(sorted(_given(labels)))
    if read is None:
        raise ValueError(f"these labels are no column of kind {kind!r}")
    known = {label: read(label.strip()) for label in set(labels) if not _is_missing(label)}
    numbers = [known.get(label) for label in labels]
    return np.array([math.nan if n is None else n for n in numbers], dtype=np.float32)


def date_of(days: float) -> str:
    """A day since 1970 as "2024-05-31"."""
    return datetime.fromtimestamp(round(days) * _DAY, UTC).date().isoformat()


def _given(labels: Sequence[str]) -> set[str]:
    return {label.strip() for label in set(labels) if not _is_missing(label)}


def _is_missing(label: str) -> bool:
    return label.strip().casefold() in _MISSING


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e30 else None  # float32 holds no more


def _reader_of(values: Sequence[str]) -> Callable[[str], float | None] | None:
    """A function that reads all of these as days since 1970; None if none does, or two differ."""
    readers: list[Callable[[str], float | None]] = [_iso, *map(_by_format, _FORMATS)]
    fitting = [read for read in readers if all(read(value) is not None for value in values)]
    days = {tuple(read(value) for value in values) for read in fitting}
    return fitting[0] if len(days) == 1 else None


def _iso(text: str) -> float | None:
    try:
        return _days(datetime.fromisoformat(text)) if not text.isdigit() else None
    except ValueError:
        return None


def _by_format(form: str) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        try:
            return _days(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            return None

    return read


def _days(moment: datetime) -> float:
    known = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return known.timestamp() / _DAY
