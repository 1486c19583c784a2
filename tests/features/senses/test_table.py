"""The table of the docs is what its command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.content.wording import percent
from components.core import BUNDLED_ID, EncoderService
from components.corpus.bundled import ambiguous_corpus
from components.corpus.live import LiveCorpus
from components.features.senses.table import table
from components.features.senses.words import WordUses, course_of, word_in

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def printed(service: EncoderService) -> list[str]:
    return table(service).splitlines()


def cells(line: str) -> list[str]:
    return [cell.strip().replace("*", "") for cell in line.strip("| \n").split(" | ")]


@pytest.mark.slow
def test_the_docs_have_the_table_as_it_is_computed(printed: list[str]) -> None:
    """Within what rounding on another machine may turn: one occurrence of the rarest."""
    told = (ROOT / "docs" / "senses.md").read_text(encoding="utf-8")
    written = [line for line in told.splitlines() if line.startswith("|")]
    assert len(written) == len(printed)
    for ours, theirs in zip(printed, written, strict=True):
        assert cells(ours)[:4] == cells(theirs)[:4]
        for a, b in zip(cells(ours)[4:], cells(theirs)[4:], strict=True):
            if a.endswith("%"):
                assert abs(int(a[:-1]) - int(b[:-1])) <= 4, (ours, theirs)


@pytest.mark.slow
def test_a_row_is_the_words_own_curve(service: EncoderService, printed: list[str]) -> None:
    corpus = LiveCorpus(ambiguous_corpus(), service, BUNDLED_ID)
    found = word_in(corpus, "bank", "sense")
    assert isinstance(found, WordUses)
    (line,) = (line for line in printed if line.startswith("| bank"))
    curve = course_of(found, corpus).curve
    assert cells(line) == [
        "bank",
        "2",
        str(curve[0].n),
        percent(found.trial.chance),
        *(percent(own.accuracy) for own in curve),
    ]
