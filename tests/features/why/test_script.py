"""The scripts under the hood give each explanation's numbers, in every family."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.why.explanation import Explanation
from contextlens.features.why.inputs import InputsResult, trace_inputs
from contextlens.features.why.leave_out import LeaveOutResult, leave_out
from contextlens.features.why.shares import shares_at
from contextlens.features.why.swap_in import swap_in
from contextlens.features.why.switch_off import To, switch_off
from tests.features.why.scores import PAIR, score_on, sentence, view_on
from tests.support.snippets import drawn, run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import FAMILIES

CAT = sentence("A python slept", "python")


def left(
    result: Explanation, folder: Path | None = None, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The variables that a script leaves; it loads no model where `names` has one."""
    code = result.snippet()
    assert "contextlens" not in code
    if folder is not None:
        assert f"path/to/{folder.name}" in code
        code = code.replace(f"path/to/{folder.name}", str(folder))
    if names:
        code = re.sub(r"^(tokenizer|model) = .*$", "", code, flags=re.MULTILINE)
    return run(code, names)


def assert_same(
    result: Explanation, folder: Path | None = None, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Check the script's numbers against the page; return its tokenizer and model."""
    found = left(result, folder, names)
    if picture := result.chart_snippet():
        drawn(picture, found)
    for script, page in _numbers(result, found):
        plain = script.tolist() if hasattr(script, "tolist") else script
        np.testing.assert_allclose(plain, page, rtol=0, atol=2e-5)
    return {name: found[name] for name in ("tokenizer", "model")}


def _numbers(result: Explanation, found: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Each number of the script beside that of the page."""
    if isinstance(result, LeaveOutResult):
        indices = {id(word): i for i, word in enumerate(result.words)}
        changes = np.diag(result.changes) if result.pairs is None else result.pairs
        return [
            (
                found["changes"][result.case_name(case)],
                changes[indices[id(case[0])], indices[id(case[-1])]],
            )
            for case in result.written_cases()
        ]
    if isinstance(result, InputsResult):
        return [
            (found["shares"][name], getattr(result, name).shares) for name in ("first", "second")
        ]
    names = {"shares", "fractions", "heads", "attention", "feed_forward"}
    return [(found[name], array) for name, array in result.arrays().items() if name in names]


SLOW = {"gemma3_text", "embedding_gemma2_text"}
"""transformers makes its masks entry by entry, at each of the hundreds of runs in the scripts."""


@pytest.mark.parametrize(
    "family",
    [pytest.param(one, marks=[pytest.mark.slow] if one in SLOW else []) for one in FAMILIES],
)
def test_the_scripts_give_every_familys_numbers(
    tiny_service: EncoderService, tiny_root: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextlens.features.why.switch_off.N_SAMPLE", 4)
    how = {"model": f"folder:{family}", "what": ("mean", "cls", "word")[len(family) % 3]}
    folder, view = tiny_root / family, view_on(PAIR, CAT, **how)
    score = score_on(tiny_service, PAIR, CAT, layer=2, **how)
    to: To = "mean" if len(family) % 2 else "zero"
    names = assert_same(shares_at(score), folder)
    for result in (
        leave_out(score, tiny_service, how="hidden", pairs=True),
        leave_out(score, tiny_service),
        switch_off(view, score, tiny_service, to=to),
        swap_in(score, tiny_service),
        trace_inputs(score, tiny_service),
    ):
        assert_same(result, folder, names)


def test_awkward_texts_are_written_so_that_python_reads_them_back(
    tiny_service: EncoderService, tiny_root: Path
) -> None:
    names = None
    for i, text in enumerate(AWKWARD.values()):
        if i % 2 == 0:
            score = score_on(tiny_service, sentence(text), CAT, model="folder:bert")
            result = leave_out(score, tiny_service, how="hidden" if i % 4 else "taken")
            names = assert_same(result, tiny_root / "bert", names)


@pytest.mark.parametrize("to", ["zero", "mean"])
def test_at_layer_0_nothing_is_switched_off_and_the_rest_still_runs(
    tiny_service: EncoderService, tiny_root: Path, to: To
) -> None:
    how, folder = {"model": "folder:albert", "layer": 0}, tiny_root / "albert"
    score = score_on(tiny_service, PAIR, CAT, **how)
    found = left(switch_off(view_on(PAIR, CAT, **how), score, tiny_service, to=to), folder)
    assert found["heads"] == []
    others = score_on(tiny_service, CAT, sentence("A river slept"), **how)
    assert_same(swap_in(others, tiny_service, into="second"), folder)
    assert_same(trace_inputs(score, tiny_service), folder)


def test_where_there_is_no_way_the_script_shows_that(
    tiny_service: EncoderService, tiny_root: Path
) -> None:
    result = swap_in(score_on(tiny_service, CAT, CAT, model="folder:bert"), tiny_service)
    found = left(result, tiny_root / "bert")
    assert float((found["a"] - found["b"]).norm()) == 0
