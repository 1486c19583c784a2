"""Claims of a page, gathered over many inputs: numbers that are numbers, and no dead sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from contextlens.content.language import Claim, table

__all__ = ["read", "unreached"]

COMPONENTS = Path(__file__).parents[2] / "components" / "contextlens"


def read(claims: Iterable[Claim]) -> set[str]:
    """The keys of claims, each with its "one" or "several"; all can be said and are in order."""
    keys = set()
    for each in claims:
        numbers = [value for value in each.numbers.values() if isinstance(value, float)]
        assert all(map(math.isfinite, numbers)), each
        text = str(each)
        assert text == text.strip(), each
        assert "  " not in text, each
        keys.add(_whole_key(each))
    return keys


def unreached(page: str, keys: Iterable[str]) -> list[str]:
    """The sentences of a page's section that no claim said, nor any code but that of claims."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in COMPONENTS.rglob("*.py"))
    code = re.sub(r"""\bclaim\(\s*f?["'][^"']*["']""", "", code)
    every = set(_leaves(page)) - set(_leaves(f"{page}.controls"))
    return sorted(key for key in every - set(keys) if not _is_named(key, code))


def _is_named(key: str, code: str) -> bool:
    """True if code has the key, without "one" and "several", or all of it but its last part."""
    whole = key.removesuffix(".one").removesuffix(".several")
    parent = whole.rpartition(".")[0]
    names = (f'"{whole}"', f"'{whole}'", f'"{parent}.{{', f'table("{parent}")[')
    return any(name in code for name in names)


def _whole_key(each: Claim) -> str:
    try:
        several = set(table(each.key)) >= {"one", "several"}
    except KeyError:
        return each.key
    assert several, each
    number = {0: "none", 1: "one"}.get(each.numbers["n"], "several")
    return f"{each.key}.{number if number in table(each.key) else 'several'}"


def _leaves(key: str) -> Iterator[str]:
    try:
        entries = table(key)
    except KeyError:
        return
    for name, value in entries.items():
        whole = f"{key}.{name}"
        if isinstance(value, dict):
            yield from _leaves(whole)
        else:
            yield whole
