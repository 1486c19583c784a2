"""From a file to a table to a corpus, whatever its bytes are; the files of docs/files.md too."""

from __future__ import annotations

import io
import json
import re
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import FORMATS, Table, read, to_corpus
from contextlens.corpus.targets import guess_marks, targets_of
from tests.support.workbooks import excel

MAX = 10_000_000
PACKED = {".parquet", ".xlsx", ".gz", ".zip"}
TEXT_FORMATS = (*(own for own in FORMATS if own not in PACKED), ".ndjson", ".CSV")


def sheet(**columns: list[str | None]) -> Table:
    return Table("a.csv", "CSV", {title: tuple(own) for title, own in columns.items()})


@cache
def parquet_bytes() -> bytes:
    stream = io.BytesIO()
    frame = pd.DataFrame({"text": [f"sentence {i} é" for i in range(60)], "label": ["x", "y"] * 30})
    frame["nested"] = [[1, 2], None] * 30
    frame.to_parquet(stream)
    return stream.getvalue()


VALID = (
    'text,label\n"a, ""b""\nc",x\nü,y\n'.encode(),
    'text;label\n"a;b";x\nü;y\n'.encode("cp1252"),
    "text\tlabel\na b c\tx\n".encode("utf-16"),
    b'{"text": "a", "n": {"x": [1, 2]}}\n"string"\n{"text": "\\ud800"}\n',
    b'[{"text": "a"}, "b", 3, {"c": [1]}]',
    "私は\r\nパイソン\r\n".encode("cp932"),
)


# What a file may be


@pytest.mark.parametrize(
    "name", ["a.docxx", "a", "", ".", "csv", "a.csv.lz4", "a.txt\n.exe", "a.parquets"]
)
def test_another_ending_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(
        CorpusError, match=r"must end in one of \.txt, \.data, \.csv, \.tsv, \.jsonl"
    ) as got:
        read(name, b"text", max_bytes=MAX)
    assert "\n" not in str(got.value)


@pytest.mark.parametrize(
    ("ending", "way_out"),
    [
        ("docx", "as plain text (.txt), a text a line"),
        ("PDF", "as plain text (.txt), a text a line"),
        ("xls", "as .xlsx or as CSV"),
        ("sav", "as CSV, as “File, Save As, CSV” in SPSS does"),
        ("dta", "as CSV, as “export delimited” in Stata does"),
        ("tar.bz2", "or its folder as a ZIP file"),
        ("ann", "Pack it with its .txt file as a ZIP file"),
    ],
)
def test_files_of_other_programs_are_refused_with_the_way_out(ending: str, way_out: str) -> None:
    with pytest.raises(CorpusError, match=rf"^mine\.{ending} .*{re.escape(way_out)}"):
        read(f"mine.{ending}", b"text", max_bytes=MAX)


@pytest.mark.parametrize("name", ["semcor.xml", "semcor.txt", "semcor.data", "semcor.csv"])
@pytest.mark.parametrize(
    "start", ["<?xml version='1.0'?>", "\ufeff\n<contextfile>", "<corpus lang='en'>"]
)
def test_xml_is_refused_with_the_way_to_a_table(name: str, start: str) -> None:
    with pytest.raises(CorpusError, match=r"is XML, which is no table\. Write a table with a row"):
        read(name, f"{start}<s><wf>Hi</wf></s>".encode(), max_bytes=MAX)


@pytest.mark.parametrize("ending", [*FORMATS, ".ndjson", ".CSV"])
def test_an_empty_file_is_refused(ending: str) -> None:
    with pytest.raises(CorpusError, match=rf"^a{ending} is empty\. Give a file with at least one"):
        read(f"a{ending}", b"", max_bytes=MAX)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_is_too_large_is_refused_with_both_sizes(ending: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read(f"a{ending}", b"x" * 2_000_001, max_bytes=2_000_000)
    assert str(caught.value) == (
        f"a{ending} is 2.1 MB; at most 2 MB are read here. Split it, or ask whoever runs this "
        "server for a larger CONTEXTLENS_MAX_UPLOAD_MB."
    )
    assert read("a.txt", b"x" * 2_000_000, max_bytes=2_000_000).n_rows == 1


@pytest.mark.parametrize(
    "name", ["ü 私.csv", "a\0b.csv", "\ud800.csv", "<b>*x*</b>.csv", "x" * 999 + ".csv"]
)
def test_names_may_hold_anything(name: str) -> None:
    found = read(name, b"text\none sentence only\n", max_bytes=MAX)
    corpus = to_corpus(found, "text")
    assert found.name == name
    assert len(corpus.name) <= 80
    assert corpus.name.isprintable()
    with pytest.raises(CorpusError) as caught:
        read(name, b"\0\0\0", max_bytes=MAX)
    assert str(caught.value).isprintable()


def test_a_sheet_shows_its_first_rows_and_what_its_columns_are() -> None:
    rows = "".join(f"This is sentence {i},{'pos' if i % 2 else 'neg'},{i},\n" for i in range(30))
    found = read("a.csv", f"review,label,n,none\n{rows}".encode(), max_bytes=MAX)
    assert found.n_rows == 30
    assert found.head(2) == [
        {"review": "This is sentence 0", "label": "neg", "n": "0", "none": None},
        {"review": "This is sentence 1", "label": "pos", "n": "1", "none": None},
    ]
    assert len(found.head(99)) == 30
    assert found.head(-1) == []
    kinds = {"review": "text", "label": "label", "n": "number", "none": "empty"}
    assert found.kinds == kinds
    assert (found.text_column, found.label_columns) == ("review", ("label",))


# From a sheet to a corpus


def test_rows_with_a_sentence_are_kept_with_their_labels() -> None:
    found = sheet(text=[" a b ", None, "  ", "c", "d"], label=["x", "y", "y", None, " z"])
    corpus = to_corpus(found, "text", ["label", "label"])
    assert corpus.texts == ("a b", "c", "d")
    assert corpus.labels == {"label": ("x", "", "z")}
    assert corpus.spans is None
    assert corpus.notes == ("2 rows were left out: no text.",)


def test_what_a_reader_noted_is_kept() -> None:
    found = read("a.csv", "text;label\nüber;x\n;y\n".encode("cp1252"), max_bytes=MAX)
    corpus = to_corpus(found, "text", ["label"])
    assert corpus.notes == (*found.notes, "1 row was left out: no text.")
    assert len(found.notes) == 2


def test_sentences_beyond_the_limit_are_left_out_and_it_is_said() -> None:
    found = sheet(text=["", *map(str, range(10))])
    corpus = to_corpus(found, "text", max_texts=4)
    assert corpus.texts == ("0", "1", "2", "3")
    assert corpus.notes[1] == "6 rows were left out: only the first 4 sentences are used."


def test_a_text_of_more_than_20_000_characters_is_cut_and_it_is_said() -> None:
    corpus = to_corpus(sheet(text=["ü" * 20_001, "b" * 20_000]), "text")
    assert corpus.texts == ("ü" * 20_000, "b" * 20_000)
    assert corpus.notes == ("1 text was cut to the first 20,000 characters.",)


def test_many_labels_are_allowed_with_a_note_and_too_many_are_not() -> None:
    number = count()
    columns = {n: [f"label-{next(number)}" for _ in range(n)] for n in (50, 5_000, 5_001)}
    for n_labels, notes in ((50, 0), (5_000, 1)):
        found = sheet(text=["a sentence"] * n_labels, label=list(columns[n_labels]))
        corpus = to_corpus(found, "text", ["label"])
        assert len(corpus.notes) == notes
        assert len(set(corpus.labels["label"])) == n_labels
    found = sheet(text=["a sentence"] * 5_001, label=list(columns[5_001]))
    assert found.kinds["label"] == "many"
    with pytest.raises(CorpusError, match=r"label has 5,001 different values; .* at most 5,000"):
        to_corpus(found, "text", ["label"])


def test_long_labels_are_cut() -> None:
    corpus = to_corpus(sheet(text=["a"], label=["x" * 201]), "text", ["label"])
    assert corpus.labels["label"] == ("x" * 199 + "…",)
    assert corpus.notes == ("Labels in label were cut to 200 characters.",)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none",), r"a\.csv has no column 'none'\. Choose one of: text, b\."),
        (("text", ["none"]), r"a\.csv has no column 'none'\. Choose one of: text, b\."),
        (("b",), r"b has no text in any of its 2 rows\. .* such as text"),
    ],
)
def test_a_column_that_is_missing_or_blank_is_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        to_corpus(sheet(text=["a", "c"], b=[None, " "]), *arguments)


# Any bytes at all


def check(name: str, content: bytes) -> None:
    """Either a sheet that keeps its promises, or a sentence that can be shown."""
    try:
        found = read(name, content, max_bytes=1_000_000)
        corpus = to_corpus(found, found.text_column, found.label_columns)
    except CorpusError as exc:
        assert str(exc).isprintable()  # noqa: PT017
        return
    assert {len(own) for own in found.columns.values()} == {found.n_rows}
    cells = [cell for own in found.columns.values() for cell in own if cell is not None]
    for text in (*cells, *found.columns, *found.notes, *corpus.texts, *corpus.notes):
        assert "\0" not in text
        text.encode()
    assert all(text.strip() for text in corpus.texts)


ANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SLIPS = st.lists(
    st.tuples(st.integers(0, 10_000), st.sampled_from("rid"), st.binary(min_size=1, max_size=3)),
    max_size=5,
)


def slipped(content: bytes, slips: list[tuple[int, str, bytes]]) -> bytes:
    """Bytes with some replaced, inserted or deleted."""
    for place, what, own in slips:
        at = place % (len(content) + 1)
        end = at if what == "i" else at + len(own)
        content = content[:at] + (b"" if what == "d" else own) + content[end:]
    return content


TABLES = st.text('ab1,;|\t\n\r" []{}:\\\ufeff\u2028é', max_size=80).map(str.encode)
CONTENTS = st.binary(max_size=300) | TABLES | st.builds(slipped, st.sampled_from(VALID), SLIPS)


@settings(ANY, max_examples=300)
@given(st.sampled_from(TEXT_FORMATS), CONTENTS)
def test_any_bytes_are_read_or_refused(ending: str, content: bytes) -> None:
    check(f"a{ending}", content)


@pytest.mark.slow
@settings(ANY, max_examples=5)  # each starts a process
@given(SLIPS)
def test_damaged_parquet_is_read_or_refused(slips: list[tuple[int, str, bytes]]) -> None:
    check("a.parquet", b"PAR1" + slipped(parquet_bytes()[4:-4], slips) + b"PAR1")


# What it takes in memory
ROWS = [(f"sentence number {i}", "pet" if i % 2 else "language") for i in range(25_000)]
FILES = {
    "a.txt": "\n".join(text for text, _ in ROWS),
    "a.csv": "text,label\n" + "\n".join(map(",".join, ROWS)),
    "a.tsv": "text\tlabel\n" + "\n".join(map("\t".join, ROWS)),
    "a.jsonl": "\n".join(json.dumps({"text": text, "label": label}) for text, label in ROWS),
    "list.jsonl": json.dumps([{"text": text, "label": label} for text, label in ROWS]),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("max_held", [10_000, 1_000_000])
def test_rows_beyond_the_memory_for_them_are_left_out_and_it_is_said(
    name: str, max_held: int
) -> None:
    content = FILES[name].encode()
    whole = read(name, content, max_bytes=10**7)
    assert whole.n_rows == len(ROWS)
    own = read(name, content, max_bytes=10**7, max_held=max_held)
    assert own.notes == (
        f"Only the first {own.n_rows:,} rows were read: more take over {max_held / 1e6:,.0f} MB "
        "of memory.",
    )
    for title, cells in own.columns.items():
        assert cells == whole.columns[title][: own.n_rows]
    assert max_held * 0.9 < own.n_bytes < max_held + 1_000


@pytest.mark.parametrize("name", FILES)
def test_a_first_row_for_which_there_is_no_memory_is_said(name: str) -> None:
    with pytest.raises(CorpusError, match=r"takes more than 0 MB of memory with its first row"):
        read(name, FILES[name].encode(), max_bytes=10**7, max_held=20)


def test_a_text_that_repeats_stays_one_object_in_a_corpus() -> None:
    """With a space at its end it was copied for every row."""
    long = "x" * 100_000 + " "
    corpus = to_corpus(sheet(text=[long] * 1_000, other=[long] * 1_000), "text", ["other"])
    assert corpus.n_bytes < 200_000
    assert len(set(map(id, corpus.texts))) == 1


PAGE = Path(__file__).parents[2] / "docs" / "files.md"


SEMCOR = """<contextfile><context><p><s snum="1"><wf pos="DT">The</wf>
<wf lemma="bank" lexsn="1:17:01::">river_bank</wf><punc>.</punc></s></p></context>
</contextfile>"""
RAGANATO = """<corpus><text><sentence><wf>The</wf><instance id="d0.s0.t0">bank</instance>
<wf>shut</wf></sentence></text></corpus>"""


@pytest.mark.parametrize(
    ("xml", "row"),
    [
        (SEMCOR, ("The river bank .", "4", "14", "river bank", "1:17:01::")),
        (RAGANATO, ("The bank shut", "4", "8", "bank", "bank%1:14:00::")),
    ],
)
def test_the_python_of_the_page_makes_a_table_of_xml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, xml: str, row: tuple[str, ...]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "semcor.xml").write_text(xml)
    (tmp_path / "semcor.gold.key.txt").write_text("d0.s0.t0 bank%1:14:00::\n")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "files.md", "exec"), {})
    table = read("semcor.csv", (tmp_path / "semcor.csv").read_bytes(), max_bytes=MAX)
    assert list(zip(*table.columns.values(), strict=True)) == [row]
    (marks,) = guess_marks(table, "text")
    (span,) = targets_of(table.columns, table.columns["text"], marks).spans
    assert span is not None
    assert row[0][slice(*span)] == row[3]


def shown() -> list[Table]:
    tables = re.findall(r"```csv\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [read("shown.csv", table.encode(), max_bytes=10_000) for table in tables]


def test_marked_words_of_the_page_are_placed() -> None:
    sheets = shown()
    marked = [sheet for sheet in sheets if "text" in sheet.columns]
    pairs = [sheet for sheet in sheets if "text1" in sheet.columns]
    assert (len(marked), len(pairs)) == (2, 2)
    texts_of = "text1", "text2"
    for sheet in marked:
        texts = [cell or "" for cell in sheet.columns["text"]]
        spans = targets_of(sheet.columns, texts, *guess_marks(sheet, "text")).spans
        both = zip(texts, spans, strict=True)
        assert [text[slice(*(span or (0, 0)))] for text, span in both] == ["python", "Python"]
    for sheet in pairs:
        for text, marks in zip(texts_of, guess_marks(sheet, *texts_of), strict=True):
            assert marks
            assert targets_of(sheet.columns, sheet.columns[text], marks).n_missed == 0


# Excel: formulas, sheets, long numbers

SEAS = [["text", "label"], ["The sea is rough.", "wild"], ["The pond is still.", "calm"]]


def test_formulas_without_values_are_said_and_the_labels_do_not_become_the_texts() -> None:
    def cell(value: str) -> str:
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    formula = "<c{0}><f>CONCATENATE(1,B2)</f>{1}</c>"
    for none in (formula.format("", ""), formula.format("", "<v></v>"), formula.format("", "<v/>")):
        rows = "".join(f"<row>{none}{cell(label)}</row>" for label in ("wild", "calm", "wild"))
        xml = f"<row>{cell('text')}{cell('label')}</row>{rows}"
        table = read("a.xlsx", excel({"S": []}, xml=xml), max_bytes=MAX)
        assert (table.text_column, table.label_columns) == ("text", ("label",))
        assert any(note.startswith("3 cells of the sheet hold a formula") for note in table.notes)
        assert not table.is_clear
        two = excel({"S": [], "Seas": SEAS}, xml=xml)
        assert "a formula" in " ".join(read("a.xlsx", two, max_bytes=MAX).notes)
        seas = read("a.xlsx", two, max_bytes=MAX, sheet="Seas")
        assert "a formula" not in " ".join(seas.notes)  # of a sheet that is not read
        with pytest.raises(CorpusError, match=r"has no text in any of its 3 rows.*a formula"):
            to_corpus(table, table.text_column)
    stored = formula.format(' t="str"', "<v>The sea</v>") + formula.format(' t="str"', "<v></v>")
    xml = f"<row>{cell('text')}{cell('more')}</row><row>{stored}</row><row>{stored}</row>"
    assert not read("a.xlsx", excel({"S": []}, xml=xml), max_bytes=MAX).notes


def test_another_sheet_of_an_excel_file_can_be_chosen() -> None:
    content = excel({"About": [["Made in May"]], "Data": SEAS, "More": SEAS[:2]})
    first = read("a.xlsx", content, max_bytes=MAX)
    assert (first.sheets, first.content) == (("About", "Data", "More"), content)
    assert not first.is_clear
    chosen = read("a.xlsx", content, max_bytes=MAX, sheet="Data")
    assert chosen.columns["text"] == ("The sea is rough.", "The pond is still.")
    assert chosen.sheets == ("Data", "About", "More")
    assert read("a.xlsx", excel({"Data": SEAS}), max_bytes=MAX).sheets == ()


def test_long_numbers_that_a_spreadsheet_rounded_are_said() -> None:
    for number in ("1.20E+18", "1,2E+18", "1.20153E+17"):
        rows = "".join(
            f'"{number}",{text},x\n' for text in ("Hello there you", "Good night to all")
        )
        said = " ".join(read("a.csv", f"id,text,label\n{rows}".encode(), max_bytes=MAX).notes)
        assert f"2 long numbers are rounded, as spreadsheets do, such as “{number}”" in said
    for number in ("1201530000", "1.2", "1E-18"):
        rows = f"{number},Hello there you,x\n"
        assert not read("a.csv", f"id,text,label\n{rows}".encode(), max_bytes=MAX).notes
