"""What the majority of a text's annotators say, from a table with a row for each annotation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from contextlens.core.errors import CorpusError
from contextlens.corpus.exports.records import APART, MARK_TITLES, PERSON
from contextlens.corpus.label_cells import have_several
from contextlens.corpus.table import Table, named

__all__ = ["by_majority"]

_N_NAMED = 3  # texts in a note
_LONGEST = 40  # characters of each
_UNMARKED = ("",)  # the vote of a person who did not mark a place
_NONE = ("", "")  # no vote is that of more than half
_MAJORITY = "Each text has what more than half of the answers on it say; equal texts are one text."
_NO_VECTORS = "The file's vectors were left out: each belongs to one annotation of a text."
_Row = Mapping[str, str | None]
_People = Mapping[str | None, Sequence[_Row]]
_Vote = tuple[str, ...]


def by_majority(table: Table) -> Table:
    """Return the table with the majority's answers; what has no majority is left out and counted.

    Equal texts are one text. An answer on a text needs more than half of those given, a mark more
    than half of the text's annotators. Of several labels in a cell, each needs it for itself.

    Raises:
        CorpusError: no text is left.
    """
    votes = _Votes(table)
    found = [row for text, people in votes.texts.items() for row in votes.rows(text, people)]
    if not found:
        raise CorpusError(
            f"{named(table.name)} has no text whose annotators agree for the most part. Keep their "
            "annotations apart."
        )
    titles = [title for title in table.columns if title != table.annotator]
    columns = {title: tuple(row.get(title) for row in found) for title in titles}
    kept = tuple(n for n in table.notes if not n.endswith(APART) and PERSON not in n)
    notes = (*kept, *votes.notes, *(_NO_VECTORS,) * bool(table.vectors))
    columns_of = MappingProxyType(columns)
    return replace(
        table,
        columns=columns_of,
        notes=notes,
        annotators="by majority",
        annotator="",
        vectors=(),
    )


class _Votes:
    """The annotations of a table by text and by person, and a count of what has no majority."""

    def __init__(self, table: Table) -> None:
        self._text = table.text_column
        self._has_marks = table.has_marks
        self._of_mark = MARK_TITLES if self._has_marks else ()
        taken = {*self._of_mark, table.annotator, self._text}
        self._titles = [title for title in table.columns if title not in taken]
        self.texts: dict[str | None, dict[str | None, list[_Row]]] = {}
        for cells in zip(*table.columns.values(), strict=True):
            row = dict(zip(table.columns, cells, strict=True))
            people = self.texts.setdefault(row[self._text], {})
            people.setdefault(row.get(table.annotator), []).append(row)
        self._disputed = {t for people in self.texts.values() for t in self._differing(people)}
        self._of_marks = [t for t in self._titles if self._has_marks and self._is_of_marks(t)]
        whole = [title for title in self._titles if title not in self._of_marks]
        self._n_dropped = {t: 0 for t in whole if have_several(table.columns[t])}
        self._commas = {t: _comma(table.columns[t]) for t in self._n_dropped}
        self._n_ties: Counter[str] = Counter()
        self._tied: list[str] = []
        self._n_tied_marks = self._n_unmarked = 0

    def _differing(self, people: _People) -> Iterator[str]:
        rows = [row for own in people.values() for row in own]
        if len(rows) > 1:
            yield from (t for t in self._titles if len({row[t] for row in rows} - {None}) > 1)

    def _is_of_marks(self, title: str) -> bool:
        """True if one person's rows of one text differ under a title."""
        return title in self._disputed and any(
            len({row[title] for row in own}) > 1
            for people in self.texts.values()
            for own in people.values()
        )

    def rows(self, text: str | None, people: _People) -> Iterator[_Row]:
        """Yield a row for each mark of a text, or one row; none if nothing of it has a majority."""
        marks = list(self._marks(people)) if self._has_marks else []
        titles = [title for title in self._titles if title not in self._of_marks]
        cells = {title: self._chosen(people, title) for title in titles}
        ties = [title for title, vote in cells.items() if vote == _NONE]
        if ties and not marks and len(ties) == len(self._disputed.intersection(titles)):
            self._tied.append(text or "")
            return
        self._n_ties.update(ties)
        row = {t: _cell(people, t, vote, self._commas.get(t, ",")) for t, vote in cells.items()}
        for mark in marks or [dict.fromkeys(self._of_mark)]:
            yield {self._text: text, **mark, **row}

    def _chosen(self, people: _People, title: str) -> _Vote:
        """Return the majority's vote under a title, or each label that has one."""
        votes = _once(people, title)
        if title not in self._n_dropped:
            return _most(votes)
        counts = Counter(label for vote in votes for label in vote)
        kept = tuple(sorted(label for label, n in counts.items() if 2 * n > len(votes)))
        self._n_dropped[title] += len(counts) - len(kept) if kept else 0
        return kept or (_NONE if votes else ())

    def _marks(self, people: _People) -> Iterator[_Row]:
        """Yield the places that most people marked so."""
        places: dict[tuple[str | None, str | None], dict[str | None, list[_Row]]] = {}
        for person, own in people.items():
            for row in own:
                if row["start"] is not None:
                    place = places.setdefault((row["start"], row.get("end")), {})
                    place.setdefault(person, []).append(row)
        for marked in places.values():
            labels = [_vote(row.get("label") for row in own) for own in marked.values()]
            chosen = _most([*labels, *[_UNMARKED] * (len(people) - len(marked))])
            self._n_tied_marks += chosen == _NONE
            self._n_unmarked += chosen == _UNMARKED
            if chosen in {_NONE, _UNMARKED}:
                continue
            agreeing = {
                person: own
                for (person, own), label in zip(marked.items(), labels, strict=True)
                if label == chosen
            }
            first = next(iter(agreeing.values()))
            label = ",".join(dict.fromkeys(filter(None, (row.get("label") for row in first))))
            mark = {t: first[0].get(t) for t in MARK_TITLES} | {"label": label or None}
            more = {title: _most(_once(agreeing, title)) for title in self._of_marks}
            self._n_ties.update(title for title, vote in more.items() if vote == _NONE)
            yield {**mark, **{title: _cell(agreeing, title, v) for title, v in more.items()}}

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on what was joined, and on each kind of what was left out."""
        notes = [_MAJORITY]
        if n := len(self._tied):
            texts = "1 text was" if n == 1 else f"{n:,} texts were"
            listed = ", ".join(f"“{named(text[:_LONGEST])}”" for text in self._tied[:_N_NAMED])
            more = ", …" if n > _N_NAMED else ""
            notes.append(f"{texts} left out, as no answer has a majority: {listed}{more}.")
        for title, n in self._n_dropped.items():
            labels = "1 other was" if n == 1 else f"{n:,} others were"
            notes.append(
                f"“{named(title)}” has several labels in a cell: each was kept where more than "
                f"half of the answers have it{f', and {labels} left out' * bool(n)}."
            )
        for title, n in self._n_ties.items():
            times = "once" if n == 1 else f"{n:,} times"
            notes.append(f"“{named(title)}” was emptied {times}, as no answer has a majority.")
        if n := self._n_tied_marks:
            marks = "1 mark was" if n == 1 else f"{n:,} marks were"
            notes.append(f"{marks} left out: no answer on the place has a majority.")
        if n := self._n_unmarked:
            marks = "1 mark was" if n == 1 else f"{n:,} marks were"
            notes.append(f"{marks} left out: most annotators of the text did not mark the place.")
        return tuple(notes)


def _vote(cells: Iterable[str | None]) -> _Vote:
    """Return the labels in some cells, in one order; () for none."""
    return tuple(
        sorted({own for cell in cells if cell for part in cell.split(",") if (own := part.strip())})
    )


def _once(people: _People, title: str) -> list[_Vote]:
    """Return the votes under a title, equal ones of a person once."""
    votes = (dict.fromkeys(_vote([row[title]]) for row in own) for own in people.values())
    return [vote for own in votes for vote in own if vote]


def _most(votes: Sequence[_Vote]) -> _Vote:
    """Return the vote of more than half; `_NONE` if there is none, () without votes."""
    for vote, n in Counter(votes).most_common(1):
        return vote if 2 * n > len(votes) else _NONE
    return ()


def _comma(cells: Iterable[str | None]) -> str:
    """Return the commonest way in which cells separate labels: "," or ", "."""
    commas = Counter(comma for cell in cells if cell for comma in re.findall(r" *, *", cell))
    return max(commas, key=lambda comma: commas[comma], default=",")


def _cell(people: _People, title: str, vote: _Vote, comma: str = ",") -> str | None:
    """Return the cell of the first person with a vote, as it is written; or its labels."""
    cells = (row[title] for own in people.values() for row in own)
    labels = comma.join(filter(None, vote)) or None
    return next((cell for cell in cells if cell and _vote([cell]) == vote), labels)
