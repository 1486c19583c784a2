"""Exact reading at a click, on the page Map, where texts are read fast."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextlens.content.language import say
from contextlens.maps import precision
from contextlens.ui.corpora.controls import EXACT
from tests.support.fields import field
from tests.support.maps import QUICK, TEXTS, map_view
from tests.support.pages import app_settings, everything_said, framed, settled, shown_view
from tests.support.speed import measured


@pytest.fixture(autouse=True)
def _fast_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(precision, "_MIN_SECONDS", 0.0)
    with app_settings(DATA_DIR=str(measured(tmp_path / "data", 2.0)), ALLOW_DOWNLOADS="0"):
        yield


@pytest.mark.slow
def test_a_fast_map_says_so_and_a_click_reads_it_exactly() -> None:
    app = settled(framed(map_view(*TEXTS, unit="sentences", **QUICK), "map"))
    said = say("texts.fast", n=4, median=0.0, greatest=0.0).partition(".")[0]
    assert said in everything_said(app)
    codes = "\n".join(code.value for code in app.code)
    assert '"precision": "fast"' in codes
    assert '"errors of cosines"' in codes
    assert "dtype=torch.bfloat16" in codes
    app = settled(field(app.toggle, EXACT.key).set_value(True).run())
    assert EXACT.of(shown_view(app))
    assert said not in everything_said(app)
    codes = "\n".join(code.value for code in app.code)
    assert '"precision": "exact"' in codes
    assert "dtype=torch.float32" in codes
    assert "bfloat16" not in codes
    app = settled(field(app.toggle, EXACT.key).set_value(False).run())
    assert said in everything_said(app)
