"""The verdict on each peer, the report of all, and the page that shows it."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from docs.sections import replace_section, section
from tests.benchmarks.machine import write
from tests.benchmarks.peers.report import TABLE, behind, keep, markdown, report, table
from tests.benchmarks.peers.rows import Group, Missing, Row
from tests.benchmarks.peers.views import MAX_CHARACTERS, longest
from tests.support.app_server import ROOT


def row(ours: float | tuple[float, ...], theirs: tuple[float, ...], **changed: object) -> Row:
    given = ours if isinstance(ours, tuple) else (ours,) * len(theirs)
    return Row("a task", "a peer", given, theirs, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (row(1.0, (2.0, 2.1, 1.9)), "ahead"),
        (row(1.0, (0.5, 0.6, 0.4)), "BEHIND"),
        (row(1.0, (0.9, 1.2, 0.8, 1.1)), "level"),
        (row(1.0, (0.5, 0.6, 0.4, 0.5, 9.0)), "BEHIND"),  # one round does not decide
        (row(1.0, (2.0, 2.1, 2.2, 2.0, 0.1)), "ahead"),
        (row(1.0, (0.95, 0.95), slack=0.1), "level"),
        (row(1.0, (0.85, 0.85), slack=0.1), "BEHIND"),
        (row(0.83, (0.82,), better="more"), "ahead"),
        (row(0.82, (0.83,), better="more"), "BEHIND"),
        (row(0.82, (0.83,), better="more", slack=0.015), "level"),
        (row(1.0, (1.0,)), "level"),
    ],
)
def test_a_verdict_is_of_what_the_rounds_tell_apart(found: Row, verdict: str) -> None:
    assert found.verdict == verdict


def test_a_ratio_is_how_many_times_as_good() -> None:
    assert row((1.0, 2.0, 4.0), (4.0, 4.0, 4.0)).ratios == (4.0, 2.0, 1.0)
    assert row((1.0, 2.0, 4.0), (4.0, 4.0, 4.0), better="more").ratio == 0.5


@pytest.mark.parametrize(("ours", "theirs"), [((), ()), ((1.0,), (1.0, 2.0)), ((0.0,), (1.0,))])
def test_rounds_without_a_partner_are_refused(ours: tuple[float, ...], theirs: tuple[float, ...]):
    with pytest.raises(ValueError, match="a task"):
        row(ours, theirs)


def test_who_falls_behind_is_told_so_in_a_sentence() -> None:
    slow = Row("a slow task", "umap-learn", (3.0,), (1.5,), packages=("umap-learn",))
    quick = Row("a quick task", "umap-learn", (1.0,), (1500.0,))
    given = report({"maps": Group([slow, quick], [Missing("BertViz", "install it")], others=0.5)})
    sentence = "Contextlens falls behind umap-learn in “a slow task”: 3.00 s against 1.50 s."
    assert behind(given) == [sentence]
    for said in (table(given), markdown(given)):
        assert sentence in said
        assert f"umap-learn {metadata.version('umap-learn')}" in said
        assert "BertViz was not asked: install it" in said
        assert "Other programs took part of the machine (maps 50%)" in said
        assert given["machine"]["processor"] in said
        assert "1,500 x" in said


def test_the_longest_view_fills_the_engine_and_no_more() -> None:
    each = 3.3  # bytes, by the square of the tokens
    n = longest(each * 1000 * 512**2)
    assert each * 1000 * n**2 <= MAX_CHARACTERS < each * 1000 * (n + 1) ** 2
    assert longest(1e6) == 512  # the model reads no more


def test_a_report_is_kept_beside_the_page_that_shows_it(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text("Before.\n<!-- peers: begin -->\nold\n<!-- peers: end -->\nAfter.\n")
    given = report({"one": Group([row(1.0, (2.0,))])})
    keep(given, page.with_suffix(".json"))
    assert section(page.read_text(), TABLE) == markdown(given)
    assert page.read_text().startswith("Before.")
    assert page.read_text().endswith("After.\n")
    assert json.loads(page.with_suffix(".json").read_text()) == given


def test_a_page_without_the_marks_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lacks <!-- peers: begin -->"):
        replace_section("Nothing here.", TABLE, "a table")
    write({}, tmp_path / "new" / "report.json")
    assert (tmp_path / "new" / "report.json").read_text() == "{}\n"


def test_the_page_shows_the_kept_table() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    kept = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    assert section(page, TABLE) == markdown(kept), "run: python -m tests.benchmarks --keep"
