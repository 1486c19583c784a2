"""The text that visitors read, in whole sentences in one file: `english.toml`, by key.

A translator needs only that file; pages supply the numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any

from contextlens.content.agreement import agreeing
from contextlens.content.wording import number, percent

__all__ = ["Claim", "claim", "duration", "say", "table"]


@dataclass(frozen=True)
class Claim:
    """A page's sentence as data: its key and its numbers.

    Attributes:
        key: its dotted path in `english.toml`, such as "pairs.claim.better"; the last part is the
            verdict. From a table with "one" and "several", and "none" if zero has a sentence, the
            number `n` selects one.
        numbers: the values for its placeholders: numbers as computed, texts ready to be shown.
    """

    key: str
    numbers: Mapping[str, Any]

    def __str__(self) -> str:
        """The sentence: whole numbers as "1,234", others with two decimals or in their own format.

        A share is shown in per cent if the placeholder is `{share:%}`, see `wording.percent`.
        """
        sentence = agreeing(self._sentence(), self.numbers, _FORMATTER.format_field)
        return _FORMATTER.vformat(sentence, (), self.numbers)

    def _sentence(self) -> str:
        entry = _entry(self.key)
        if isinstance(entry, dict):
            number = {0: "none", 1: "one"}.get(self.numbers["n"], "several")
            entry = entry[number if number in entry else "several"]
        return str(entry)


def claim(key: str, /, **numbers: Any) -> Claim:
    """A sentence of `english.toml` with its numbers, to be read or tested."""
    return Claim(key, numbers)


def say(key: str, /, **numbers: Any) -> str:
    """The text of a sentence of `english.toml`, with its numbers filled in."""
    return str(Claim(key, numbers))


def duration(seconds: float) -> str:
    """A duration in words: "2 seconds" (the shortest), "3 minutes", "1.5 hours"."""
    if seconds < 90:
        return say("page.duration.seconds", n=max(2, round(seconds)))
    if seconds < 5400:
        return say("page.duration.minutes", n=round(seconds / 60))
    return say("page.duration.hours", hours=seconds / 3600)


def table(key: str) -> Mapping[str, Any]:
    """The table at a key of `english.toml`.

    Raises:
        KeyError: the key does not exist, or it holds a sentence.
    """
    entry = _entry(key)
    if not isinstance(entry, dict):
        raise KeyError(key)
    return entry


class _Numbers(Formatter):
    """Formats the numbers in sentences, with a real minus sign; zero has no sign."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str) and not format_spec:
            return value
        if format_spec == "%":
            return percent(value)
        return number(value, format_spec or ("," if isinstance(value, int) else ".2f"))


_FORMATTER = _Numbers()


def _entry(key: str) -> Any:
    entry = _english()
    for part in key.split("."):
        entry = entry[part]
    return entry


@cache
def _english() -> Any:
    source = resources.files("contextlens.content").joinpath("english.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
