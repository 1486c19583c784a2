"""The encoding of a file's bytes: by its byte order mark, strict UTF-8, or a noted guess.

Nothing here holds the whole text. Files are decoded in steps, as a file of 100 MB may be 400 MB as
one string.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from contextlens.core.errors import CorpusError
from contextlens.corpus.table import named

__all__ = ["Charset", "charset_of", "open_text"]

_STEP = 1 << 20  # bytes
_SAMPLE = 1 << 15  # bytes from which an encoding is guessed
_ALLOWED = "Give a text file (.txt, .csv, .tsv, .json, .jsonl) or a Parquet file (.parquet)."
_MAX_NULS = 0.01  # of the bytes: more of them is no text

_MARKS = (  # UTF-32 before UTF-16, as its mark begins with the same two bytes
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_BEGINNINGS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Excel or Word document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a Parquet file, whose name must end in .parquet"),
)
_SCRIPTS = {
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp932": "Shift-JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "CP949 (Korean)",
}
"""Encodings to guess from if over a third of the letters are not ASCII, by codec."""

_LATIN = "Latin-1 (Windows-1252)"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))


@dataclass(frozen=True)
class Charset:
    """An encoding: Python's codec and its handling of errors, a title, and notes.

    `has_nul` is true if the text has NULs, which become U+FFFD.
    """

    codec: str
    title: str
    errors: str = "strict"
    notes: tuple[str, ...] = ()
    has_nul: bool = False


def open_text(content: bytes, charset: Charset, *, newline: str | None) -> io.TextIOWrapper:
    """Return a file's text as a stream; `newline` is that of `open`.

    Copies no bytes, unless there are NULs to replace.
    """
    if charset.has_nul:
        texts = (text.replace("\0", "\ufffd") for text in _decoded(content, charset))
        content, charset = b"".join(map(str.encode, texts)), Charset("utf-8", "")
    stream = io.BytesIO(content)
    return io.TextIOWrapper(stream, charset.codec, charset.errors, newline=newline)


def charset_of(name: str, content: bytes) -> Charset:
    """Return the encoding of a file's bytes.

    Raises:
        CorpusError: the bytes are not text.
    """
    for beginning, kind in _BEGINNINGS:
        if content.startswith(beginning):
            raise CorpusError(f"{named(name)} is not text: it begins like {kind}. {_ALLOWED}")
    charset = _marked(content) or _unmarked(name, content)
    n_nuls = _n_nuls(content, charset)
    if not n_nuls:
        return charset
    if n_nuls > max(1, _MAX_NULS * len(content)):
        raise _not_text(name, f"{n_nuls:,} of its {len(content):,} bytes are NUL (U+0000)")
    note = f"{n_nuls:,} NUL byte{'s were' if n_nuls > 1 else ' was'} replaced by �."
    return replace(charset, notes=(*charset.notes, note), has_nul=True)


def _n_nuls(content: bytes, charset: Charset) -> int:
    if charset.codec in {"utf-16", "utf-32"}:
        return sum(text.count("\0") for text in _decoded(content, charset))
    return content.count(b"\0")


def _not_text(name: str, why: str) -> CorpusError:
    return CorpusError(f"{named(name)} is not text: {why}. {_ALLOWED} Save text as UTF-8.")


def _marked(content: bytes) -> Charset | None:
    for mark, codec, title in _MARKS:
        if content.startswith(mark):
            if _decodes(content, codec):
                return Charset(codec, title)
            note = f"Read as {title}; what is broken in it is replaced by �."
            return Charset(codec, title, "replace", (note,))
    return None


def _unmarked(name: str, content: bytes) -> Charset:
    if _decodes(content, "utf-8"):
        return Charset("utf-8", "UTF-8")
    sample = content[:_SAMPLE]
    if (len(sample) - len(sample.translate(None, _CONTROLS))) * 50 > len(sample):
        raise _not_text(name, "it is full of control characters")
    good, bad = _utf8_characters(content)
    if good >= 10 * bad:
        note = f"Read as UTF-8; {bad:,} broken character{'s' * (bad > 1)} replaced by �."
        return Charset("utf-8", "UTF-8", "replace", (note,))
    codec = _guess(content)
    title = _SCRIPTS.get(codec, _LATIN)
    return Charset(codec, title, notes=(f"Read as {title}, guessed from its bytes.",))


def _guess(content: bytes) -> str:
    """Return the codec of text that is not UTF-8; Latin-1 comes last, as it takes any bytes."""
    sample = _sample(content)
    foreign = len(re.findall(rb"[\x80-\xff]", sample))
    letters = len(re.findall(rb"[A-Za-z]", sample))
    candidates = ["cp1252", "latin-1"]
    if foreign * 2 > letters:  # in western European languages it is one letter in ten
        from charset_normalizer import from_bytes

        best_guess = from_bytes(
            sample, cp_isolation=[*_SCRIPTS, "cp1252"], preemptive_behaviour=False
        ).best()
        if best_guess is not None and best_guess.encoding in _SCRIPTS:
            candidates.insert(0, best_guess.encoding)
    return next(codec for codec in candidates if _decodes(content, codec))


def _sample(content: bytes) -> bytes:
    """Return bytes from the first line that is not ASCII, cut between two characters."""
    first = re.search(rb"[\x80-\xff]", content)
    start = content.rfind(b"\n", 0, first.start()) + 1 if first else 0
    start = max(start, first.start() - 1_000) if first else 0
    sample = content[start : start + _SAMPLE]
    if len(sample) < _SAMPLE:
        return sample
    end = max(sample.rfind(mark) for mark in (b"\n", b" ", b","))
    return sample[:end] if end > 0 else sample


def _decoded(content: bytes, charset: Charset) -> Iterator[str]:
    """Yield the text of a file in steps."""
    decoder = codecs.getincrementaldecoder(charset.codec)(charset.errors)
    view = memoryview(content)
    for start in range(0, len(content), _STEP):
        yield decoder.decode(view[start : start + _STEP], start + _STEP >= len(content))


def _decodes(content: bytes, codec: str) -> bool:
    try:
        return all(True for _ in _decoded(content, Charset(codec, "")))
    except UnicodeError:
        return False


def _utf8_characters(content: bytes) -> tuple[int, int]:
    """Return the numbers of valid and of broken UTF-8 characters beyond ASCII."""
    beyond = bad = 0
    for text in _decoded(content, Charset("utf-8", "", "replace")):
        bad += text.count("\ufffd")
        beyond += len(text) - len(text.encode("ascii", "ignore"))
    return beyond - bad, bad
