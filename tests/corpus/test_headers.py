"""The names of columns, and the rows of titles that other programs write around them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from contextlens.corpus.readers import Table, read, to_corpus
from contextlens.corpus.table import Form

TEXTS = (
    "The river froze last night.",
    "My uncle sells old clocks, cheap.",
    'A sign says "no dogs" here.',
    "Bread smells best in the morning.",
    "The tram was late again.",
)
MOODS = ("calm", "glad", "calm", "glad", "calm")


def table(text: str, name: str = "a.csv", form: Form = "") -> Table:
    return read(name, text.encode(), max_bytes=1_000_000, form=form)


def written(rows: list[list[str]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


ROWS = [[str(i), text, mood] for i, (text, mood) in enumerate(zip(TEXTS, MOODS, strict=True), 1)]
HEADER = ["no", "answer", "mood"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "above",
    [
        [["Guests of March", "", ""]],
        [["Guests of March", "", ""], ["", "", ""], ["Exported by Ann", "", ""]],
        [["Guests of March"], ["Exported by Ann"], []],
    ],
)
def test_lines_of_a_report_above_the_names_are_left_out_and_said(
    above: list[list[str]], delimiter: str
) -> None:
    text = written([*above, HEADER, *ROWS], delimiter)
    sheet = table(text)
    assert list(sheet.columns) == HEADER
    assert (sheet.text_column, sheet.label_columns) == ("answer", ("mood",))
    assert sheet.columns["answer"] == TEXTS
    assert any("above the names" in note and "“Guests of March”" in note for note in sheet.notes)
    assert not sheet.is_clear
    assert table(text, form="plain").n_rows > len(TEXTS)


def test_rows_of_a_table_with_gaps_are_no_titles() -> None:
    rows = [["alpha", "", ""], ["beta", "Fine by me", "x"], ["gamma", "Not so", "y"]] * 2
    assert table(written([["name", "text", "label"], *rows])).n_rows == 6
    assert table(written(rows)).n_rows >= 5


def test_names_above_dates_are_names_however_long() -> None:
    question = "How did you like your stay at our small hotel?"
    rows = [[f"2026-03-0{i} 10:00:00", text] for i, text in enumerate(TEXTS, 1)]
    sheet = table(written([["When", question], *rows]))
    assert list(sheet.columns) == ["When", question]
    assert sheet.columns[question] == TEXTS


def imports(*keys: str) -> list[str]:
    return [json.dumps({"ImportId": key, "timeZone": "Z"}) for key in keys]


def test_the_title_rows_of_qualtrics_are_left_out_and_its_own_columns_label_nothing() -> None:
    header = ["StartDate", "Status", "Finished", "Q1", "Q2"]
    titles = ["Start Date", "Response Type", "Finished", "How was\n\nit?", "Again?"]
    status = ["IP Address", "Survey Preview"]
    rows = [
        [f"2026-03-0{i + 1}", status[i % 2], ["True", "False"][i % 2], text, ["Yes", "No"][i % 2]]
        for i, text in enumerate([*TEXTS, ""])
    ]
    keys = imports("startDate", "status", "finished", "QID1_TEXT", "QID2")
    for below in ([titles, keys], [keys]):
        text = "\ufeff" + written([header, *below, *rows])
        sheet = table(text)
        assert (sheet.export, sheet.n_rows, sheet.text_column) == ("Qualtrics", 6, "Q1")
        assert sheet.label_columns == ("Q2",)
        assert any("below the names" in note and "ImportId" in note for note in sheet.notes)
        assert not any("{" in note for note in sheet.notes)
        corpus = to_corpus(sheet, "Q1", sheet.label_columns)
        assert corpus.texts == TEXTS
        assert "1 row was left out: no text." in corpus.notes
        assert table(text, form="plain").n_rows >= 6 + len(below)


def test_the_second_row_of_surveymonkey_is_left_out_and_its_own_columns_label_nothing() -> None:
    header = ["Respondent ID", "Collector ID", "How was your stay with us?", "Again?"]
    below = ["", "", "Open-Ended Response", "Response"]
    rows = [
        [f"{1140 + i}", ["77", "78"][i % 2], text, ["Yes", "No"][i % 2]]
        for i, text in enumerate(TEXTS)
    ]
    sheet = table(written([header, below, *rows]))
    assert sheet.columns["How was your stay with us?"] == TEXTS
    assert sheet.label_columns == ("Again?",)
    assert any("“Open-Ended Response”" in note for note in sheet.notes)


def test_two_title_rows_of_qualtrics_are_recognised_without_its_ids() -> None:
    filled = ["StartDate", "EndDate", "Status"]
    asked = ["Start Date", "End Date", "Response Type", "How was it?", "Again?"]
    day = "2026-03-01 10:00:00"
    rows = [[day, day, ("IP Address", "Preview")[i % 2], text, ("Yes", "No")[i % 2]]
            for i, text in enumerate(TEXTS)]  # fmt: skip
    numbered = [[f"V{i}" for i in range(1, 4)], [*filled, *asked[3:]]]
    for names, below in (([*filled, "Q1", "Q2"], asked), ([*numbered[0], "Q1", "Q2"], numbered[1])):
        sheet = table(written([names, below, *rows]))
        assert (sheet.columns["Q1"], sheet.export) == (TEXTS, "Qualtrics")
        assert sheet.label_columns == ("Q2",)
        assert any("1 row below the names" in note for note in sheet.notes)
    sheet = table(written([["Q1", "Q2"], asked[3:], *(row[3:] for row in rows)]))
    assert (sheet.columns["Q1"], sheet.label_columns) == (TEXTS, ("Q2",))
    plain = table(written([[*filled, "Q1", "Q2"], *rows]))
    assert (plain.columns["Q1"], plain.export) == (TEXTS, "")


def test_columns_that_a_survey_tool_fills_are_no_labels() -> None:
    names = [
        "Response ID",
        "Date submitted",
        "Last page",
        "Start language",
        "How was it?",
        "Again?",
    ]
    rows = [[str(i), "2026-03-01", "12"[i % 2], ("en", "de")[i % 2], text, ("Yes", "No")[i % 2]]
            for i, text in enumerate(TEXTS)]  # fmt: skip
    sheet = table(written([names, *rows], ";"))
    assert (sheet.export, sheet.n_rows) == ("LimeSurvey", 5)
    assert (sheet.text_column, sheet.label_columns) == ("How was it?", ("Again?",))


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.data"])
@pytest.mark.parametrize("has_names", [True, False])
def test_what_write_table_of_r_writes_is_read(name: str, *, has_names: bool) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '\\"') + '"'

    rows = [
        " ".join([*[quoted(str(i))] * has_names, quoted(text), quoted(mood), str(i * 3)])
        for i, (text, mood) in enumerate(zip(TEXTS, MOODS, strict=True), 1)
    ]
    text = "\n".join(['"text" "mood" "n"', *rows, ""])
    sheet = table(text, name)
    assert sheet.columns["text"] == TEXTS
    assert (sheet.text_column, sheet.label_columns) == ("text", ("mood",))
    assert len(sheet.columns) == 3 + has_names
    assert sheet.export == "write.table of R"
    assert table(text, name, form="plain").n_rows == 6


def test_lines_of_quotations_are_no_table_of_r() -> None:
    text = '"Go home."\n"No," she said.\n"Why" "not" now\nI left.\n'
    assert table(text, "a.txt").format == "TXT"
