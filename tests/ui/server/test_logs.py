"""The log in one form, and in none of its lines what a visitor typed or sent."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from streamlit.logger import get_logger
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import CorpusError, WorkerError
from contextlens.core.service import LocalService
from contextlens.corpus.store.indexing import INDEXES
from contextlens.jobs import JobKind, Jobs, Processes, Task
from contextlens.ui.models import requested_model, runtime
from contextlens.ui.models.background import jobs
from contextlens.ui.server.logs import FIELDS
from contextlens.ui.state.view import Sentence, ViewState
from tests.jobs import steps
from tests.support.fields import field
from tests.support.pages import app_settings, framed, press, settled
from tests.ui.server.written_log import MARKER, Lines, fail, of, written


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The log as JSON, read line by line so far."""
    with written("json") as out:
        yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]


TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
own = logging.getLogger("contextlens")
library = logging.getLogger("some.library")


class Loud(Exception):  # noqa: N818
    """Says it in every way that there is."""

    def __str__(self) -> str:
        return MARKER

    __repr__ = __str__


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it is after it was raised while another was handled."""
    try:
        try:
            fail()
        except ValueError:
            if cause:
                raise error from cause
            raise error  # noqa: B904 - its context is told too
    except type(error) as again:
        return again


# The form


def test_the_first_line_names_the_versions(lines: Lines) -> None:
    first = lines()[0]
    assert first["message"] == "Contextlens begins"
    assert {"python", "streamlit", "torch", "transformers"} <= set(first["versions"])


def test_plain_lines_are_for_people_and_tracebacks_stand_below() -> None:
    with written("plain") as out:
        try:
            fail()
        except ValueError:
            own.exception("It failed %d times", 2, extra={"reference": "5f0c9a1e"})
    first, second, *rest = out.getvalue().splitlines()
    assert re.fullmatch(rf"{TIME} INFO    contextlens: Contextlens begins versions=.*", first)
    assert re.fullmatch(
        rf"{TIME} ERROR   contextlens: It failed 2 times reference=5f0c9a1e error=ValueError",
        second,
    )
    assert rest[0] == "Traceback (most recent call last):"
    assert rest[-1] == "ValueError"
    assert MARKER not in out.getvalue()


def test_json_is_one_object_a_line_with_known_fields(lines: Lines) -> None:
    own.error("It failed", exc_info=raised(ValueError(MARKER)), extra={"anything": MARKER})
    library.error("It failed: %s", MARKER, extra={"page": MARKER, "reference": MARKER})
    assert all(set(line) <= set(FIELDS) for line in lines())
    assert MARKER not in str(lines())


def test_full_is_python_s_own_form() -> None:
    with written("full") as out:
        own.error("It says %s", MARKER)
        library.error("It says %s too", MARKER)
    assert f"contextlens: It says {MARKER}\n" in out.getvalue()
    assert out.getvalue().endswith(f"some.library: It says {MARKER} too\n")


def test_loggers_old_and_new_and_those_with_a_handler_write_it() -> None:
    old = logging.getLogger("a.library.that.was.there")
    old.addHandler(logging.StreamHandler())
    old.handlers[0].setFormatter(logging.Formatter("%(asctime)s: %(message)s"))
    old.propagate = False
    with written("json") as out:
        late = logging.getLogger("a.library.that.came.late")
        late.addHandler(logging.StreamHandler())
        late.propagate = False
        names = [old.name, late.name, "streamlit.error_util", "streamlit.new_one"]
        for logger in (old, late, *map(get_logger, names[2:])):
            logger.error("It failed at %s", MARKER, exc_info=ValueError(MARKER))
        found = [json.loads(line) for line in out.getvalue().splitlines()][1:]
    old.handlers.clear()
    late.handlers.clear()
    assert [line["logger"] for line in found] == names
    assert all(line["error"] == "ValueError" and "traceback" not in line for line in found)
    assert all(re.fullmatch(r"test_logs\.py, line \d+", line["message"]) for line in found)
    assert MARKER not in str(found)


# Errors


ERRORS = [
    KeyError(MARKER),
    CorpusError(f"{MARKER}.csv has no columns."),
    OSError(errno.ENOENT, MARKER, MARKER),
    UnicodeEncodeError("utf-8", MARKER, 0, 1, MARKER),
    SyntaxError(MARKER, (MARKER, 1, 1, MARKER)),
    Loud(),
    ExceptionGroup(MARKER, [ValueError(MARKER), Loud()]),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("cause", [None, Loud()], ids=["context", "cause"])
def test_an_error_is_told_by_its_class_and_its_way(
    lines: Lines, error: BaseException, cause: BaseException | None
) -> None:
    error = raised(error, cause)
    own.error("It failed: %s", error, exc_info=error)
    library.error(f"It failed: {error!r}", exc_info=error)
    ours, theirs = lines()[1:]
    assert type(error).__name__ in ours["error"]
    assert ours["message"] == f"It failed: {ours['error']}"
    first = "Loud" if cause else "ValueError"
    assert ours["traceback"].index(first) < ours["traceback"].rindex(type(error).__name__)
    assert "in raised\n" in ours["traceback"]
    assert type(error).__name__ in theirs["error"]
    assert MARKER not in str(lines())


def test_the_operating_system_s_word_is_kept_and_the_file_s_name_is_not(lines: Lines) -> None:
    own.error("%s", OSError(errno.ENOSPC, "x", MARKER))
    assert lines()[-1]["message"] == "OSError: [Errno 28] " + os.strerror(28)


def test_a_traceback_is_bounded_and_causes_in_a_circle_have_an_end(lines: Lines) -> None:
    def deeper(n: int) -> None:
        deeper(n - 1) if n else fail()

    with pytest.raises(ValueError, match=MARKER) as caught:
        deeper(400)
    cause = KeyError(MARKER)
    caught.value.__cause__, cause.__cause__ = cause, caught.value
    own.error("It failed", exc_info=caught.value)
    assert lines()[-1]["traceback"].count("Traceback") == 2
    assert len(lines()[-1]["traceback"].splitlines()) < 180


# What goes past loggers


def test_a_thread_that_ends_with_an_error_is_a_line(lines: Lines) -> None:
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    found = of(lines(), "contextlens")
    assert (found["message"], found["error"]) == ("A thread ended with an error", "ValueError")
    assert MARKER not in str(lines())


def test_an_error_that_nobody_can_be_told_of_is_a_line(lines: Lines) -> None:
    class Fragile:
        def __del__(self) -> None:
            fail()

    Fragile()
    assert of(lines(), "contextlens")["error"] == "ValueError"
    assert MARKER not in str(lines())


def test_a_warning_is_a_line_without_its_words(lines: Lines) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn(f"about {MARKER}", UserWarning, stacklevel=1)
    assert lines()[-1]["logger"] == "py.warnings"
    assert MARKER not in str(lines())


def test_a_record_that_cannot_be_written_is_not_shown(
    lines: Lines, capfd: pytest.CaptureFixture[str]
) -> None:
    own.error("%d of them", MARKER)
    library.error("%d of them", MARKER)
    assert len(lines()) == 2
    assert MARKER not in str(lines()) + capfd.readouterr().err


def test_the_configuration_lets_a_record_be_its_line() -> None:
    text = (Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert 'messageFormat = "%(message)s"' in text
    assert "enableRich = false" in text


WAIT = 60.0


# Who is told of an error: pages, callbacks, jobs, worker processes


def page_that_fails() -> None:
    import streamlit as st

    from contextlens.ui.page import errors, runs

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

    from contextlens.ui.page import errors

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

    from contextlens.core.errors import TextError
    from contextlens.ui.page import errors

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


def test_a_worker_process_that_fails(lines: Lines) -> None:
    with Processes(1) as own, pytest.raises(WorkerError):
        own.run(steps.fail, lambda _, __: None)
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
