from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.json_lines import as_text
from contextlens.corpus.readers import Table, read, to_corpus

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["text", "label", "n"]), VALUES), max_size=6)


def lines(text: str | bytes, name: str = "a.jsonl") -> Table:
    """Read as it is: what other tools write has tests of its own."""
    content = text.encode() if isinstance(text, str) else text
    return read(name, content, max_bytes=10_000_000, form="plain")


def rows_of(sheet: Table) -> list[dict[str, str | None]]:
    return sheet.head(sheet.n_rows)


@settings(deadline=None)
@given(ROWS, st.sampled_from([None, 1]))
def test_lines_and_a_list_are_read_alike(rows: list[dict[str, Any]], indent: int | None) -> None:
    wanted = [row for row in rows if row]
    titles = list(dict.fromkeys(title for row in wanted for title in row))
    cells = [{title: as_text(row.get(title)) for title in titles} for row in wanted]
    filled = any(cell and cell.strip() for row in cells for cell in row.values())
    for text in ("\n".join(map(json.dumps, rows)), json.dumps(rows, indent=indent)):
        if filled:
            assert rows_of(lines(text)) == cells
        else:
            with pytest.raises(CorpusError, match=r"holds no|is empty"):
                lines(text)


def test_a_frame_written_by_pandas_is_read_back() -> None:
    frame = pd.DataFrame({"text": ["Überall \u2028 a", None, "c"], "n": [1.5, float("nan"), 3]})
    for text in (
        frame.to_json(orient="records", lines=True),
        frame.to_json(orient="records", force_ascii=False),
    ):
        sheet = lines(text, "a.ndjson")
        assert sheet.columns["text"] == ("Überall \u2028 a", None, "c")
        assert sheet.columns["n"] == ("1.5", None, "3.0")
        assert (sheet.format, sheet.notes) == ("JSON" if text.startswith("[") else "JSONL", ())


FRAME = pd.DataFrame({"text": ["It rains", "It does not"], "label": ["wet", None]})


@pytest.mark.parametrize(
    "text",
    [
        *(FRAME.to_json(orient=way) for way in ("columns", "split", "records")),
        FRAME.to_json(orient="table", index=False),
        FRAME.to_json(orient="records", lines=True),
        json.dumps(FRAME.to_dict("list"), indent=1).replace("NaN", "null"),
        json.dumps({"version": 1, "data": FRAME.to_dict("records")}).replace("NaN", "null"),
    ],
)
def test_a_json_file_is_a_table_in_each_way_to_write_one(text: str) -> None:
    sheet = lines(text, "a.json")
    assert rows_of(sheet) == [
        {"text": "It rains", "label": "wet"},
        {"text": "It does not", "label": None},
    ]
    assert sheet.notes == ()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"text": "One", "n": {"a": 1}}', [{"text": "One", "n": '{"a": 1}'}]),
        ('{"texts": ["One", "Two"], "by": "me"}', [{"texts": "One"}, {"texts": "Two"}]),
        ('{"text": ["One"], "label": ["a", "b"]}', [
            {"text": "One", "label": "a"}, {"text": None, "label": "b"}]),
        ('{"text": "One"}\n{"text": "Two"}', [{"text": "One"}, {"text": "Two"}]),
        ('{"text": "One"}\n{broken', [{"text": "One"}]),
    ],
)  # fmt: skip
def test_one_object_is_columns_a_list_or_a_row(text: str, rows: list[dict[str, Any]]) -> None:
    assert rows_of(lines(text, "a.json")) == rows


def test_one_object_that_is_too_large_is_refused_before_it_is_parsed() -> None:
    text = '{"text": ["' + "x" * 10_000_001 + '"]}'
    with pytest.raises(CorpusError, match="one JSON object of over 10 MB"):
        read("a.json", text.encode(), max_bytes=20_000_000)


def test_strings_are_rows_too() -> None:
    sheet = lines('"I love it"\n""\n{"text": "so do I", "label": "x"}\n')
    assert sheet.columns["text"] == ("I love it", "so do I")
    assert sheet.columns["label"] == (None, "x")


def test_nested_values_are_json_text() -> None:
    sheet = lines('{"text": "a", "m": {"ü": [1, null, true]}, "b": false, "n": 3, "x": NaN}')
    assert rows_of(sheet) == [
        {"text": "a", "m": '{"ü": [1, null, true]}', "b": "false", "n": "3", "x": None}
    ]
    assert sheet.notes == ("1 value is NaN: taken as missing.",)


def test_bad_lines_are_counted_and_the_first_is_named() -> None:
    bad = ["{broken", "7", "null", "[1]", "[" * 100_000, "1" * 10_000]
    sheet = lines("\n".join(['{"text": "a"}', "", *bad, '"b"']))
    assert sheet.columns["text"] == ("a", "b")
    assert sheet.notes == (
        "6 lines are no JSON object or string and were left out, the first is line 3.",
    )


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('["a", "b"', "The list breaks off after item 2; what follows was left out."),
        ('["a", "b", {"text": "c', "The list breaks off after item 2; what follows was left out."),
        ('["a" "b"]', "The list breaks off after item 1; what follows was left out."),
        ('["a", , "b"]', "The list breaks off after item 1; what follows was left out."),
        ('["a", "b", ]', None),
        ('["a", "b"] "c"', "What follows the end of the list was left out."),
        (
            '["a", 1, "b", [2]]',
            "2 items are no JSON object or string and were left out, the first is item 2.",
        ),
    ],
)
def test_a_list_that_is_not_whole_is_read_as_far_as_it_goes(text: str, note: str | None) -> None:
    sheet = lines(text)
    assert set(sheet.columns["text"]) <= {"a", "b"}
    assert sheet.notes == ((note,) if note else ())


def test_a_list_longer_than_one_step_is_whole() -> None:
    rows = [{"text": f"sentence {i} " + "ü" * (i % 50), "n": i} for i in range(40_000)]
    sheet = lines("  \n" + json.dumps(rows, ensure_ascii=False))
    assert sheet.columns["text"] == tuple(str(row["text"]) for row in rows)
    assert sheet.columns["n"] == tuple(str(row["n"]) for row in rows)
    assert sheet.notes == ()


def test_half_characters_and_nuls_are_replaced_and_it_is_said() -> None:
    sheet = lines('{"text": "a\\ud800b", "k\\udc00": "x\\u0000"}\n{"text": "\\ud83d\\ude00"}\n')
    assert sheet.columns == {"text": ("a\ufffdb", "😀"), "k\ufffd": ("x\ufffd", None)}
    assert sheet.notes == (
        "3 values had characters that no tokenizer reads (NUL, or half a character); "
        "they are replaced by �.",
    )
    assert to_corpus(sheet, "text").texts == ("a\ufffdb", "😀")


@pytest.mark.parametrize("text", ["{}\n{}", "[]", "7\n8", "not json\nat all", "[1, 2]", '{"a": '])
def test_a_file_without_a_row_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(CorpusError, match=r"a\.jsonl holds no JSON object and no string"):
        lines(text)


def test_a_file_of_blank_lines_is_not_read_to_its_end() -> None:
    sheet = lines('"a"\n' + "\n" * 2_000_000 + '"b"\n')
    assert sheet.columns["text"] == ("a",)
    assert sheet.notes == ("Only the first 2,000,000 lines were looked at.",)


def test_objects_with_ever_new_keys_are_refused() -> None:
    with pytest.raises(CorpusError, match="more than 1,000 different keys"):
        lines("\n".join(json.dumps({f"k{i}": "a"}) for i in range(1_001)))


FRAME = pd.DataFrame(
    {
        "answer": ["The lake was cold.", "We ate on the roof.", "Nobody came.", "A boat sank."],
        "mood": ["bad", "good", "bad", "bad"],
        "n": [3, 1, 4, 1],
    }
)


@pytest.mark.parametrize("orient", ["index", "values", "split", "records", "columns", "table"])
@pytest.mark.parametrize("keys", [None, ["a7", "b2", "c5", "d9"]])
def test_all_that_pandas_writes_is_read(orient: Any, keys: list[str] | None) -> None:
    frame = FRAME if keys is None else FRAME.set_axis(keys, axis="index")
    sheet = read("a.json", frame.to_json(orient=orient).encode(), max_bytes=1_000_000)
    columns = list(sheet.columns)
    titles = ["column 1", "column 2"] if orient == "values" else ["answer", "mood"]
    assert [list(sheet.columns[title]) for title in titles] == [
        FRAME["answer"].to_list(),
        FRAME["mood"].to_list(),
    ]
    assert (sheet.text_column, sheet.label_columns) == (titles[0], (titles[1],))
    has_keys = keys is not None and orient in {"index", "split", "columns"}
    assert ("index" in columns) == (has_keys or orient == "table")
    is_guessed = orient in {"index", "values"}
    assert any("guessed" in note for note in sheet.notes) == is_guessed
    if orient == "index":
        assert not sheet.is_clear
        plain = read("a.json", sheet.content, max_bytes=1_000_000, form="plain")
        assert [title for title in plain.columns if title != "index"] == list(frame.index.map(str))


def test_a_list_of_lists_may_begin_with_the_titles() -> None:
    rows = [["text", "label"], *FRAME[["answer", "mood"]].to_numpy().tolist()]
    sheet = read("a.json", json.dumps(rows).encode(), max_bytes=1_000_000)
    assert (list(sheet.columns), sheet.n_rows) == (["text", "label"], 4)
