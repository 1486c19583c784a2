"""Columns of numbers and dates: read when all of them can be, else labels."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from contextlens.corpus.columns import MAX_KINDS, date_of, kind_of_column, numbers_of

MANY = MAX_KINDS + 1
DATES = [datetime(2024, 1, 1 + i, tzinfo=UTC) for i in range(20)]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([str(i) for i in range(MANY)], "number"),
        ([str(i) for i in range(MAX_KINDS)] * 5, "category"),  # ratings
        ([f"{i}.5" for i in range(MANY)] + ["", "n/a", "NaN"], "number"),
        ([f"{i}" for i in range(MANY)] + ["many"], "category"),
        ([f"1e{i}" for i in range(MANY)] + ["1e400", "inf"], "category"),
        ([moment.date().isoformat() for moment in DATES], "date"),
        ([moment.isoformat() for moment in DATES] + [""], "date"),
        ([moment.strftime("%d.%m.%Y") for moment in DATES], "date"),
        ([moment.strftime("%d %B %Y") for moment in DATES], "date"),
        ([f"{day}/5/2024" for day in range(1, 29)], "date"),  # the 28th is no month
        (["1/2/2024", "3/4/2024"], "category"),  # day or month first: cannot tell
        (["3/3/2024", "4/4/2024"], "date"),
        (["2024-01-01", "tomorrow"], "category"),
        (["2024-02-30", "2024-02-01"], "category"),
        (["sport", "law"], "category"),
        (["2024-01-01"], "category"),
        (["", ""], "category"),
        ([], "category"),
    ],
)
def test_a_column_is_of_the_kind_of_all_its_values(labels: list[str], kind: str) -> None:
    assert kind_of_column(labels) == kind


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S+02:00"])
def test_dates_are_days_and_their_names_are_theirs(form: str) -> None:
    labels = [moment.replace(hour=12).strftime(form) for moment in DATES] + ["none"]
    days = numbers_of(labels, "date")
    assert [date_of(int(day)) for day in days[:-1]] == [d.date().isoformat() for d in DATES]
    np.testing.assert_allclose(np.diff(days[:-1]), 1, atol=0.01)
    assert np.isnan(days[-1])


def test_numbers_are_those_in_the_file() -> None:
    labels = ["-3", " 4.25 ", "", "1e3", "null"]
    np.testing.assert_array_equal(numbers_of(labels, "number"), [-3, 4.25, np.nan, 1000, np.nan])
