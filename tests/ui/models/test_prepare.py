"""What the set-up makes ready is there before the first page."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.ui.models import prepare


@pytest.mark.slow
def test_what_the_bundled_model_gives_is_measured_before_the_first_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(tmp_path))
    prepare.main()
    kept = {path.name.rpartition("-")[2] for path in (tmp_path / "baselines").iterdir()}
    assert kept == {"2.npz", "ruler.npz"}
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["Compiling", "Measuring"]


def test_settings_that_cannot_be_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_CACHE_MB", "much")
    with pytest.raises(SystemExit, match="CONTEXTLENS_CACHE_MB"):
        prepare.main()
