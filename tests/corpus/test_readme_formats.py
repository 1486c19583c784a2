"""The files that the README shows can be read as it says."""

from __future__ import annotations

import re
from pathlib import Path

from components.corpus.readers import Sheet, read
from components.corpus.targets import guess_marks, targets_of

README = Path(__file__).parents[2] / "README.md"


def shown() -> list[Sheet]:
    tables = re.findall(r"```csv\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return [read("shown.csv", table.encode(), max_bytes=10_000) for table in tables]


def test_marked_words_of_the_readme_are_placed() -> None:
    marked = [sheet for sheet in shown() if "text" in sheet.columns]
    assert len(marked) == 2
    for sheet in marked:
        texts = [cell or "" for cell in sheet.columns["text"]]
        found = targets_of(sheet.columns, texts, guess_marks(list(sheet.columns)))
        both = zip(texts, found.spans, strict=True)
        words = [text[slice(*(span or (0, 0)))] for text, span in both]
        assert words == ["python", "Python"]


def test_words_in_pairs_of_the_readme_are_placed() -> None:
    pairs = [sheet for sheet in shown() if "text1" in sheet.columns]
    assert len(pairs) == 2
    for sheet in pairs:
        titles = list(sheet.columns)
        for side in ("1", "2"):
            marks = guess_marks(titles, side) or guess_marks(titles)
            found = targets_of(sheet.columns, sheet.columns[f"text{side}"], marks)
            assert found.n_missed == 0
