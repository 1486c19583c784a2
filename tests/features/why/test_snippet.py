"""The scripts under the hood give each look's numbers, in every family."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.features.why.compute import (
    How,
    InputsResult,
    LeaveOutResult,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    To,
    integrated_of,
    leave_out,
    shares_at,
    swap_in,
    switch_off,
)
from components.features.why.snippet import case_name, snippet_of, written_cases
from tests.features.why.scores import PAIR, score_on, sentence, view_on
from tests.support.snippets import run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import FAMILIES

CAT = sentence("A python slept", "python")
ALMOST = 2e-5


def left(
    shown: object, folder: Path | None = None, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What a script leaves; where an earlier one loaded the model, it is not loaded again."""
    code = snippet_of(shown)
    assert "components" not in code
    if folder is not None:
        assert f"path/to/{folder.name}" in code
        code = code.replace(f"path/to/{folder.name}", str(folder))
    if names:
        code = re.sub(r"^(tokenizer|model) = .*$", "", code, flags=re.MULTILINE)
    return run(code, names)


def assert_same(
    shown: object, folder: Path | None = None, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The script leaves the numbers that are shown; gives the tokenizer and model it loaded."""
    found = left(shown, folder, names)
    for given, own in _numbers(shown, found):
        plain = given.tolist() if hasattr(given, "tolist") else given
        np.testing.assert_allclose(plain, own, rtol=0, atol=ALMOST)
    return {name: found[name] for name in ("tokenizer", "model")}


def _numbers(shown: object, found: dict[str, Any]) -> list[tuple[Any, Any]]:
    if isinstance(shown, SharesResult):
        return [(found["shares"], shown.by_token.cells)]
    if isinstance(shown, InputsResult):
        return [(found["shares"][name], own.shares) for name, own in zip(
            ("first", "second"), shown.sides, strict=True)]  # fmt: skip
    if isinstance(shown, SwitchOffResult):
        names = ("heads", "attention", "feed_forward")
        return [(found[name], getattr(shown, name)) for name in names]
    if isinstance(shown, SwapInResult):
        return [(found["fractions"], shown.fractions)]
    assert isinstance(shown, LeaveOutResult)
    return [(found["changes"][name], own) for name, own in _changes(shown).items()]


def _changes(shown: LeaveOutResult) -> dict[str, float]:
    places = {id(word): i for i, word in enumerate(shown.words)}
    both = {}
    for case in written_cases(shown):
        i, j = places[id(case[0])], places[id(case[-1])]
        change = shown.changes[i] if i == j or shown.pairs is None else shown.pairs[i, j]
        both[case_name(shown, case)] = float(change)
    return both


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_scripts_give_every_familys_numbers(
    tiny_service: EncoderService, tiny_root: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.features.why.compute.N_SAMPLE", 4)
    how = {"model": f"folder:{family}", "what": ("mean", "cls", "word")[len(family) % 3]}
    folder, view = tiny_root / family, view_on(PAIR, CAT, **how)
    score = score_on(tiny_service, PAIR, CAT, layer=2, **how)
    names = assert_same(shares_at(score), folder)
    assert_same(leave_out(score, tiny_service, how="hidden", pairs=True), folder, names)
    assert_same(leave_out(score, tiny_service), folder, names)
    to: To = "mean" if len(family) % 2 else "zero"
    assert_same(switch_off(view, score, tiny_service, to=to), folder, names)
    assert_same(swap_in(score, tiny_service), folder, names)
    assert_same(integrated_of(score, tiny_service), folder, names)


@pytest.mark.slow
@pytest.mark.parametrize("look", ["shares", "leave_out", "switch_off", "swap_in"])
def test_the_scripts_give_the_opening_numbers(service: EncoderService, look: str) -> None:
    layer = None if look in {"shares", "leave_out"} else 2  # hundreds of runs, one by one
    score, view = score_on(service, layer=layer), view_on(layer=layer)
    shown = {
        "shares": lambda: shares_at(score),
        "leave_out": lambda: leave_out(score, service),
        "switch_off": lambda: switch_off(view, score, service),
        "swap_in": lambda: swap_in(score, service),
    }[look]()
    assert_same(shown)


@pytest.mark.parametrize("how", ["taken", "hidden"])
def test_awkward_texts_are_written_so_that_python_reads_them_back(
    tiny_service: EncoderService, tiny_root: Path, how: How
) -> None:
    for text in list(AWKWARD.values())[:: 3 if how == "taken" else 4]:
        score = score_on(tiny_service, sentence(text), CAT, model="folder:bert")
        assert_same(leave_out(score, tiny_service, how=how), tiny_root / "bert")


@pytest.mark.parametrize("to", ["zero", "mean"])
def test_at_layer_0_nothing_is_switched_off_and_the_rest_still_runs(
    tiny_service: EncoderService, tiny_root: Path, to: To
) -> None:
    how = {"model": "folder:albert", "layer": 0}
    score = score_on(tiny_service, PAIR, CAT, **how)
    shown = switch_off(view_on(PAIR, CAT, **how), score, tiny_service, to=to)
    found = left(shown, tiny_root / "albert")
    assert found["heads"] == []
    assert_same(swap_in(score, tiny_service, into="second"), tiny_root / "albert")
    assert_same(integrated_of(score, tiny_service), tiny_root / "albert")


def test_where_there_is_no_way_the_script_shows_that(
    tiny_service: EncoderService, tiny_root: Path
) -> None:
    shown = swap_in(score_on(tiny_service, CAT, CAT, model="folder:bert"), tiny_service)
    found = left(shown, tiny_root / "bert")
    assert float((found["a"] - found["b"]).norm()) == 0


def test_there_is_no_script_of_anything_else() -> None:
    with pytest.raises(TypeError):
        snippet_of("python")
