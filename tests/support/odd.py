"""Odd inputs for readings, and what every sentence must be free of."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from contextlens.content.language import Claim, table

__all__ = ["ODD_NAMES", "Said", "assert_plain", "assert_said", "odd_names"]

ODD_NAMES = (
    *("the", "python", "##on", "[CLS]", "[UNK]", "a", "A", ".", "*", "_", "`", "  ", "\u200b"),
    *("🐍", "👩‍👧", "שלי", "مرحبا", "蟒", "ﬁ", "e\u0301", "<b>", "$x$", ":snake:", "http://a.b"),
    *("\\", "|", "%s", "{0}", "0.50", "50%", "x" * 40, "two\nlines", "“quoted”"),
)
"""Words, labels and titles as visitors and models have them."""


def odd_names(chance: random.Random, n: int, *, few: int | None = None) -> list[str]:
    """Some of them, of few different kinds or many."""
    kinds = chance.sample(ODD_NAMES, few or chance.choice((1, 2, 5, 20)))
    return [chance.choice(kinds) for _ in range(n)]


def assert_plain(claims: Iterable[object]) -> None:
    """Every sentence can be said: no gap is left, nothing is "nan", no space is doubled."""
    for said in claims:
        text = str(said).replace("\\{", "").replace("\\}", "").replace("{0}", "")
        assert text.strip() == text != ""
        for sign in ("nan", "{", "}", "  ", " .", "-0.00"):
            assert sign not in text.replace("“ ”", ""), text


def assert_said(claims: Sequence[object], key: str, **numbers: Any) -> None:
    """One of the claims has this verdict, with these numbers."""
    (found,) = [own for own in claims if isinstance(own, Claim) and own.key == key]
    for name, value in numbers.items():
        own = found.numbers[name]
        same = own == value if isinstance(value, (str, int)) else abs(own - value) < 1e-6
        assert same, (key, name, own, value)


class Said:
    """The claims of a test's many inputs: each can be said, and together they are all there are."""

    def __init__(self) -> None:
        self.keys: set[str] = set()

    def __call__(self, claims: Iterable[Any]) -> list[Any]:
        """The claims, noted."""
        noted = list(claims)
        assert_plain(noted)
        self.keys.update(own.key for own in noted if isinstance(own, Claim))
        return noted

    def assert_all(self, *tables: str, without: tuple[str, ...] = ()) -> None:
        """Every sentence of some tables of the language file was said."""
        assert {*_sentences_of(*tables)} - {*without} <= self.keys


def _sentences_of(*keys: str) -> Iterator[str]:
    for key in keys:
        for name, entry in table(key).items():
            whole = f"{key}.{name}"
            is_table = isinstance(entry, Mapping) and set(entry) != {"one", "several"}
            yield from _sentences_of(whole) if is_table else [whole]
