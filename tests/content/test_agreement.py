"""Counts of none, one and two, and ranges of one number, in every sentence of the file."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextlens.content.agreement import VERBS, agreeing

ROOT = Path(__file__).parents[2] / "components" / "contextlens"
ENGLISH = tomllib.loads((ROOT / "content/english.toml").read_text(encoding="utf-8"))
COUNTS = re.compile(r"^(n|n_\w+|total|tried|count|k|of|most|rows|texts|layers|heads|dims|limit)$")
NO_NOUN = frozenset("as has is its less means plus starts this towards was does".split())  # noqa: SIM905


def form(value: Any, spec: str) -> str:
    return format(value, "" if isinstance(value, int) else ".2f")


def filled(sentence: str, **numbers: Any) -> str:
    written = {name: form(value, "") for name, value in numbers.items()}
    return agreeing(sentence, numbers, form).format(**written)


@pytest.mark.parametrize(
    ("sentence", "n", "expected"),
    [
        ("{n} of {total} tokens are unknown", 1, "1 token is unknown"),
        ("{n} tokens are unknown", 0, "No tokens are unknown"),
        ("Of 2 best texts, {n} are not among", 0, "Of 2 best texts, none are not among"),
        ("only {n} texts", 0, "only 0 texts"),
        ("no word stands out: all {n} contribute", 2, "no word stands out: both contribute"),
        ("All **{n}** positions hold real tokens", 1, "The only position holds real tokens"),
        ("All **{n} texts** of it", 2, "**Both texts** of it"),
        ("At layer {n} tokens are read", 1, "At layer 1 tokens are read"),
        ("{n} of the tokens tried move it", 1, "1 of the tokens tried move it"),
        ("{n} different tokens match", 3, "3 different tokens match"),
    ],
)  # fmt: skip
def test_words_agree_with_their_count(sentence: str, n: int, expected: str) -> None:
    assert filled(sentence, n=n, total=n) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("get {low} to {high}", "get 0.98"),
        ("(**{low}** to **{high}**)", "(**0.98**)"),
        ("rises from {low} to {high}", "rises from 0.98 to 0.98"),
    ],
)
def test_a_range_of_one_number_is_that_number(sentence: str, expected: str) -> None:
    assert filled(sentence, low=0.981, high=0.984) == expected
    assert filled(sentence, low=0.5, high=0.6).count("0.") == 2


def sentences(entry: Any, key: str = "") -> Iterator[tuple[str, str]]:
    for name, value in entry.items():
        whole = f"{key}.{name}".strip(".")
        yield from sentences(value, whole) if isinstance(value, dict) else [(whole, value)]


def test_every_noun_and_verb_behind_a_count_is_known() -> None:
    """So that "1 of 1 tokens are" is said on no page; of names that a count has, each is tried."""
    offenders = []
    for key, text in sentences({k: v for k, v in ENGLISH.items() if k != "glossary"}):
        gaps = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        counts = dict.fromkeys(filter(COUNTS.match, gaps), 1)
        said = agreeing(text, counts, form)
        for name in counts:
            said = re.sub(rf"(?<!layer )(?<!head )\{{{name}(:,)?\}}", "1", said)
        nouns = set(re.findall(r"\b1(?:\*\*)? (?!of )(?:[a-z-]+ )?([a-z]+s)\b", said))
        offenders += [(key, noun) for noun in nouns - NO_NOUN - set(VERBS.values())]
    assert not offenders


def test_a_sentence_without_small_counts_stays_as_it_is() -> None:
    for _, text in sentences(ENGLISH):
        gaps = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        assert agreeing(text, dict.fromkeys(gaps, "“a” to “b”"), form) == text
