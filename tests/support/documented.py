"""Parts of documentation pages that are made from kept measurements, each between two marks."""

from __future__ import annotations

__all__ = ["part", "with_part"]


def with_part(page: str, name: str, text: str) -> str:
    """The page with a part's text replaced.

    Raises:
        ValueError: the page has no such part.
    """
    before, _, after = _split(page, name)
    return f"{before}\n{text.strip()}\n{after}"


def part(page: str, name: str) -> str:
    """A part's text.

    Raises:
        ValueError: the page has no such part.
    """
    return _split(page, name)[1].strip()


def _split(page: str, name: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, has_begin, rest = page.partition(begin)
    inside, has_end, after = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"The page lacks {begin} or {end}.")
    return before + begin, inside, end + after
