from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.corpus.leftovers import cleaned, leftovers_in


@pytest.mark.parametrize(
    ("texts", "examples", "clean"),
    [
        (["A <br /><BR>b", "<b>c</b>"], ("<br />", "<b>"), ["A   b", "c"]),
        (["a &lt; b &amp;&#39;c", None], ("&lt;",), ["a < b &'c", None]),
        (["a #39;gift#39;", r"on Monday \as planned"], ("#39;", "\\"),
         ["a 'gift'", "on Monday as planned"]),
        (["b'caf\\xc3\\xa9'", 'b"it\'s"', None], ("b'…'", ), ["café", "it's", None]),
        (["b'one'", "two"], (), ["b'one'", "two"]),
        (["b'a\\x00b'"], ("b'…'",), ["a\ufffdb"]),
        (["AT&T; 1 < 2 > 0, #1; R&D", "a?b=1&copy=2", "<me@here.org>"], (), None),
        ([r"C:\users", r"\alpha + \beta"], (), None),
    ],
)  # fmt: skip
def test_leftovers_are_noticed_and_cleaned(
    texts: list[str | None], examples: tuple[str, ...], clean: list[str | None] | None
) -> None:
    assert leftovers_in({"text": texts}) == examples
    if clean is not None:
        columns, n_changed = cleaned({"text": texts})
        assert list(columns["text"]) == clean
        assert n_changed == sum(a != b for a, b in zip(texts, clean, strict=True))


@given(st.text(max_size=40))
def test_what_was_escaped_for_html_comes_back(text: str) -> None:
    escaped = html.escape(text)
    if "#" in text or "\\" in text or "&" in text:  # what is no left-over may look like one
        return
    columns, _ = cleaned({"text": [escaped]})
    assert columns["text"] == (text,)


@given(st.lists(st.binary(max_size=20).map(repr), min_size=1))
def test_bytes_as_python_writes_them_never_break(texts: list[str]) -> None:
    columns, _ = cleaned({"text": texts})
    assert len(columns["text"]) == len(texts)
