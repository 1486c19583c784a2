"""Fast work is never slower than exact work: which precision it gets, and what says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.encoder.devices import FILE, fast_precision, machine
from tests.support.speed import measured

TEXT = ["The enzyme folds into a barrel whose wall grips a single zinc atom."]


def test_fast_stays_close_and_gives_float32_where_bfloat16_is_quick(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    service = open_with(data_dir=measured(tmp_path, 2.0))
    assert service.load(BUNDLED_ID).fast.dtype == "bfloat16"
    exact = service.encode(BUNDLED_ID, TEXT)[0]
    fast = service.encode(BUNDLED_ID, TEXT, precision="fast")[0]
    assert fast.hidden.dtype == np.float32
    assert (exact.passport.precision, fast.passport.precision) == ("exact", "fast")
    assert not np.array_equal(fast.hidden, exact.hidden)
    norms = np.linalg.norm(fast.hidden, axis=-1) * np.linalg.norm(exact.hidden, axis=-1)
    assert ((fast.hidden * exact.hidden).sum(axis=-1) / norms).min() > 0.999
    assert fast.passport.settings["computed in"] == "bfloat16"
    by_recipe = [
        service.sentence_vectors(BUNDLED_ID, TEXT, precision=precision)[0]
        for precision in ("exact", "fast", "exact")
    ]
    assert [one.passport.precision for one in by_recipe] == ["exact", "fast", "exact"]
    units = [
        one.hidden[-1].mean(0) / np.linalg.norm(one.hidden[-1].mean(0)) for one in (exact, fast)
    ]
    for one, unit in zip(by_recipe, units, strict=False):
        np.testing.assert_allclose(one.vector, unit, atol=1e-6)
    np.testing.assert_array_equal(by_recipe[0].vector, by_recipe[2].vector)


@pytest.mark.parametrize("ratio", [0.45, 1.0, 1.1])
def test_fast_runs_exact_and_says_so_where_bfloat16_is_not_quick(
    ratio: float, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    service = open_with(data_dir=measured(tmp_path, ratio))
    card = service.load(BUNDLED_ID)
    assert card.fast.dtype == "float32"
    assert f"{1 / ratio:.0%}" in card.fast.reason
    exact = service.encode(BUNDLED_ID, TEXT)[0]
    fast = service.encode(BUNDLED_ID, TEXT, precision="fast")[0]
    np.testing.assert_array_equal(fast.hidden, exact.hidden)
    assert fast.passport.precision == "exact"
    assert card.fast.reason in fast.passport.settings.values()
    assert card.fast.reason not in exact.passport.settings.values()


def test_the_machine_is_measured_once(tmp_path: Path) -> None:
    found = fast_precision(tmp_path / "new")
    kept = json.loads((tmp_path / "new" / FILE).read_text(encoding="utf-8"))
    assert kept["machine"] == machine()
    assert 0.01 < kept["ratio"] < 100
    assert (found.dtype == "bfloat16") == (kept["ratio"] >= 1.15)
    assert fast_precision(measured(tmp_path / "known", 7.0)).reason.count("14%") == 1


@pytest.mark.parametrize(
    "kept",
    ["[]", "{}", '{"machine": 1, "ratio": 9.0}', "\x00", "[" * 50_000],
    ids=lambda text: text[:12],
)
def test_what_is_kept_wrongly_is_measured_again(kept: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(kept, encoding="utf-8")
    fast_precision(tmp_path)
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["machine"] == machine()


@pytest.mark.parametrize("ratio", [0.0, "2", float("nan"), float("inf"), None])
def test_a_ratio_that_cannot_be_is_measured_again(ratio: object, tmp_path: Path) -> None:
    fast_precision(measured(tmp_path, ratio))
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["ratio"] not in (ratio, None)


def test_another_machines_measurement_does_not_count(tmp_path: Path) -> None:
    fast_precision(measured(tmp_path, 777.0, on="another"))
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["ratio"] != 777.0


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert fast_precision(tmp_path / "file").dtype in {"bfloat16", "float32"}
