"""Vectors that files bring: columns of lists, arrays beside the texts, and what they refuse."""

from __future__ import annotations

import csv
import gzip
import io
import json
import runpy
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.file_vectors import MIN_DIMS, PASTED, array_vectors
from contextlens.corpus.readers import read, to_corpus
from contextlens.corpus.second_file import joined
from contextlens.corpus.table import Table
from tests.support.workbooks import excel

N, D = 40, 24
BOUND = 10_000_000
MATRIX = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
MATRIX /= np.linalg.norm(MATRIX, axis=1, keepdims=True)
TEXTS = [f"The text with the number {i} is about birds." for i in range(N)]
LISTS: list[Any] = MATRIX.astype(float).tolist()
BAD: list[Any] = [*LISTS[:-5], None, LISTS[0][:3], [0.0] * D, [float("nan")] * D, [1e300] * D]
WHY = {
    "no vector given": 1,
    "another number of values": 1,
    "zeros only": 1,
    "NaN or infinite values": 2,
}


def table(name: str, content: bytes) -> Table:
    return read(name, content, max_bytes=BOUND)


def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return out.getvalue()


def json_lines(lists: list[Any]) -> bytes:
    rows = ({"text": t, "vector": v} for t, v in zip(TEXTS, lists, strict=True))
    return "\n".join(map(json.dumps, rows)).encode()


def comma_separated(lists: list[Any], write: Callable[[Any], str] = json.dumps) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(
        [["text", "vector"], *([t, write(v)] for t, v in zip(TEXTS, lists, strict=True))]
    )
    return out.getvalue().encode()


FILES: Mapping[str, Callable[[list[Any]], bytes]] = {
    "a.jsonl": json_lines,
    "a.json": lambda lists: json.dumps(
        [{"text": t, "vector": v} for t, v in zip(TEXTS, lists, strict=True)]
    ).encode(),
    "a.csv": comma_separated,
    "a.parquet": lambda lists: parquet(text=TEXTS, vector=pa.array(lists, pa.list_(pa.float64()))),
}


def test_a_parquet_column_beyond_the_memory_is_left_out_with_the_bound() -> None:
    long = [numbers * 100 for numbers in LISTS]
    content = parquet(text=TEXTS, vector=pa.array(long, pa.list_(pa.float32())))
    sheet = read("a.parquet", content, max_bytes=BOUND, max_held=300_000)
    assert not sheet.vectors
    assert list(sheet.columns) == ["text"]
    assert sheet.left_out == (
        "a.parquet: the vectors of “vector” take 0.4 MB (40 rows of 2,400 numbers); at most "
        "0.3 MB are kept here. Give fewer rows, or shorter vectors.",
    )


@pytest.mark.parametrize("name", FILES)
def test_a_column_of_lists_is_read_as_vectors_and_rows_without_one_are_counted(name: str) -> None:
    (own,) = table(name, FILES[name](LISTS)).vectors
    np.testing.assert_array_equal(own.rows, MATRIX)
    assert (own.title, own.file, own.are_unit, dict(own.left_out)) == ("vector", name, True, {})
    sheet = table(name, FILES[name](BAD))
    assert list(sheet.columns) == ["text"]
    assert dict(sheet.vectors[0].left_out) == WHY
    corpus = to_corpus(sheet, "text")
    kept = corpus.read_by(corpus.vectors[0])
    assert "5 rows have no vector in “vector”: no vector given (1), " in kept.notes[-1]
    assert kept.texts == tuple(TEXTS[:-5])
    assert kept.own is not None
    assert kept.own.passport().settings["texts_left_out"] == WHY
    np.testing.assert_array_equal(kept.own.rows, MATRIX[:-5])
    assert len({corpus.key, kept.key, to_corpus(table(name, FILES[name](LISTS)), "text").key}) == 3


def test_vectors_of_pandas_tensors_and_quantised_vectors_are_recognised() -> None:
    frame = pd.DataFrame({"text": TEXTS, "vector": list(MATRIX)})
    (own,) = table("a.csv", frame.to_csv(index=False).encode()).vectors
    np.testing.assert_allclose(own.rows, MATRIX, atol=1e-7)
    halves = pa.FixedSizeListArray.from_arrays(pa.array(MATRIX.astype(np.float16).ravel()), D)
    (own,) = table("a.parquet", parquet(text=TEXTS, v=halves)).vectors
    assert own.dtype == "float16"
    whole = np.clip(np.round(MATRIX * 300), -128, 127).astype(int).tolist()
    assert table("a.jsonl", json_lines(whole)).vectors
    long = pd.DataFrame({"text": TEXTS, "v": list(np.random.default_rng(1).normal(size=(N, 1200)))})
    sheet = table("a.csv", long.to_csv(index=False).encode())
    assert not sheet.vectors
    assert "cut short with “...”" in sheet.left_out[0]


@pytest.mark.parametrize(
    "lists",
    [
        [[int(v > 0) for v in own] for own in LISTS],  # yes and no for each of many labels
        [[101, 2000 + i, 102] + [0] * (D - 3) for i in range(N)],  # padded token ids
        [own[: MIN_DIMS - 1] for own in LISTS],
        [own[: 8 + i % 12] for i, own in enumerate(LISTS)],
    ],
)
def test_other_lists_of_numbers_are_no_vectors(lists: list[Any]) -> None:
    assert not table("a.jsonl", json_lines(lists)).vectors
    integers = isinstance(lists[0][0], int)
    kind = pa.list_(pa.int64() if integers else pa.float64())
    assert not table("a.parquet", parquet(text=TEXTS, v=pa.array(lists, kind))).vectors


def test_arrays_beside_the_texts_are_joined_row_by_row(tmp_path: Path) -> None:
    sheet = table("texts.txt", "\n".join(TEXTS).encode())
    bounds = {"max_bytes": BOUND, "max_held": BOUND}
    (own,) = joined(sheet, "v.npy", npy(MATRIX), **bounds).vectors
    np.testing.assert_array_equal(own.rows, MATRIX)
    fortran = joined(sheet, "v.npy", npy(np.asfortranarray(MATRIX)), **bounds)
    np.testing.assert_array_equal(fortran.vectors[0].rows, MATRIX)
    several = joined(sheet, "v.npz", npz(a=MATRIX, b=MATRIX[:3], names=np.array(TEXTS)), **bounds)
    assert [own.title for own in several.vectors] == ["a"]
    assert "“b” has 3 rows" in several.left_out[0]
    assert "names holds no numbers" in several.left_out[1]
    both = table("both.zip", zipped(t_txt="\n".join(TEXTS).encode(), v_npy=npy(MATRIX)))
    np.testing.assert_array_equal(both.vectors[0].rows, MATRIX)
    assert both.vectors[0].file == "v.npy"
    exported = [{"text": t, "spans": [], "answer": "accept"} for t in TEXTS]
    inner = "\n".join(map(json.dumps, exported)).encode()
    tool = table("both.zip", zipped(t_jsonl=inner, v_npy=npy(MATRIX)))
    assert tool.export == "Prodigy"
    plain = read(tool.name, tool.content, max_bytes=BOUND, form="plain")
    assert (plain.export, list(plain.columns)) == ("", ["text", "spans", "answer"])
    np.testing.assert_array_equal(plain.vectors[0].rows, MATRIX)


def test_a_plain_file_keeps_its_vectors_in_an_archive() -> None:
    file = json_lines(LISTS)
    (own,) = read("a.jsonl", file, max_bytes=BOUND, form="plain").vectors
    for more in ({}, {"note_pdf": b"1"}):
        sheet = read("a.zip", zipped(a_jsonl=file, **more), max_bytes=BOUND, form="plain")
        (found,) = sheet.vectors
        assert (list(sheet.columns), found.title) == (["text"], "vector")
        assert found.sha256 == own.sha256
        np.testing.assert_array_equal(found.rows, own.rows)
    several = read("a.zip", zipped(a_jsonl=file, b_jsonl=file), max_bytes=BOUND, form="plain")
    assert not several.vectors
    assert several.left_out[-1].startswith("The vectors of “vector” were left out: they are read")


def test_vectors_of_rows_that_another_tool_means_otherwise_are_left_out_with_a_note() -> None:
    words = [text.split() for text in TEXTS]
    tags = [["B-A", *["O"] * (len(own) - 1)] for own in words]
    sheet = table("a.parquet", parquet(tokens=words, ner_tags=tags, vector=pa.array(LISTS)))
    assert sheet.export == "tagged tokens"
    assert not sheet.vectors
    assert sheet.left_out[-1].startswith("The file's vectors were left out:")
    plain = read("a.parquet", sheet.content, max_bytes=BOUND, form="plain")
    np.testing.assert_array_equal(plain.vectors[0].rows, MATRIX)


def test_vectors_that_no_row_with_a_text_has_are_left_out() -> None:
    texts = "\n".join(TEXTS).encode()
    sheet = table("both.zip", zipped(t_txt=texts, v_npy=npy(np.zeros((N, D)))))
    assert not sheet.vectors
    assert sheet.left_out == ("40 rows have no vector in “v”: zeros only (40).",)
    half = MATRIX * (np.arange(N) % 2)[:, None]
    rows = [{"text": t * (i % 2 == 0), "v": half[i].tolist()} for i, t in enumerate(TEXTS)]
    corpus = to_corpus(table("a.jsonl", "\n".join(map(json.dumps, rows)).encode()), "text")
    assert not corpus.vectors
    assert corpus.notes[-1] == "20 rows have no vector in “v”: zeros only (20)."


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array([{"a": 1}] * N, dtype=object), "a pickle and can run any code"),
        (MATRIX[:-1], "has 39 vectors and texts.txt has 40 rows"),
        (MATRIX.ravel(), "vectors have two sides"),
        (np.array(TEXTS), "holds no numbers"),
        (MATRIX.astype(np.complex64), "holds no numbers"),
        (MATRIX[:, :0], "vectors have 2 to"),
    ],
)
def test_arrays_that_are_no_vectors_are_refused_in_a_sentence(array: Any, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        array_vectors("v.npy", npy(array), N, "texts.txt", max_bytes=BOUND)


def test_vectors_that_take_too_much_memory_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"at most 0\.0 MB"):
        array_vectors("v.npy", npy(MATRIX), N, "texts.txt", max_bytes=100)
    bomb = zipped(a_npy=npy(np.zeros((1000, 2000), np.float32)))
    assert len(bomb) < 20_000
    with pytest.raises(CorpusError, match="unpacks to more than"):
        array_vectors("v.npz", bomb, 1000, "texts.txt", max_bytes=1_000_000)
    with pytest.raises(CorpusError, match="holds vectors and no texts"):
        table("v.npy", npy(MATRIX))


TABLE = pa.table({"text": TEXTS, "vector": pa.array(LISTS, pa.list_(pa.float32()))})
FRAME = pd.DataFrame({"text": TEXTS, "vector": list(MATRIX)})
TWICE = "text,vector,vector\n" + "\n".join(
    f'"{t}","{w}","{v}"' for t, v, w in zip(TEXTS, LISTS, LISTS[::-1], strict=True)
)


def arrow(new: Callable[..., Any], table: pa.Table = TABLE) -> bytes:
    out = io.BytesIO()
    with new(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def pandas_parquet(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


TWO_SHEETS = {
    "About": [["Made in May"]],
    "Data": [["text", "vector"], *([t, str(v)] for t, v in zip(TEXTS, LISTS, strict=True))],
}
CSV = comma_separated(LISTS)
LINES = "\n".join(TEXTS).encode()
CASES: Mapping[str, tuple[bytes, dict[str, Any]]] = {
    **{name: (make(LISTS), {}) for name, make in FILES.items()},
    "semicolons.csv": (FRAME.to_csv(index=False, sep=";").encode(), {}),
    "a.tsv": (FRAME.to_csv(index=False, sep="\t").encode(), {}),
    "latin.csv": (CSV.decode().replace("about", "à propos de").encode("cp1252"), {}),
    "wide.csv": (CSV.decode().encode("utf-16"), {}),
    "printed.csv": (FRAME.to_csv(index=False).encode(), {}),
    "twice.csv": (TWICE.encode(), {}),
    "it's.csv": (CSV, {}),
    "told.txt": (FRAME.to_csv(index=False, sep="\t").encode(), {"form": "table"}),
    "a.csv.gz": (gzip.compress(CSV), {}),
    "a.zip": (zipped(a_csv=CSV), {}),
    "data.json": (b'{"data": %b}' % FILES["a.json"](LISTS), {}),
    "columns.json": (FRAME.to_json().encode(), {}),
    "b.xlsx": (excel(TWO_SHEETS), {"sheet": "Data"}),
    "a.arrow": (arrow(pa.ipc.new_stream), {}),
    "a.feather": (arrow(pa.ipc.new_file), {}),
    "arrow.zip": (zipped(d_arrow=arrow(pa.ipc.new_stream), info_json=b"{}"), {}),
    "index.parquet": (pandas_parquet(FRAME.set_index(np.arange(N)[::-1])), {}),
    "blanks.parquet": (parquet(**{"text": TEXTS, " vector ": TABLE["vector"]}), {}),
    "twice.parquet": (arrow(pq.ParquetWriter, pa.table([*TABLE, pa.nulls(N)],
                                                       ["text", "vector", "text"])), {}),
    "same.parquet": (arrow(pq.ParquetWriter, pa.table(
        [TEXTS, TABLE["vector"][::-1], TABLE["vector"]],
        ["text", "vector", "vector"])), {}),
    "one.zip": (zipped(t_txt=LINES, v_npy=npy(MATRIX)), {}),
    "two.zip": (zipped(t_txt=LINES, v_npz=npz(a=MATRIX[::-1], b=MATRIX)), {}),
    PASTED: (FILES["a.jsonl"](LISTS), {}),
    "v.npy": (npy(MATRIX), {}),
    "v.npz": (npz(other=MATRIX[::-1], vector=MATRIX), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_script_reads_the_same_vectors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, options = CASES[name]
    if name.startswith("v."):  # beside a column of the same title
        own = joined(table("t.csv", CSV), name, content, max_bytes=BOUND, max_held=BOUND).vectors
    else:
        own = read(name, content, max_bytes=BOUND, **options).vectors
    (tmp_path / name).write_bytes(content)
    script = own[-1].take(range(10, 20)).script([0, 3])
    (tmp_path / "script.py").write_text(script)
    result = runpy.run_path(str(tmp_path / "script.py"))
    np.testing.assert_allclose(result["vectors"], MATRIX[[10, 13]], atol=1e-6)
    np.testing.assert_array_equal(result["vectors"], own[-1].rows[[10, 13]])
    has_own_reader = name in {"a.parquet", "index.parquet", "blanks.parquet", "v.npy", "v.npz"}
    assert ("contextlens" in script) != has_own_reader
    assert (f"save them as '{PASTED}'" in script) == (name == PASTED)


CELLS = st.lists(
    st.one_of(
        st.none(),
        st.text(max_size=30),
        st.text(alphabet="[]0123456789.,eE+-nNaA \n", max_size=60),
        st.lists(st.floats(width=32) | st.integers(-(2**80), 2**80), max_size=12).map(json.dumps),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_any_cells_are_read_or_refused_in_time(cells: list[str | None]) -> None:
    rows = [{"text": f"text {i}", "v": cell} for i, cell in enumerate(cells)]
    started = time.monotonic()
    sheet = table("a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    for own in sheet.vectors:
        assert own.rows.shape == (len(cells), own.n_dims)
        assert np.isfinite(own.rows[own.usable]).all()
        assert len(own.usable) + sum(own.left_out.values()) == len(cells)
    assert time.monotonic() - started < 2


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400), st.booleans())
def test_any_bytes_of_an_array_are_read_or_refused(
    noise: bytes, place: int, is_zipped: bool
) -> None:
    good = npz(a=MATRIX[:4]) if is_zipped else npy(MATRIX[:4])
    content = good[:place] + noise + good[place + len(noise) :]
    try:
        vectors, _ = array_vectors(
            "v.npz" if is_zipped else "v.npy", content, 4, "texts.txt", max_bytes=100_000
        )
    except CorpusError:
        return
    assert all(own.rows.shape[0] == 4 for own in vectors)
