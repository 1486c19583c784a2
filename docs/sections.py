"""Sections of these pages that a program writes, each between two comments with its name."""

from __future__ import annotations

__all__ = ["replace_section", "section"]


def section(page: str, name: str) -> str:
    """Return the text of a section.

    Raises:
        ValueError: the page has no such section.
    """
    return _split(page, name)[1].strip()


def replace_section(page: str, name: str, text: str) -> str:
    """Return the page with the text of a section replaced.

    Raises:
        ValueError: the page has no such section.
    """
    before, _, after = _split(page, name)
    return f"{before}\n{text.strip()}\n{after}"


def _split(page: str, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, has_begin, rest = page.partition(begin)
    inside, has_end, after = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"The page lacks {begin} or {end}.")
    return before + begin, inside, end + after
