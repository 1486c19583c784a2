from __future__ import annotations

import base64
import datetime
import decimal
import io
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.parquet import encryption

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import Table, read
from tests.support.workbooks import zipped

MAX = 10_000_000


def written(table: pa.Table | dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(table), stream, **options)
    return stream.getvalue()


def parquet(content: bytes, *, max_bytes: int = MAX) -> Table:
    return read("a.parquet", content, max_bytes=max_bytes)


def test_values_of_every_kind_become_text() -> None:
    nested = pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64()))
    day = datetime.datetime(2020, 1, 2, 3, tzinfo=datetime.UTC)
    table = {
        "text": ["I love my pet python", None],
        "category": pa.array(["a", "b"]).dictionary_encode(),
        "number": pa.array([1, 2]).dictionary_encode(),
        "float": [1.5, float("nan")],
        "flag": [True, None],
        "list": [["x", None], []],
        "struct": [{"a": 1, "b": ["y"]}, None],
        "map": nested,
        "bytes": [b"text", None],
        "large": pa.array(["l", "m"], pa.large_string()),
        "decimal": [decimal.Decimal("1.25"), None],
        "time": [day, None],
        "date": [day.date(), None],
        "nothing": pa.nulls(2),
        "a.b": ["dotted", "name"],
        "": ["no", "name"],
    }
    sheet = parquet(written(table))
    first, second = sheet.head(2)
    assert first == {
        "text": "I love my pet python",
        "category": "a",
        "number": "1",
        "float": "1.5",
        "flag": "true",
        "list": '["x", null]',
        "struct": '{"a": 1, "b": ["y"]}',
        "map": '[["k", 1]]',
        "bytes": "text",
        "large": "l",
        "decimal": "1.25",
        "time": "2020-01-02 03:00:00.000000Z",
        "date": "2020-01-02",
        "nothing": None,
        "a.b": "dotted",
        "column 16": "no",
    }
    assert {title for title, cell in second.items() if cell is None} == {
        *("text", "float", "flag", "struct", "map", "bytes", "decimal", "time", "date", "nothing")
    }
    assert (sheet.format, sheet.encoding, sheet.notes) == ("Parquet", "", ())


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_frame_written_by_pandas_is_read_back(compression: str) -> None:
    frame = pd.DataFrame(
        {"text": [f"sentence {i} é" for i in range(25_000)], "label": ["x"] * 25_000}
    )
    stream = io.BytesIO()
    frame.to_parquet(stream, compression=None if compression == "none" else compression)
    sheet = parquet(stream.getvalue())
    assert list(sheet.columns["text"]) == list(frame["text"])
    assert list(sheet.columns["label"]) == list(frame["label"])


def test_columns_that_are_no_text_are_left_out_and_it_is_said() -> None:
    table = {
        "text": ["a b c"] * 3,
        "raw": [b"\xff\x00"] * 3,
        "image": [{"bytes": b"\xff", "path": "p"}] * 3,
        "nul": ["a\0b"] * 3,
    }
    sheet = parquet(written(table))
    assert dict(sheet.columns) == {"text": ("a b c",) * 3, "nul": ("a\ufffdb",) * 3}
    assert sheet.notes == ()  # which go with the map, and would name columns that nobody chose
    assert sheet.left_out == (
        "image was left out: it holds bytes within nested values.",
        "raw was left out: it holds bytes that are no text.",
    )


def test_columns_of_long_lists_that_are_no_vectors_are_left_out() -> None:
    values = pa.array([5]).take(pa.array([0] * 2_100_000))
    vectors = pa.FixedSizeListArray.from_arrays(values, 2_100)
    sheet = parquet(written({"text": ["a b c"] * 1_000, "vector": vectors}))
    assert list(sheet.columns) == ["text"]
    assert "vector was left out: it holds 2,100,000 nested values" in sheet.left_out[0]


# What is refused


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"text": pa.array([], pa.string())}, r"a\.parquet holds no rows"),
        ({}, "no columns, or more than 1,000"),
        ({f"c{i}": ["a"] for i in range(1_001)}, "no columns, or more than 1,000"),
        ({"text": [None, " "]}, "nothing but blanks"),
    ],
    ids=["no rows", "no columns", "too many", "blanks"],
)
def test_a_file_without_texts_is_refused(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CorpusError, match=sentence):
        parquet(written(table))


def test_what_unpacks_to_too_much_is_refused_by_its_own_account() -> None:
    content = written(
        {"text": ["x" * 100 + str(i) for i in range(12_000)]},
        use_dictionary=False,
        compression="zstd",
    )
    assert len(content) < 100_000
    with pytest.raises(CorpusError, match=r"unpacks to 1 MB; at most 1 MB are read"):
        parquet(content, max_bytes=100_000)


def test_a_text_that_repeats_may_not_unpack_to_more_than_is_read() -> None:
    """One text of 1 MB for each of 20,000 rows, in a file of a few kB: 20 GB of text."""
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000), pa.array(["x" * 1_000_000]))
    content = written({"text": ["a b c"] * 20_000, "bomb": long}, compression="zstd")
    assert len(content) < 20_000
    sheet = parquet(content)
    assert list(sheet.columns) == ["text"]
    assert "bomb was left out: it holds 20,000,000,000 characters" in sheet.left_out[0]


@pytest.mark.slow
def test_what_a_small_file_takes_in_memory_is_counted_and_bounded() -> None:
    """A file of under 30 kB whose texts, each its own, take over 40 MB."""
    texts = [f"{i:05}" + "🐍" * 100_000 for i in range(100)]
    content = written({"text": ["a b c"] * 100, "bomb": texts}, compression="zstd")
    assert len(content) < 100_000
    sheet = parquet(content)
    assert list(sheet.columns) == ["text", "bomb"]
    assert 40_000_000 < sheet.n_bytes < 41_000_000
    bounded = read("a.parquet", content, max_bytes=MAX, max_held=30_000_000)
    assert list(bounded.columns) == ["text"]
    assert bounded.n_bytes < 30_000
    assert bounded.left_out == (
        "bomb was left out: it holds 40 MB of text, more than is kept of a file.",
    )


class Keys(encryption.KmsClient):  # type: ignore[misc]
    """Keeps keys as they are: enough to write an encrypted file."""

    def __init__(self, _: object) -> None:
        encryption.KmsClient.__init__(self)

    def wrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64encode(key)

    def unwrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64decode(key)


@pytest.mark.parametrize("plaintext_footer", [True, False])
def test_an_encrypted_file_is_refused(*, plaintext_footer: bool) -> None:
    keys = encryption.EncryptionConfiguration(
        footer_key="key", column_keys={"key": ["text"]}, plaintext_footer=plaintext_footer
    )
    options = encryption.CryptoFactory(Keys).file_encryption_properties(
        encryption.KmsConnectionConfig(), keys
    )
    content = written({"text": ["a b c"], "n": [1]}, encryption_properties=options)
    with pytest.raises(CorpusError, match=r"^a\.parquet is encrypted\. Write it without"):
        parquet(content)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda _: b"text,label\na,b\n", "is no Parquet file, though its name says so"),
        (lambda c: c[: len(c) // 2], "is cut off"),
        (lambda c: c[:4], "cannot be read"),
        (lambda c: c[:100] + b"PAR1", "cannot be read"),
        (lambda c: c[:-8] + struct.pack("<I", 2**31) + b"PAR1", "cannot be read"),
        (lambda c: c[:4] + bytes(200) + c[204:], "cannot be read"),
    ],
)
def test_damage_is_refused_in_a_sentence(damage: Callable[[bytes], bytes], what: str) -> None:
    content = damage(written({"text": [f"sentence {i}" for i in range(500)]}))
    with pytest.raises(CorpusError, match=what) as caught:
        parquet(content)
    assert str(caught.value).startswith("a.parquet ")


def test_a_file_that_aborts_the_library_is_refused_in_a_sentence() -> None:
    """A table of two rows with one byte of its footer changed, on which pyarrow 26.0.1 aborts."""
    aborting = (
        "UEFSMRUAFSAVICwVBBUAFQYVBhw2ACgBYhgBYRERAAAAAgAAAAQBAQAAAGEBAAAAYhUEGSw1ABgGc2NoZW1hFQIA"
        "FQwkAhgEdGV4dCUATBwAAAAWBBkcGRwmABwVDBklBgAZGAR0ZXh0FQAWBBZaFlomCDw2ACgBYhgBYRERABkcFQAV"
        "ABUCADwWBBkGGSYABAAAABZaFgQmCBZaACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACU"
        "AAAAUEFSMQ=="
    )
    with pytest.raises(CorpusError, match=r"a\.parquet cannot be read as Parquet"):
        parquet(base64.b64decode(aborting))


def test_names_of_files_and_columns_may_hold_anything() -> None:
    content = written({"a\n*b*\0": ["x y z"], "a.b.c": ["d"]})
    sheet = read("a\0\ud800\n'\"; rm.parquet", content, max_bytes=MAX)
    assert list(sheet.columns) == ["a\n*b*\ufffd", "a.b.c"]


def test_columns_of_one_name_are_all_read() -> None:
    table = pa.Table.from_arrays([pa.array(["a b c"]), pa.array(["d"])], names=["text", "text"])
    assert dict(parquet(written(table)).columns) == {"text": ("a b c",), "text (2)": ("d",)}


# Arrow, as `save_to_disk` of Hugging Face's `datasets` writes it

CLASSES = {"names": ["O", "B-LOC", "I-LOC"], "_type": "ClassLabel"}


def stream(table: dict[str, Any], **features: object) -> bytes:
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    own = pa.table(table).replace_schema_metadata(metadata)
    target = io.BytesIO()
    with pa.ipc.new_stream(target, own.schema) as writer:
        writer.write_table(own, max_chunksize=2)
    return target.getvalue()


def test_a_data_set_that_was_saved_is_read_with_names_of_classes_and_splits() -> None:
    texts = ["It is good", "It is bad", "Who knows?"]
    one = stream({"text": texts, "label": [1, 2, -1]}, label=CLASSES)
    info = json.dumps({"features": {"text": {"dtype": "a long string here"}}}).encode()
    table = read("data.arrow", one, max_bytes=MAX)
    assert table.columns["label"] == ("B-LOC", "I-LOC", None)
    assert any("names that the file gives" in note for note in table.notes)
    parts = ("train/data-00000-of-00002", "train/data-00001-of-00002", "test/data-00000-of-00001")
    files = {f"ds/{part}.arrow": one for part in parts}
    files |= {f"ds/{split}/dataset_info.json": info for split in ("train", "test")}
    table = read("ds.zip", zipped(files), max_bytes=MAX)
    assert list(table.columns["text"]) == texts * 3
    assert table.columns["split"] == ("train",) * 6 + ("test",) * 3
    assert "2 files beside the tables were left out." in table.notes


def test_lists_of_classes_are_tags_of_tokens_in_arrow_and_parquet() -> None:
    feature = {"feature": CLASSES, "_type": "Sequence"}
    cells = {"tokens": [["New", "York", "is", "big"]], "ner_tags": [[1, 2, 0, 0]]}
    arrow = stream(cells, ner_tags=feature)
    with pa.ipc.open_stream(arrow) as reader:
        own = written(reader.read_all())
    for name, content in (("a.arrow", arrow), ("a.parquet", own)):
        table = read(name, content, max_bytes=MAX)
        assert (table.columns["word"], table.columns["label"]) == (("New York",), ("LOC",))


@pytest.mark.parametrize("cut", [0, 3, 100, -200])
def test_damaged_arrow_is_refused(cut: int) -> None:
    content = stream({"text": ["It is good"] * 9})[: cut or None]
    if cut:
        with pytest.raises(CorpusError, match="it is damaged"):
            read("a.arrow", content, max_bytes=MAX)
    else:
        assert read("a.arrow", content, max_bytes=MAX).n_rows == 9


def test_a_small_arrow_file_of_huge_values_is_refused() -> None:
    content = io.BytesIO()
    own = pa.table({"text": ["a" * 300_000_000]})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(content, own.schema, options=options) as writer:
        writer.write_table(own)
    with pytest.raises(CorpusError, match=r"unpacks to|memory to read|more than"):
        read("a.arrow", content.getvalue(), max_bytes=1_000_000)


def test_large_columns_of_numbers_are_left_out_for_the_reason_that_holds() -> None:
    rng = np.random.default_rng(0)
    texts = [f"This is the text number {i}." for i in range(5_000)]
    mask = pa.FixedSizeListArray.from_arrays(
        pa.array(rng.integers(0, 2, 5_000 * 512, np.int64)), 512
    )
    sheet = parquet(
        written({"text": texts, "mask": mask}, compression="zstd", use_dictionary=False),
        max_bytes=10**6,
    )
    assert sheet.left_out == (
        "mask was left out: it unpacks to 21 MB, more than is read of a file.",
    )
    late = [None] * 3_000 + rng.normal(size=(2_000, 48)).tolist()
    content = written({"text": texts, "v": pa.array(late, pa.list_(pa.float32()))})
    (own,) = parquet(content).vectors
    assert (own.dtype, len(own.usable), own.left_out) == (
        "float32",
        2_000,
        {"no vector given": 3_000},
    )
    np.testing.assert_array_equal(own.rows[3_000:], np.float32(late[3_000:]))
    bounded = read("a.parquet", content, max_bytes=MAX, max_held=700_000)
    assert list(bounded.columns) == ["text"]
    assert "a.parquet: the vectors of “v” take 1.0 MB (5,000 rows of 48 " in bounded.left_out[0]
