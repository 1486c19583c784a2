"""Each run of a page is counted once, with how it went, and only then is its name known."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import RerunException, StopException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from contextlens.core import meters
from contextlens.core.errors import TextError
from contextlens.ui.page import errors, runs


@dataclass
class Page:
    url_path: str


def value(name: str, **labels: str) -> float:
    return meters.REGISTRY.get_sample_value(name, labels) or 0.0


def n_runs(page: str, outcome: str) -> float:
    return value("contextlens_page_runs_total", page=page, outcome=outcome)


def counted(address: str = "tokens") -> Any:
    return runs.counted(Page(address))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "ok"),
        (StopException(), "stopped"),
        (RerunException(RerunData()), "stopped"),
        (TextError("x"), "failed"),  # past all boundaries
        (ValueError("x"), "failed"),
    ],
)
def test_a_run_is_counted_by_how_it_ends(error: BaseException | None, outcome: str) -> None:
    before = n_runs("tokens", outcome)
    if error is None:
        with counted():
            assert runs.page() == "tokens"
    else:
        with pytest.raises(type(error)), counted():
            raise error
    assert n_runs("tokens", outcome) == before + 1
    assert runs.page() is None


@pytest.mark.parametrize(
    ("error", "outcome"), [(TextError("x"), "refused"), (ValueError("x"), "failed")]
)
def test_what_a_boundary_shows_is_known_of_the_run(error: Exception, outcome: str) -> None:
    kind = {"kind": type(error).__name__}
    before, n_errors = n_runs("tokens", outcome), value("contextlens_errors_total", **kind)
    with counted():
        with errors.boundary():
            raise error
        runs.note("ok")  # nothing makes it better again
    assert n_runs("tokens", outcome) == before + 1
    assert value("contextlens_errors_total", **kind) == n_errors + 1


def test_the_first_page_has_its_name_and_a_foreign_one_has_none() -> None:
    for address, name in (("", "home"), ("what-somebody-typed", "other")):
        before = n_runs(name, "ok")
        with counted(address):
            pass
        assert n_runs(name, "ok") == before + 1


def test_runs_of_other_threads_are_others() -> None:
    seen: list[str | None] = []
    with counted("map"):
        thread = threading.Thread(target=lambda: seen.append(runs.page()))
        thread.start()
        thread.join()
    assert seen == [None]
    runs.note("failed")  # outside of any run: nothing
