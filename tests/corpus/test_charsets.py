from __future__ import annotations

import codecs
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.charsets import charset_of, open_text

RUSSIAN = "Мама мыла раму, а питон спал. Это хорошо."
JAPANESE = "私はパイソンが大好きです。今日はいい天気ですね。"
CHINESE = "我喜欢用这种语言编程。今天天气很好。"
GREEK = "Μου αρέσει να προγραμματίζω κάθε μέρα."
GERMAN = "Schöne Grüße aus München, über den Fluß."


def read(content: bytes) -> str:
    return open_text(content, charset_of("a.txt", content), newline=None).read()


@settings(deadline=None)
@pytest.mark.parametrize(
    ("codec", "title"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-32", "UTF-32")],
)
@given(
    text=st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1)
)
def test_unicode_is_read_as_it_was_written(codec: str, title: str, text: str) -> None:
    content = text.encode(codec)
    if text.startswith("\ufeff") or content.startswith((b"%PDF-", b"GIF8", b"PAR1", b"PK\3\4")):
        return
    charset = charset_of("a.txt", content)
    assert (charset.title, charset.notes) == (title, ())
    assert read(content) == text


def test_both_byte_orders_are_read() -> None:
    for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        assert read(mark + JAPANESE.encode(codec)) == JAPANESE


@pytest.mark.parametrize(
    ("text", "codec", "title"),
    [
        (GERMAN, "cp1252", "Latin-1 (Windows-1252)"),
        ("“Le café”, déjà vu à l’hôtel", "cp1252", "Latin-1 (Windows-1252)"),
        ("naïve", "latin-1", "Latin-1 (Windows-1252)"),
        (RUSSIAN, "cp1251", "Windows-1251 (Cyrillic)"),
        (RUSSIAN, "koi8_r", "KOI8-R (Cyrillic)"),
        (GREEK, "cp1253", "Windows-1253 (Greek)"),
        (JAPANESE, "cp932", "Shift-JIS (Japanese)"),
        (JAPANESE, "euc_jp", "EUC-JP (Japanese)"),
        (CHINESE, "gb18030", "GB18030 (Chinese)"),
    ],
)
@pytest.mark.parametrize("times", [1, 3_000])
def test_an_older_encoding_is_guessed_and_said(
    text: str, codec: str, title: str, times: int
) -> None:
    content = "\n".join([text] * times).encode(codec)
    charset = charset_of("a.txt", content)
    assert charset.title == title
    assert charset.notes == (f"Read as {title}, guessed from its bytes.",)
    assert read(content) == content.decode(codec)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_a_few_zero_bytes_are_replaced_and_said(codec: str) -> None:
    text = "é" * 200 + "\0"
    content = (text + "plain" * 200 + "\0").encode(codec)
    assert charset_of("a.txt", content).notes[-1] == "2 NUL bytes were replaced by �."
    assert read(content) == text.replace("\0", "\ufffd") + "plain" * 200 + "\ufffd"


def test_any_byte_but_zero_is_a_character_of_latin_1() -> None:
    content = b"plain words, and then " * 30 + bytes(range(0x80, 0x100))
    assert len(read(content)) == len(content)


@pytest.mark.parametrize(
    "break_it", [lambda c: c[:-1], lambda c: b"\xff" + c, lambda c: c + b"\xe9"]
)
def test_utf_8_with_a_broken_character_is_not_taken_for_another_encoding(
    break_it: Callable[[bytes], bytes],
) -> None:
    content = break_it(JAPANESE.encode())
    charset = charset_of("a.txt", content)
    assert charset.notes == ("Read as UTF-8; 1 broken character replaced by �.",)
    assert read(content).replace("\ufffd", "") in JAPANESE


def test_a_broken_utf_16_is_read_as_far_as_it_goes() -> None:
    content = "one two".encode("utf-16") + b"\x00\xd8"  # half a surrogate pair
    assert charset_of("a.txt", content).notes
    assert read(content) == "one two\ufffd"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n rest", "PNG image"),
        (b"\xff\xd8\xff\xe0 rest", "JPEG image"),
        (b"PK\x03\x04 rest", "Excel"),
        (b"\x1f\x8b\x08 rest", "gzip"),
        (b"%PDF-1.7 rest", "PDF"),
        (b"PAR1 rest", ".parquet"),
        (b"text\0with\0zero bytes", "2 of its 20 bytes are NUL"),
        ("one of\0two\0inside".encode("utf-16"), "2 of its 36 bytes are NUL"),
        (b"\x01\x02\x03\x04\xff" * 20, "control characters"),
    ],
)
def test_what_is_not_text_is_refused_in_a_sentence(content: bytes, what: str) -> None:
    with pytest.raises(CorpusError, match=r"photo\.csv is not text") as caught:
        charset_of("photo.csv", content)
    assert what in str(caught.value)
    assert "Give a text file" in str(caught.value)
