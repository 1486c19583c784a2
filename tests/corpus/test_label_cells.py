"""Several labels in a cell, and one label in several spellings."""

from __future__ import annotations

import json

import pytest

from contextlens.corpus.label_cells import with_one_spelling, with_yes_no_columns
from contextlens.corpus.table import Table, table_of

TEXTS = (
    *("The soup was cold and late", "They sang on the stairs", "We missed the last ferry"),
    *("My bike was stolen again", "The garden is full of bees", "Rain came through the roof"),
)
LABELS = [["food", "time"], ["music"], ["time"], ["theft"], ["music", "garden"], ["garden", "food"]]


def table(labels: list[str | None]) -> Table:
    return table_of("a.csv", "CSV", {"text": TEXTS, "topics": labels})


def yes_no(sheet: Table) -> dict[str, list[str | None]]:
    return {title: list(cells) for title, cells in sheet.columns.items() if ": " in title}


@pytest.mark.parametrize("separator", [",", ", ", ";", "; ", "|", " | ", "/", "\n"])
def test_several_labels_in_a_cell_become_columns_of_yes_and_no(separator: str) -> None:
    sheet = table([separator.join(labels) for labels in LABELS])
    found = sheet.several_labels
    assert found is not None
    assert (found.title, found.row, found.example) == ("topics", 1, ("food", "time"))
    assert set(found.labels) == {"food", "time", "music", "theft", "garden"}
    assert not sheet.is_clear
    changed = sheet.changed(*with_yes_no_columns(sheet, found))
    assert yes_no(changed) == {
        f"topics: {label}": ["yes" if label in labels else "no" for labels in LABELS]
        for label in found.labels
    }
    assert set(changed.label_columns) == {f"topics: {label}" for label in found.labels}
    assert (changed.text_column, changed.several_labels) == ("text", None)
    assert "5 labels became columns of yes and no." in changed.notes


@pytest.mark.parametrize("write", [json.dumps, str])
def test_lists_of_labels_become_columns_too(write: type[str]) -> None:
    sheet = table([*(write(labels) for labels in LABELS[:4]), "[]", None])
    found = sheet.several_labels
    assert found is not None
    columns = yes_no(sheet.changed(*with_yes_no_columns(sheet, found)))
    assert columns["topics: time"] == ["yes", "no", "yes", "no", "no", None]


@pytest.mark.parametrize(
    "cells",
    [
        ["Bonn, Germany", "Lyon, France", "Kiel, Germany", "Metz, France", "Ulm, Germany", "Nice"],
        ["3,5", "4,5", "4,0", "3,0", "3,5", "5,0"],
        ["sport/golf", "sport/polo", "art/film", "art/opera", "sport/judo", "art/jazz"],
        ["good", "bad", "good", "bad", "good", "bad"],
        ["and/or", "and/or", "and/or", "but", "but", "but"],
    ],
)
def test_cells_whose_parts_do_not_repeat_elsewhere_hold_one_label(cells: list[str | None]) -> None:
    assert table(cells).several_labels is None


def test_labels_that_differ_in_letter_case_or_spaces_are_joined_to_the_commonest() -> None:
    sheet = table(["Late fee", "late  fee", "Late fee", "noise", "Noise", "noise"])
    found = sheet.spelt_apart
    assert found is not None
    assert (found.title, found.row, found.example) == ("topics", 2, ("late  fee", "Late fee"))
    joined = sheet.changed(*with_one_spelling(sheet, found))
    assert joined.columns["topics"] == (*["Late fee"] * 3, *["noise"] * 3)
    assert joined.spelt_apart is None
    assert any(note.startswith("2 labels were written as") for note in joined.notes)
    assert table(["late", "fee"] * 3).spelt_apart is None
