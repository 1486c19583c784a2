"""The names of a table's columns, and the rows of titles that other programs write around them.

A report begins with lines such as "Survey of guests 2026" above the table, and survey tools write
the question, and what it is, below the names. `delimited` reads the rows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from contextlens.core.words import split_words
from contextlens.corpus.table import LABEL_NAMES, TEXT_NAMES, is_number, named

__all__ = [
    "GUESSED_TITLES",
    "NO_TITLE_ROWS",
    "TitleRows",
    "has_header",
    "is_surely_header",
    "is_titled",
    "title_rows",
]

GUESSED_TITLES = "The first row was taken for the names of the columns, guessed."
"""The note on titles of which nothing is sure."""

_KNOWN = frozenset((*TEXT_NAMES, *LABEL_NAMES))
_MAX_NAME_LENGTH = 60
_MAX_ABOVE = 20  # rows of titles above the names of columns
_N_BELOW = 2  # rows of a survey tool below them
_IMPORT = "ImportId"  # Qualtrics' key
_QUESTION = "QID"  # begins the value of that key where a person answers
_FILLED = frozenset((
    *("StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)"),
    *("Finished", "RecordedDate", "ResponseId", "ResponseID", "ResponseSet", "RecipientLastName"),
    *("RecipientFirstName", "RecipientEmail", "ExternalReference", "ExternalDataReference"),
    *("LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage"),
))  # fmt: skip
"""The columns that Qualtrics fills."""
_TOOLS = {
    "Qualtrics": _FILLED,
    "LimeSurvey": frozenset((
        *("Response ID", "Date submitted", "Last page", "Start language", "Seed", "Date started"),
        *("Date last action", "IP address", "Referrer URL", "id", "submitdate", "lastpage"),
        *("startlanguage", "seed", "startdate", "datestamp", "ipaddr", "refurl"),
    )),
    "SurveyMonkey": frozenset((
        *("Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address", "Custom Data 1"),
        *("Email Address", "First Name", "Last Name"),
    )),
}  # fmt: skip
"""The columns that survey tools fill, not a person."""
_N_KNOWN = 4  # of them prove the tool
_QUESTION_NAME = re.compile(r"Q(?:ID)?\d+(?:[._#][\w.]+)*")
_NUMBERED_NAME = re.compile(r"[VQ]\d+(?:[._#][\w.]+)*")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T,].{0,30})?", re.ASCII)
_ANSWERS = frozenset(("Response", "Open-Ended Response"))  # as SurveyMonkey says what follows


@dataclass(frozen=True)
class TitleRows:
    """The rows of titles around the names of a table's columns.

    Attributes:
        above: the rows above the names, without blank ones.
        below: the rows below the names.
        metadata: the places of columns that a survey tool fills, not a person.
        tool: what wrote the rows; "" if there are none.
    """

    above: tuple[tuple[str, ...], ...] = ()
    below: tuple[tuple[str, ...], ...] = ()
    metadata: frozenset[int] = frozenset()
    tool: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of rows that are left out, and what they say."""
        sides = {"above": self.above, "below": self.below}
        notes = []
        for side, rows in sides.items():
            if rows:
                count = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
                listed = ", ".join(f"“{named(_first(row))}”" for row in rows[:3])
                more = ", …" if len(rows) > 3 else ""
                was = "was" if len(rows) == 1 else "were"
                notes.append(
                    f"{count} {side} the names of the columns {was} left out, guessed: "
                    f"{listed}{more}."
                )
        return tuple(notes)


NO_TITLE_ROWS = TitleRows()


def title_rows(rows: list[list[str]]) -> TitleRows:
    """Return the rows of titles at the beginning of a table.

    Args:
        rows: the table's first rows, without blank ones.
    """
    n_above = _n_above(rows)
    below, metadata, tool = _survey(rows[n_above:])
    return TitleRows(
        tuple(map(tuple, rows[:n_above])),
        tuple(map(tuple, below)),
        metadata,
        tool or ("a table with lines above it" if n_above else ""),
    )


def _n_above(rows: list[list[str]]) -> int:
    """Return the number of rows above the names: at most half full, where the others are full."""
    if len(rows) < 3:
        return 0
    width = Counter(map(_n_filled, rows)).most_common(1)[0][0]
    n = next((i for i, row in enumerate(rows) if 2 * _n_filled(row) > width), 0)
    if not 0 < n <= min(_MAX_ABOVE, len(rows) - 2) or width < 2:
        return 0
    rest = rows[n:]
    if _n_filled(rest[0]) < width or max(map(len, rows[:n])) > max(map(len, rest)):
        return 0
    if is_surely_header(rest):
        return n
    is_known = any(map(_is_known, (cell.strip() for row in rows[:n] for cell in row)))
    return n if width > 2 and not is_known and has_header(rest) else 0


def _survey(rows: list[list[str]]) -> tuple[list[list[str]], frozenset[int], str]:
    """Return a survey tool's rows below the names, its own columns, and its name."""
    for n, row in enumerate(rows[1 : _N_BELOW + 1], start=1):
        imports = [_import_of(cell) for cell in row]
        if any(imports) and all(own for own, cell in zip(imports, row, strict=True) if cell):
            own = {i for i, value in enumerate(imports) if not value.startswith(_QUESTION)}
            return rows[1 : n + 1], frozenset(own), "Qualtrics"
    if found := _without_imports(rows):
        return rows[1:2], found - {-1}, "Qualtrics"
    if len(rows) > 1 and len(rows[1]) > 1 and not _ANSWERS.isdisjoint(map(str.strip, rows[1])):
        blank = {i for i, cell in enumerate(rows[1]) if not cell.strip()}
        if blank and 0 in blank:
            return rows[1:2], frozenset(blank), "SurveyMonkey"
    names = [cell.strip() for cell in rows[0]] if rows else []
    for tool, known in _TOOLS.items():
        own = {i for i, name in enumerate(names) if name in known}
        if len(own) >= _N_KNOWN and len(rows) > 1 and len(own) < len(names):
            return [], frozenset(own), tool
    return [], frozenset(), ""


def _without_imports(rows: list[list[str]]) -> frozenset[int]:
    """Return the places that Qualtrics fills if a row of questions follows the names, and -1.

    That is so if such a column has a title in the row and a value in the next one, or if columns
    are named by their questions only ("Q1", "Q2_1") and the row asks. Otherwise it is empty.
    """
    if len(rows) < 3 or len(rows[0]) != len(rows[1]):
        return frozenset()
    names = [cell.strip() for cell in rows[0]]
    numbered = all(map(_NUMBERED_NAME.fullmatch, names))  # "V1", with the names below
    own = {i for i, name in enumerate(rows[1] if numbered else names) if name.strip() in _FILLED}
    dated = [
        i for i in own
        if len(rows[2]) > i and _is_figure(rows[2][i]) and not _is_figure(rows[1][i])
    ]  # fmt: skip
    asked = [cell.strip() for cell in rows[1]]
    if len(own) > 2 and dated:
        return frozenset((*own, -1))
    are_questions = all(map(_QUESTION_NAME.fullmatch, names)) and all(asked)
    later = {cell.strip() for row in rows[2:] for cell in row}
    if are_questions and any(cell.endswith(("?", ":")) for cell in asked) and later.isdisjoint(
        asked
    ):  # fmt: skip
        return frozenset((-1,))
    return frozenset()


def _import_of(cell: str) -> str:
    """Return the value of Qualtrics' key in a cell; "" for other cells."""
    if _IMPORT not in cell:
        return ""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return ""
    return str(value.get(_IMPORT, "")) if isinstance(value, dict) else ""


def _n_filled(row: Sequence[str]) -> int:
    return sum(map(bool, map(str.strip, row)))


def _first(row: Sequence[str]) -> str:
    if any(map(_import_of, row)):
        return _IMPORT
    return next((cell.strip() for cell in row if cell.strip()), "")


def _is_figure(cell: str) -> bool:
    return is_number(cell) or _DATE.fullmatch(cell.strip()) is not None


def is_titled(rows: list[list[str]]) -> bool:
    """True if a cell of the first row is a common title."""
    return bool(rows) and any(name.strip().casefold() in _KNOWN for name in rows[0])


def has_header(rows: list[list[str]]) -> bool:
    """True if the first row likely holds the names of the columns."""
    first = [name.strip() for name in rows[0]]
    if is_surely_header(rows):
        return True
    if len(rows) == 1 or any(is_number(name) for name in first):
        return False
    given = [name for name in first if name]
    if len(set(given)) < len(given) or any(map(_is_prose, given)):
        return False
    if len(first) == 1:
        return _is_lone_title(first[0], [row[0].strip() for row in rows[1:]])
    columns = zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True)
    return not any(
        name and name in map(str.strip, cells) for name, cells in zip(first, columns, strict=False)
    )


def _is_lone_title(name: str, values: Sequence[str]) -> bool:
    """True if the first value of a single column is its title: a word that does not recur.

    Without spaces, a title is much shorter than the texts, as a Chinese one is.
    """
    if " " in name or name in values or not any(map(str.isalnum, name)):
        return False
    n_words = len(split_words(name))
    is_short = name.isascii() or n_words < 3
    return is_short or 2 * n_words < fmean(len(split_words(value)) for value in values)


def is_surely_header(rows: list[list[str]]) -> bool:
    """True if the first row has a common title, stands above figures, or counts columns."""
    first = [name.strip() for name in rows[0]]
    if any(_is_known(name) for name in first) and not any(map(_is_prose, first)):
        return True
    if len(rows) == 1 or len(first) == 1:
        return False
    if [name for name in first if name] == [str(i) for i in range(len(first) - (not first[0]))]:
        return True  # as pandas titles columns without a title
    if any(map(_is_figure, first)):
        return False
    columns = list(zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True))
    return any(all(map(_is_figure, cells)) for cells in columns)


def _is_known(name: str) -> bool:
    """True for a common title such as "text", and for "Review text" too."""
    words = name.replace("_", " ").casefold().split()
    return name.casefold() in _KNOWN or (len(words) == 2 and not _KNOWN.isdisjoint(words))


def _is_prose(name: str) -> bool:
    return (
        len(name) > _MAX_NAME_LENGTH
        or len(name.split()) > 5
        or name.endswith((".", "!", "…", "。"))
    )
