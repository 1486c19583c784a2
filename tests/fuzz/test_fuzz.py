"""Any bytes from strangers are taken, or refused with one of our sentences, within bounds.

Every run of the tests takes the same inputs. For more and other ones:

    python -m pytest -n 0 tests/fuzz --hypothesis-profile=thorough
"""

from __future__ import annotations

import base64
import gzip
import json
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.content.examples import EXAMPLES
from contextlens.content.wording import escape
from contextlens.core.encoder.vocabulary import readable_folder
from contextlens.core.errors import CheckpointError, ContextlensError
from contextlens.core.model_config import allowed_config, family_of, read_config
from contextlens.core.registry import ModelFiles
from contextlens.core.words import split_words
from contextlens.corpus.readers import MAX_TEXTS, read, to_corpus
from contextlens.corpus.table import MAX_COLUMNS, clean, max_rows
from contextlens.ui.state.address import MAX_ADDRESS, decode, encode, from_json, to_json
from contextlens.ui.state.bounds import (
    MAX_BYTES,
    MAX_CHOICES,
    MAX_PAGES,
    MAX_TEXT,
    check_size,
    n_characters,
)
from contextlens.ui.state.controls import Control
from contextlens.ui.state.view import MAX_CHARACTERS, MAX_SENTENCES, ViewState, from_example
from tests.fuzz.changes import damaged, damaged_json
from tests.support.tiny_models import TYPICAL, build
from tests.support.workbooks import excel, zipped

_SECONDS = 3.0  # of the processor, for one input: a busy machine does not count
_MORE_ADDRESSES = 1_500_000_000  # bytes that inputs may take
_MAX_MESSAGE_LENGTH = 400  # characters


@pytest.fixture(autouse=True)
def _bounded_memory() -> Iterator[None]:
    """A bomb raises MemoryError, where the system can bound addresses."""
    bounds = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = n_pages * resource.getpagesize() + _MORE_ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (most, bounds[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, bounds)


def is_taken(take: Callable[[bytes], object], content: bytes) -> bool:
    """Return whether an input was taken; what is neither taken nor refused properly raises."""
    begin = time.thread_time()
    try:
        take(content)
    except ContextlensError as exc:
        check_sentence(str(exc))
        return False
    else:
        return True
    finally:
        assert time.thread_time() - begin < _SECONDS


def check_sentence(message: str) -> None:
    """Pass where a visitor can be shown this: a whole sentence, short, printable, no markup."""
    assert 0 < len(message) <= _MAX_MESSAGE_LENGTH
    assert message.isprintable()
    assert message.rstrip().endswith((".", "?"))
    assert "Traceback" not in message
    assert 'File "' not in message
    assert "<" not in escape(message).replace("\\<", "")


# --- Views: addresses and state files


def take_address(content: bytes) -> None:
    check_view(decode(content.decode("utf-8", "replace")))


def take_state_file(content: bytes) -> None:
    """Read it as `share._open_view` does, which itself refuses what is no UTF-8."""
    check_size(len(content))
    with suppress(UnicodeDecodeError):
        check_view(from_json(content.decode()))


def check_view(view: ViewState) -> None:
    """A view is within its bounds, can be used, and reads back as it was written."""
    assert 1 <= len(view.sentences) <= MAX_SENTENCES
    assert len(view.references) <= MAX_SENTENCES
    for sentence in (*view.sentences, *view.references):
        for text in (sentence.text, sentence.pair or ""):
            assert len(text) <= MAX_CHARACTERS
            text.encode()
        start, end = sentence.word or (0, 1)
        assert 0 <= start < end <= max(len(sentence.text), 1)
        split_words(sentence.text)
    assert n_characters(view) <= MAX_TEXT
    assert len(view.controls) <= MAX_PAGES
    assert all(len(choices) <= MAX_CHOICES for choices in view.controls.values())
    assert view.layer is None or (type(view.layer) is int and view.layer >= 0)
    for control in controls():
        assert type(control.of(view)) is type(control.default)
    written, parameter = to_json(view), encode(view)
    assert len(written.encode()) <= MAX_BYTES
    assert repr(from_json(written)) == repr(view)  # True is 1 to Python, but not in its repr
    assert len(parameter) > MAX_ADDRESS or repr(decode(parameter)) == repr(view)


@cache
def controls() -> tuple[Control[Any], ...]:
    """Return every control that a feature declares."""
    root = Path(__file__).parents[2] / "components"
    names = (
        path.relative_to(root).with_suffix("") for path in root.glob("contextlens/*/**/controls.py")
    )
    modules = [import_module(".".join(name.parts)) for name in sorted(names)]
    values = (value for module in modules for value in vars(module).values())
    return tuple(value for value in values if isinstance(value, Control))


def packed(content: bytes) -> bytes:
    """Return the address that holds a state file's bytes."""
    return b"1" + base64.urlsafe_b64encode(zlib.compress(content, 6)).rstrip(b"=")


VIEWS = (
    *(to_json(from_example(example)).encode() for example in EXAMPLES),
    b'{"m":"","s":[],"r":[]}',
    '{"m":"org/model","s":[["the 🐍 é́ \u202eabc\u200d\\u0000",null,[4,5]],["",null,null]],'
    '"r":[["snake","A pair",[0,5]]],"l":3,"c":{"tokens":{"pad":12,"cut":0.5},'
    '"map":{"method":"umap"}}}'.encode(),
)
VIEW_BOMBS = (
    b'{"m":"' + b"a" * 7_000_000 + b'","s":[],"r":[]}',
    b'{"m":"a","s":' + b"[" * 100_000,
    b'{"m":"a","s":[],"r":[],"c":{' + b",".join(b'"%d":{}' % i for i in range(200_000)) + b"}}",
    b'{"m":"a","s":[],"r":[],"l":' + b"9" * 5_000 + b"}",
    json.dumps({"m": "a", "s": [["a " * 10_000, "b " * 10_000, None]] * 8, "r": []}).encode(),
    b" " * 7_000_000,
    b"[" + b"[]," * 1_000_000 + b"[]]",
)
_VIEW_WORDS = ("m", "s", "r", "l", "c", *(control.name for control in controls()))
_VIEW_FILES = damaged(VIEWS) | damaged_json(VIEWS, _VIEW_WORDS)


# --- Uploads

_NAMES = (
    *("reviews", "x" * 300, "a\nb", "<img src=x onerror=alert(1)>", "=1+1", "\ud800", "🐍" * 90),
    *("../../x", "a.parquet", " ", "[x](http://x)", "\x1b[31m", "C:\\x", "%s {0}", "\u202egnp"),
)


def take_upload(ending: str, content: bytes) -> None:
    """Read a file, and make a corpus of the table as a page does."""
    name = _NAMES[zlib.crc32(content) % len(_NAMES)] + ending
    sheet = read(name, content, max_bytes=500_000)
    assert 0 < len(sheet.columns) <= MAX_COLUMNS
    assert 0 < sheet.n_rows <= max_rows(len(sheet.columns))
    assert {len(cells) for cells in sheet.columns.values()} == {sheet.n_rows}
    for cells in (tuple(sheet.columns), *sheet.columns.values()):
        assert all(clean(cell) == cell for cell in set(cells) if cell)
    sheet.head(5)
    assert sheet.without_leftovers().n_rows == sheet.n_rows
    assert len(sheet.leftovers) <= 6
    corpus = to_corpus(sheet, sheet.text_column, sheet.label_columns)
    assert 0 < len(corpus.texts) <= MAX_TEXTS
    assert all(text.strip() and len(text) <= 20_000 for text in corpus.texts)
    for labels in corpus.labels.values():
        assert len(labels) == len(corpus.texts)
        assert all(len(label) <= 200 for label in labels)
    assert corpus.name.isprintable()
    assert len(corpus.notes) <= 2_100  # one for each column that is left out or cut, and some
    for note in set(corpus.notes):
        check_sentence(note)


TEXTS = {
    ".txt": (
        "My pet python sleeps.\n\nI write Python all day.\r\nthe 🐍 bit\n".encode(),
        "dé vu\nnaïve café\n".encode("cp1252"),
        "über uns\nthe end\n".encode("utf-16"),
        "私の\nパイソン\nおなか\n".encode("cp932"),
        "питон\n".encode("cp1251"),
    ),
    ".csv": (
        'text,label,score\n"a, ""b""\nc",x,1\nü,y,2.5\nthe end of it,x,NaN\n'.encode(),
        b'=HYPERLINK("x"),+1\n@a,-b\n=1+1,text here\n',
        b"a,2,3\n4,5,6\n7,8\n9,10,11,12\n",
        b'text,label\n"never closed,x\nb,y\nc,z\n',
        'text;label\n"a;b";x\nü;y\n'.encode("cp1252"),
    ),
    ".tsv": (
        b'text\tlabel\na b c\tx\n"quoted\ttab"\ty\n',
        "text\tlabel\na b c\tx\n".encode("utf-16"),
    ),
    ".jsonl": (
        b'{"text": "a", "n": {"x": [1, 2]}}\n{"text": "\\ud800"}\n{"text": "b", "label": null}\n',
        b'[{"text": "a"}, {"text": "b", "c": [1]}]',
    ),
    ".data": (
        b"bank\tN\t1-0\tThe bank is shut .\tBank here .\n" * 3,
        b'"3","Oil","Prices rose &amp; fell<br />"\n"1","#39;a#39;","b\'c\'"\n"2","x","y"\n',
        b'[{"text": "a", "n": NaN}, {"text": "b"}]',
    ),
    ".json": (
        b'{"text": {"0": "a", "1": "b"}, "label": {"0": 1, "1": null}}',
        b'{"columns": ["text"], "index": [0], "data": [["a"], ["b"]]}',
        b'{"version": 1, "data": [{"text": "a"}, {"text": "b"}]}',
    ),
    ".csv.gz": (gzip.compress(b"text,label\na,b\n", mtime=0),),
    ".zip": (zipped({"a.csv": b"text,label\na,b\n"}),),
}
_CELLS = (*(b'"', b'""', b"\n\n\n", b'\n"', b'",', b"text,label"), b"PAR1", b"PK\x03\x04", b", ")


def parquet(table: pa.Table, **options: Any) -> bytes:
    stream = BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def _parquet_files() -> tuple[bytes, ...]:
    """Return plain and nested files, and two that unpack to thirty megabytes."""
    plain = pa.table({"text": ["my pet python", None, "é"], "label": ["x", "y", "x"]})
    nested = pa.table({"text": ["a"] * 2, "many": [[1, 2], None], "s": [{"a": b"\xff"}, None]})
    large = pa.table({"text": pa.array(["x" * 10_000] * 3_000)})
    return (
        parquet(plain, compression="gzip", use_dictionary=False),
        parquet(nested, data_page_version="2.0"),
        *(parquet(large, compression=kind) for kind in ("zstd", "gzip")),
    )


_SIZES = (b"\x15\x00", b"\x19\x1c", b"\xff\xff\xff\xff\x0f", b"\x7f\xff\xff\xff", b"ARROW:schema")


# --- Models: config.json, tokenizer.json and the files beside it


@cache
def folder() -> tuple[Path, TemporaryDirectory[str]]:
    whole = TemporaryDirectory()
    return Path(whole.name), whole


def take_config(content: bytes) -> None:
    (folder()[0] / "config.json").write_bytes(content)
    config = read_config(folder()[0])
    family = family_of(config)
    assert config["model_type"] == family.model_type
    assert not config.get("is_decoder")
    allowed = allowed_config(config)
    assert set(allowed) <= set(family.keys)
    for name in (family.layers, family.dims, family.heads, "vocab_size", "max_position_embeddings"):
        size = allowed.get(name, 1)
        assert type(size) is int
        assert 1 <= size <= 10_000_000
    json.dumps(allowed, allow_nan=False)


def take_model_file(name: str, content: bytes) -> None:
    """Read a model's tokenizer files: this one, and a vocabulary."""
    for path in folder()[0].iterdir():
        path.unlink()
    (folder()[0] / "vocab.txt").write_text("[PAD]")
    (folder()[0] / name).write_bytes(content)
    files = ModelFiles("folder:a", "a" * 60, "folder", folder()[0], "the folder a", "")
    with readable_folder(files, {"model_type": "bert"}) as copies:
        for path in copies.glob("*_*.json"):
            json.dumps(json.loads(path.read_bytes()), allow_nan=False)


def take_settings(content: bytes) -> None:
    """Read it as each of the files beside a tokenizer: one of them must take it."""
    refusals = []
    for name in (
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
    ):
        try:
            take_model_file(name, content)
        except CheckpointError as exc:
            check_sentence(str(exc))
            refusals.append(exc)
    if len(refusals) == 4:
        raise refusals[0]


@cache
def model_files(name: str) -> tuple[bytes, ...]:
    """Return a file of each family's tiny model."""
    with TemporaryDirectory() as root:
        return tuple((build(family, Path(root, family)) / name).read_bytes() for family in TYPICAL)


def _configs() -> st.SearchStrategy[bytes]:
    bases = model_files("config.json")
    words = {name for content in bases for name in json.loads(content)} | set(TYPICAL)
    more = ("auto_map", "quantization_config", "attn_implementation", "num_labels", "is_decoder")
    return damaged_json(bases, (*sorted(words), *more)) | damaged(bases)


_KINDS = (
    *("Replace", "Prepend", "Sequence", "Strip", "Precompiled", "NFKC", "Split", "Digits"),
    *("Metaspace", "TemplateProcessing", "RobertaProcessing", "WordPiece", "BPE", "Unigram"),
    *("Regex", "String", "normalizers", "pretokenizers", "processors", "special_tokens", "ids"),
    *("vocab", "merges", "unk_id", "dropout", "id", "content", "pattern", "single", "pair", "A"),
    *("(a+)+b", "a{1000}", ".*", "^$", "[", "(?=a)", "\\s+"),
)
_SETTINGS = (
    *("model_max_length", "max_len", "tokenizer_class", "added_tokens_decoder", "errors"),
    *("cls_token", "unk_token", "x_token", "additional_special_tokens", "extra_special_tokens"),
    *("do_lower_case", "strip_accents", "padding_side", "add_prefix_space", "auto_map", "vocab"),
    *("left", "right", "replace", "BertTokenizerFast", "Strange", "0", "99999", "٣", "²", "[PAD]"),
)


def doubling_tokenizer() -> bytes:
    """Return a tokenizer whose normalizer makes a million characters of each."""
    rule = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    tokenizer = json.loads(model_files("tokenizer.json")[0])
    tokenizer["normalizer"] = {"type": "Sequence", "normalizers": [rule] * 20}
    return json.dumps(tokenizer).encode()


# --- The targets, and the tests


@dataclass(frozen=True)
class Target:
    """One way in: what takes the bytes, valid ones, ones to be refused, and any."""

    take: Callable[[bytes], object]
    valid: tuple[bytes, ...]
    bombs: tuple[bytes, ...]
    inputs: st.SearchStrategy[bytes]


def _address() -> Target:
    bases = tuple(map(packed, VIEWS))
    inputs = _VIEW_FILES.map(packed) | damaged(bases)
    return Target(take_address, bases, (b"1", *map(packed, VIEW_BOMBS)), inputs)


def _upload(ending: str) -> Target:
    bases = TEXTS[ending]
    inputs = damaged(bases, _CELLS)
    if ending == ".jsonl":
        inputs |= damaged_json(bases[1:], ("text", "label"))
    return Target(partial(take_upload, ending), bases, (b"", b"\0" * 9, b" " * 500_001), inputs)


def _config() -> Target:
    strange = [b'{"model_type": "strange", "auto_map": {"AutoModel": "code.py"}}', b"[" * 100_000]
    return Target(take_config, model_files("config.json"), tuple(strange), _configs())


def _tokenizer() -> Target:
    bases = model_files("tokenizer.json")
    inputs = damaged_json(bases, _KINDS) | damaged(bases)
    return Target(
        partial(take_model_file, "tokenizer.json"), bases, (doubling_tokenizer(),), inputs
    )


def _settings() -> Target:
    bases = (*model_files("tokenizer_config.json"), b'{"<a>": 299, "<b>": 298}')
    inputs = damaged_json(bases, _SETTINGS) | damaged(bases)
    return Target(take_settings, bases, (b"[" * 100_000, b"9" * 5_000), inputs)


def _parquet() -> Target:
    bases = _parquet_files()
    return Target(
        partial(take_upload, ".parquet"),
        bases[:2],
        (b"PAR1PAR1", bases[2][:-9], *bases[2:]),
        damaged(bases, _SIZES).map(lambda content: b"PAR1" + content[4:-4] + b"PAR1"),
    )


def _excel() -> Target:
    bases = (excel({"mine": [["text", "label"], ["I love it", 1], ["So do I", True]]}),)
    return Target(partial(take_upload, ".xlsx"), bases, (b"", bases[0][:-9]), damaged(bases))


TARGETS: dict[str, Callable[[], Target]] = {
    "address": cache(_address),
    "state": lambda: Target(take_state_file, VIEWS, VIEW_BOMBS, _VIEW_FILES),
    **{ending: cache(partial(_upload, ending)) for ending in TEXTS},
    "config": cache(_config),
    "settings": cache(_settings),
}
APART: dict[str, Callable[[], Target]] = {
    "tokenizer": cache(_tokenizer),
    "parquet": cache(_parquet),
    "excel": cache(_excel),
}


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
def test_any_bytes_are_taken_or_refused_in_a_sentence(name: str, data: st.DataObject) -> None:
    target = TARGETS[name]()
    is_taken(target.take, data.draw(target.inputs))


@pytest.mark.slow
@pytest.mark.parametrize("name", APART)
@settings(max_examples=settings.default.max_examples // 5)
@given(data=st.data())
def test_any_file_read_in_its_own_process_is_taken_or_refused_in_a_sentence(
    name: str, data: st.DataObject
) -> None:
    target = APART[name]()
    is_taken(target.take, data.draw(target.inputs))


@pytest.mark.slow
@pytest.mark.parametrize("name", {**TARGETS, **APART})
def test_valid_bytes_are_taken_and_bombs_refused(name: str) -> None:
    target = {**TARGETS, **APART}[name]()
    assert all(is_taken(target.take, content) for content in target.valid)
    assert not any(is_taken(target.take, content) for content in target.bombs)
