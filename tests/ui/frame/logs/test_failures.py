"""Each error is a line with its reference, and in none is what a visitor typed or sent."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID
from components.core.errors import WorkerError
from components.core.service import LocalService
from components.corpus.store.indexing import INDEXES
from components.jobs import JobKind, Jobs, Processes, Task
from components.ui.models import requested_model, runtime
from components.ui.models.background import jobs
from components.ui.state.view import Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import app_settings, framed, press, settled
from tests.ui.frame.logs.written import MARKER, Lines, fail, of

WAIT = 60.0


# Who is told of an error: pages, callbacks, jobs, worker processes


def page_that_fails() -> None:
    import streamlit as st

    from components.ui.frame import errors, runs

    page = type("Page", (), {"url_path": "tokens"})()
    with runs.counted(page), errors.boundary():  # type: ignore[arg-type]
        raise ValueError(st.query_params["typed"])


def test_a_page_that_fails_on_a_text(lines: Lines) -> None:
    app = AppTest.from_function(page_that_fails)
    app.query_params["typed"] = MARKER
    app.run()
    reference = re.search(r"reference ([0-9a-f]{8})", app.error[0].value)
    assert reference is not None
    found = of(lines(), "contextlens")
    assert found["reference"] == reference[1]
    assert found["message"] == f"Unexpected error, reference {reference[1]}"
    assert (found["page"], found["error"]) == ("tokens", "ValueError")
    assert re.fullmatch(r"[0-9a-f]{12}", found["session"])
    assert "page_that_fails" in found["traceback"]
    assert MARKER not in str(lines())


def page_whose_callback_fails() -> None:
    import streamlit as st

    def fail() -> None:
        raise ValueError(st.session_state["typed"])

    st.text_input("Text", key="typed", on_change=fail)


def test_a_callback_that_fails_on_a_text(lines: Lines) -> None:
    app = AppTest.from_function(page_whose_callback_fails).run()
    app.text_input[0].set_value(MARKER).run()
    found = of(lines(), "streamlit.error_util")
    assert found["error"] == "ValueError"
    assert MARKER not in str(lines())


def page_whose_fragment_fails() -> None:
    import streamlit as st

    from components.ui.frame import errors

    @st.fragment
    def fail() -> None:
        raise ValueError(st.query_params["typed"])

    with errors.boundary():
        fail()
    st.caption("The rest of the page")


def test_a_fragment_that_fails_on_a_text_is_told_of_once(lines: Lines) -> None:
    app = AppTest.from_function(page_whose_fragment_fails)
    app.query_params["typed"] = MARKER
    app.run()
    assert [caption.value for caption in app.caption] == ["The rest of the page"]
    assert len(app.exception) == 1  # Streamlit's own, where no `st.App` asks `uncaught`
    assert not app.error
    assert of(lines(), "streamlit.error_util")["error"] == "ValueError"
    assert MARKER not in str(lines())


def page_that_is_told_of_it() -> None:
    import streamlit as st

    from components.core.errors import TextError
    from components.ui.frame import errors

    typed = st.query_params["typed"]
    assert errors.uncaught(ValueError(typed))
    assert errors.uncaught(TextError(f"The text {typed} is too long."))


def test_what_a_callback_raised_is_shown_with_a_reference(lines: Lines) -> None:
    app = AppTest.from_function(page_that_is_told_of_it)
    app.query_params["typed"] = MARKER
    app.run()
    unforeseen, ours = (error.value for error in app.error)
    assert of(lines(), "contextlens")["reference"] in unforeseen
    assert MARKER in ours
    assert MARKER not in str(lines())


def test_a_load_that_fails_is_found_by_its_reference(lines: Lines) -> None:
    said = requested_model._message(ValueError(f"typed/{MARKER}"))
    found = of(lines(), "contextlens")
    assert found["message"] == f"Loading failed, reference {found['reference']}"
    assert found["reference"] in said
    assert MARKER not in str(lines())


def test_a_job_that_fails(lines: Lines) -> None:
    own = Jobs(1_000_000)
    job = own.start(Task(("own", MARKER), JobKind("own", n_at_once=1), work=fail))
    assert job.wait(WAIT)
    logging.getLogger("contextlens").error("A job failed: %s", job.exception())
    assert of(lines(), "contextlens")["message"] == "A job failed: ValueError"
    assert own.tally() == {("own", "failed"): 1}
    assert MARKER not in str(lines())


@pytest.mark.slow
def test_a_worker_process_that_fails(lines: Lines, tmp_path: Path) -> None:
    with Processes(1) as own, pytest.raises(WorkerError):
        own.run("tests.jobs.steps:fail", {}, lambda _, __: None, folder=tmp_path)
    found = of(lines(), "contextlens")
    assert re.search(r" failed: ZeroDivisionError at \S+steps\.py:\d+$", found["message"])
    assert "division by zero" not in str(lines())


# The real pages


@pytest.fixture
def app(tmp_path: Path) -> Iterator[None]:
    """The app, its model loaded and nothing measured yet."""
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        runtime.service().load(BUNDLED_ID)
        yield


@pytest.mark.slow
def test_a_real_page_that_fails_on_a_sentence(
    app: None, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_on(_: Any, __: Any, texts: list[str], **___: Any) -> NoReturn:
        raise ValueError(f"cannot read {texts!r}")

    monkeypatch.setattr(LocalService, "_encode", fail_on)
    view = ViewState(BUNDLED_ID, (Sentence(f"I keep a {MARKER}"), Sentence("no diary")))
    shown = framed(view, "layers")
    reference = re.search(r"reference ([0-9a-f]{8})", shown.error[0].value)
    assert reference is not None
    found = next(line for line in lines() if line.get("reference") == reference[1])
    assert (found["page"], found["error"]) == ("layers", "ValueError")
    assert "fail_on" in found["traceback"]
    assert MARKER not in str(lines())


@pytest.mark.slow
def test_an_upload_that_fails_and_an_indexing_that_fails(
    app: None, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = press(settled(framed(page="corpora")), "corpora_add")

    def upload(content: str, name: str) -> AppTest:
        own = field(page.file_uploader, "corpora_upload")
        return settled(own.set_value((name, content.encode(), "text/csv")).run())

    upload(f"PAR1 {MARKER} PAR1", f"{MARKER}.parquet")  # which a process of its own reads
    page = upload("\n".join(["text", *[f"{MARKER} {i}" for i in range(12)]]), f"{MARKER}.csv")
    monkeypatch.setattr(LocalService, "_encode", fail)
    settled(press(page, "corpora_index"))
    assert jobs().tally()[INDEXES.name, "failed"] == 1
    found = next(line for line in lines() if line["message"] == "Indexing a corpus failed")
    assert found["error"] == "ValueError"
    assert MARKER not in str(lines())
