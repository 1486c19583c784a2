from __future__ import annotations

import csv
import io
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import Table, read

MAX = 10_000_000


def table(text: str | bytes, name: str = "a.csv") -> Table:
    return read(name, text.encode() if isinstance(text, str) else text, max_bytes=MAX)


def column(sheet: Table, title: str) -> list[str | None]:
    return list(sheet.columns[title])


# Lines


def test_a_line_is_a_sentence_whatever_ends_it() -> None:
    sheet = table("one\r\ntwo\n\n  \nthree\rfour\u2028still four\x0b\x85\n", "a.txt")
    assert column(sheet, "text") == ["one", "two", None, None, "three", "four\u2028still four"]
    assert (sheet.format, sheet.encoding, sheet.notes) == ("TXT", "UTF-8", ())
    assert sheet.text_column == "text"
    assert sheet.label_columns == ()


def test_a_line_of_100_kb_is_read() -> None:
    line = "python " * 15_000
    assert column(table(line, "a.txt"), "text") == [line.strip()]
    assert column(table(f"text,label\n{line},x\n"), "text") == [line]


def test_more_than_a_million_lines_are_cut_and_it_is_said() -> None:
    sheet = table("a\n" * 1_000_003, "a.txt")
    assert sheet.n_rows == 1_000_000
    assert sheet.notes == ("Only the first 1,000,000 rows were read.",)
    assert table("a\n" * 1_000_000, "a.txt").notes == ()


# Delimiters, quotes and names


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    frame = pd.DataFrame(
        {"text": ["a, b; c | d\te", 'say "hi"', "two\nlines\r\nand more"], "label": ["x", "y", "x"]}
    )
    sheet = table(frame.to_csv(index=False, sep=delimiter))
    assert column(sheet, "text") == list(frame["text"])
    assert column(sheet, "label") == list(frame["label"])
    assert len(sheet.notes) == (delimiter != ",")


def test_a_tsv_is_parted_by_tabs_alone() -> None:
    sheet = table("text\tlabel\na, b\tx\nc, d\ty\n", "a.tsv")
    assert column(sheet, "text") == ["a, b", "c, d"]
    assert (sheet.format, sheet.notes) == ("TSV", ())


CELL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_what_csv_writes_is_read_back(rows: list[tuple[str, str, str]], delimiter: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "label", "id"), *rows])
    try:
        sheet = table(stream.getvalue())
    except CorpusError as exc:
        assert "nothing but blanks" in str(exc)  # noqa: PT017
        assert not any(cell.strip() for row in rows for cell in row)
        return
    found = list(zip(*sheet.columns.values(), strict=True))
    assert list(sheet.columns) == ["text", "label", "id"]
    assert found == [tuple(cell or None for cell in row) for row in rows]


@pytest.mark.parametrize(
    ("cells", "kept", "note"),
    [
        ("NA null nan None Namibia", "NA null nan None Namibia", "3 cells say “NA” or “nan” or"),
        ("1 NA 2.5 NaN", "1 - 2.5 -", "2 cells say NaN, null or the like: taken as missing."),
        ("NULL NULL", "- -", "2 cells say NaN, null or the like: taken as missing."),
        ("word #N/A <NA>", "word - -", "2 cells say NaN, null or the like: taken as missing."),
        ("word N/A", "word N/A", "1 cell says “N/A”: taken as text."),
    ],
)
def test_what_may_be_missing_is_text_among_texts_and_nothing_vanishes_unsaid(
    cells: str, kept: str, note: str
) -> None:
    rows = [f"A sentence,{cell}" for cell in cells.split()]
    sheet = table("\n".join(["text,label", *rows]))
    assert [cell or "-" for cell in column(sheet, "label")] == kept.split()
    assert note in " ".join(sheet.notes)


def test_the_only_column_keeps_a_text_that_says_nan() -> None:
    assert column(table("text\nnan\n"), "text") == ["nan"]


# Files that do not say what they are


WIC = "".join(f"bank\tN\t{i}-1\tThe bank, as it was , shut .\tA bank .\n" for i in range(5))
NEWS = "".join(f'"{i}","A ""title""","Prices rose, then fell."\n' for i in range(1, 5))


@pytest.mark.parametrize("name", ["dev.data.txt", "SICK.data", "A.TXT"])
@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (WIC, [f"column {i}" for i in range(1, 6)]),
        (NEWS, ["column 1", "column 2", "column 3"]),
        ('text\tlabel\nI said "no\tx\nYes\ty\n', ["text", "label"]),
        ("text,label\nYes\nI said no,x\n" + "Yes,y\n" * 20, ["text", "label"]),
        ("text;label\nI said no, no;x\n", ["text", "label"]),
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_even_rows_are_a_table_whatever_the_file_is_called(
    name: str, text: str, titles: list[str], codec: str
) -> None:
    sheet = table(text.encode(codec), name)
    assert list(sheet.columns) == titles
    assert sheet.format == ("TSV" if "\t" in text else "CSV")
    lines = read(name, text.encode(codec), max_bytes=MAX, form="lines")
    assert list(lines.columns) == ["text"]
    assert sheet.content == lines.content == text.encode(codec)


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world\nYes, indeed\nNo, never\n",
        "One,two\nThree,four\n",
        "A line, with one\nAnother without\n" * 3,
        "A tab\there\nNone here\nNone here either\n",
    ],
)
def test_prose_stays_lines_and_may_be_read_as_a_table(text: str) -> None:
    sheet = table(text, "a.txt")
    assert column(sheet, "text") == text.splitlines()
    assert sheet.format == "TXT"
    assert sheet.content
    again = read("a.txt", sheet.content, max_bytes=MAX, form="table")
    assert again.format in {"TSV", "CSV"}


def test_lines_that_can_be_nothing_else_are_not_kept_twice() -> None:
    assert table("One\nTwo\n", "a.txt").content == b""


def test_prose_with_commas_is_one_column() -> None:
    sheet = table("Hello, world\nYes, it is, indeed\nNo, never\n")
    assert column(sheet, "column 1") == ["Hello, world", "Yes, it is, indeed", "No, never"]
    assert "Read as one column: nothing parts its rows evenly, guessed." in sheet.notes


@pytest.mark.parametrize(
    ("text", "titles", "n_rows"),
    [
        ("text,label\nI love it,pos\n", ["text", "label"], 1),
        ("Review Text,Clothing\nI love it so much,dress\n", ["Review Text", "Clothing"], 1),
        ("words here,grade\nI love it,1\nI hate it,2\n", ["words here", "grade"], 2),
        ("I love it,pos\nI hate it,neg\nI like it,pos\n", ["column 1", "column 2"], 3),
        ("I love it,1\nI hate it,0\n", ["column 1", "column 2"], 2),
        ("0,1\nI love it,pos\n", ["0", "1"], 1),
        ("text,n\na b c,1\n", ["text", "n"], 1),
        (",0,1\n0,I love it,pos\n", ["column 1", "0", "1"], 1),
        ("I love my pet python\nI love coding\n", ["column 1"], 2),
        ("quote\nI love my pet python\nI love coding\n", ["quote"], 2),
        ("I love it,positive\n", ["column 1", "column 2"], 1),
        ("apple\nbanana\ncherry\napple\n", ["column 1"], 4),
        ("今天天气很好\n我很喜欢这本书\n他去银行\n", ["column 1"], 3),
        ("评论内容\n我很喜欢这本书,天气也很好\n他今天下午去银行取钱了\n", ["评论内容"], 2),
        ("комментарий\nМне нравится\nОчень плохо\n", ["комментарий"], 2),
        ("😀😀😀\n🎉\n", ["column 1"], 2),
    ],
)
def test_names_of_columns_are_told_from_values(text: str, titles: list[str], n_rows: int) -> None:
    sheet = table(text)
    assert list(sheet.columns) == titles
    assert sheet.n_rows == n_rows
    numbered = "The first row holds no names of columns, guessed: columns are numbered."
    assert (numbered in sheet.notes) == (titles[0] == "column 1" and "0" not in titles)


def test_names_without_rows_are_refused() -> None:
    with pytest.raises(CorpusError, match="names of columns but no rows"):
        table("text,label\n")


def test_names_are_made_unique() -> None:
    sheet = table("text,text,,text (2),label\na b c,b,c,d,e\n")
    assert list(sheet.columns) == ["text", "text (3)", "column 3", "text (2)", "label"]


def test_a_missing_name_is_that_of_the_row_names() -> None:
    sheet = table('"text","label"\n"1","a b c","x"\n"2","d e f","y"\n')
    assert list(sheet.columns) == ["column 1", "text", "label"]
    assert column(sheet, "label") == ["x", "y"]


# Rows that do not fit


def test_short_rows_are_filled_and_long_ones_left_out() -> None:
    """A comma too many may stand in a text; a tab too many does not."""
    rows = "text,label\na,x\nb\nc,y,more\nd,z,,\n\ne,x,1,2\nf,x\n"
    sheet = table(rows)
    assert column(sheet, "text") == ["a", "b", "d", "f"]
    assert column(sheet, "label") == ["x", None, "z", "x"]
    longer = "2 rows have more cells than there are columns, the first at line 4"
    assert sheet.notes == (
        "1 row has fewer cells than there are columns.",
        f"{longer}: they were left out.",
    )
    for kept in (table(rows.replace(",", "\t"), "a.tsv"), table(rows + '"g, h",x\n')):
        assert column(kept, "text")[:6] == list("abcdef")
        assert column(kept, "label")[:6] == ["x", None, "y", "z", "x", "x"]
        assert f"{longer}: the cells at the end, such as “more”, were left out." in kept.notes


def test_a_quote_that_is_never_closed_swallows_no_rows() -> None:
    rows = "".join(f'"text, {i}",x\n' for i in range(20_000))
    sheet = table(f'text,label\n{rows}"open,x\n' + "after,y\n" * 3)
    assert sheet.n_rows == 20_004
    assert column(sheet, "text")[-5:] == ["text, 19999", '"open', "after", "after", "after"]
    assert any("line 20,002 is never closed" in note for note in sheet.notes)


def test_quote_marks_far_down_a_published_table_are_kept() -> None:
    """STS-B as published: no quote mark in the first 64 kB, then some at both ends of a cell."""
    texts = [f"Sentence number {i} is here to be read" for i in range(2_000)]
    texts[1_900] = '"We believe in it."'
    extra = ("a licence", "of its own")
    rows = [
        ("main-news", "MSRpar", "2012test", f"{i:04}", "1.400", text, "Another text",
         *(extra if i % 7 == 3 else ()))
        for i, text in enumerate(texts)
    ]  # fmt: skip
    sheet = table("\n".join(map("\t".join, rows)) + "\n", "sts-test.csv")
    assert list(zip(*sheet.columns.values(), strict=True)) == [row[:7] for row in rows]
    n_extra = sum(len(row) == 9 for row in rows)
    assert any(f"{n_extra} rows have more cells" in note and "“a licence”" in note
               for note in sheet.notes)  # fmt: skip


QUOTES = ('"at its start', 'at its end"', '"all of it"', 'in "the" middle', 'say "no', '"a" or "b"')
WRITERS = [
    (quoting, delimiter)
    for quoting in (csv.QUOTE_NONE, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC)
    for delimiter in "\t,;"
]


@pytest.mark.parametrize(("quoting", "delimiter"), WRITERS)
@given(
    texts=st.lists(st.text('a"b .\t,;\n', max_size=9).map("a{}".format), max_size=4),
    seed=st.randoms(use_true_random=False),
    ending=st.sampled_from(["a.csv", "a.tsv"]),
)
def test_each_text_comes_back_letter_for_letter_with_its_quotes(
    quoting: int, delimiter: str, texts: list[str], seed: random.Random, ending: str
) -> None:
    if quoting == csv.QUOTE_NONE:
        texts = [text for text in texts if not {delimiter, "\n"} & set(text)]
    rows = [(text, i) for i, text in enumerate((*QUOTES, *texts))]
    seed.shuffle(rows)
    stream = io.StringIO(newline="")
    mark = None if quoting == csv.QUOTE_NONE else '"'
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, quotechar=mark)
    writer.writerows([("text", "n"), *rows])
    sheet = table(stream.getvalue(), "a.csv" if delimiter != "\t" else ending)
    assert list(zip(*sheet.columns.values(), strict=True)) == [(text, str(n)) for text, n in rows]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (['"Yes, it is."\tx', "No\ty", "So it goes\tx"], "Yes, it is."),  # as Excel encloses
        (['"Yes, it is."\tx', "No, never\ty", "So\tx"], '"Yes, it is."'),
        (['"Yes."\tx', '"No"\ty', '"So it goes"\tx'], "Yes."),
        (['"Yes."\tx', "No\ty", "So it goes\tx"], '"Yes."'),
        (['"Yes.\tx', "No\ty", 'So it goes"\tx'], '"Yes.'),  # no cell of three lines
        (['"Yes.', 'Or no"\tx', "No\ty"], "Yes.\nOr no"),
        (['"Yes ""I"" do"\tx', "No\ty", "So\tx"], 'Yes "I" do'),
        (['Yes, "I" do\tx', '"No"\ty', "So\tx"], 'Yes, "I" do'),
        (['"Yes there\tx', "fine\ty", '"So" ends\tx'], '"Yes there'),
    ],
)
def test_a_table_with_tabs_has_quotes_if_they_enclose_what_a_program_encloses(
    rows: list[str], text: str
) -> None:
    sheet = table("\n".join(["text\tlabel", *rows]), "a.tsv")
    assert column(sheet, "text")[0] == text
    is_said = any("plain characters" in note for note in sheet.notes)
    assert is_said == (rows[0].split("\t")[0] == text)
    assert sheet.n_rows == len(rows) - ("\n" in text)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ('text,label\n"a, b\nc",x\nd,y\n', ["a, b\nc", "d"]),
        ('text\n"one\ntwo"\nthree\n', ["one\ntwo", "three"]),
        ('text,n\n12" pipe,1\n6" pipe,2\n5" pipe,3\n"a, b",4\n',
         ['12" pipe', '6" pipe', '5" pipe', "a, b"]),
        ('text,label\n"Once" more,x\n"Twice" more,y\n"all",x\n',
         ['"Once" more', '"Twice" more', '"all"']),
        ('"text"\t"label"\none more time\tx\nonce more again\ty\n',
         ["one more time", "once more again"]),
    ],
)  # fmt: skip
def test_cells_of_other_tables_are_enclosed_unless_most_marks_are_misplaced(
    text: str, cells: list[str]
) -> None:
    assert column(table(text), "text") == cells


def test_marks_lost_within_cells_are_said_where_quotes_enclose_others() -> None:
    rows = "".join(f'"Well, number {i}",x\n' for i in range(9))
    sheet = table(f'text,label\n{rows}"Once" more,y\n')
    assert column(sheet, "text")[-1] == "Once more"
    assert "1 cell has quote marks that do not enclose the whole cell: some may be lost there." in (
        sheet.notes
    )


def test_too_many_columns_are_refused() -> None:
    wide = ",".join(f"c{i}" for i in range(10_000))
    with pytest.raises(CorpusError, match=r"10,000 columns or more; at most 1,000"):
        table(f"{wide}\n{wide}\n")
    assert len(table(",".join(["text"] * 1_000) + "\n" + ",".join(["a"] * 1_000)).columns) == 1_000


@pytest.mark.parametrize("text", ["\n\n\n", " \n\t\n", "\ufeff", ";;;\n;;;\n", "text\n\n", '""\n'])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_blank_files_are_refused_in_a_sentence(text: str, name: str) -> None:
    with pytest.raises(CorpusError, match=r"a\.[ct]sv (holds|has) ") as caught:
        table(text if name == "a.csv" else text.replace(";", "\t"), name)
    assert str(caught.value).endswith(".")


def test_a_table_of_blank_lines_is_not_read_to_its_end() -> None:
    sheet = table("text,label\na,b\n" + "\n" * 2_000_000 + "c,d\n")
    assert column(sheet, "text") == ["a"]
    assert sheet.notes == ("Only the first row was read.",)
