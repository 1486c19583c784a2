"""Patterns that could be slow on some text are not let in; those of published tokenizers are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.tokenizer_file.patterns import shortest_match

SLOW = [
    "(x+x+)+y",
    "(a|aa)+$",
    "(a*)*b",
    "a+b",
    "a+(?=b)",
    r"\s+$",
    r".*.*=.*",
    r"(a)\1",
    r"\1",
    r"\k<name>",
    "a++b",
    "a+?b",
    "a{0,64}b{0,64}c",
    "a{1,9999}",
    "a{9999,}",
    "[[:alpha:]]+",
    "[a&&b]",
    r"\Qa*b",
    r"\X",
    "a?" * 10 + "b",
    "|".join("a" * 33),
    "a" * 513,
    "a*",
    "a|",
    "",
    "(",
    "[",
    "\\",
]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize("pattern", SLOW, ids=lambda pattern: repr(pattern)[:30])
def test_what_may_be_slow_or_matches_nothing_is_not_let_in(pattern: str) -> None:
    assert shortest_match(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (" {2,}", 2),
        (GPT2, 1),
        (r"\s+", 1),
        (r"\d", 1),
        (r"\p{N}{1,3}", 1),
        (r"[^\s\p{L}]+|xy", 1),
        (r"[a|b]+|cd", 1),
        ("^\\s+", 1),
        (r"\.", 1),
        ("abc", 3),
    ],
)
def test_published_patterns_are_let_in(pattern: str, length: int) -> None:
    assert shortest_match(pattern) == length


@given(st.text(alphabet="ab+*?{}12,[]^|()\\s.$", max_size=12))
def test_what_is_let_in_matches_at_least_so_much(pattern: str) -> None:
    length = shortest_match(pattern)
    if length is not None:
        found = re.compile(pattern).search("aabb  11ab,{}[]^|()$" * 3)
        assert found is None or len(found[0]) >= length > 0
