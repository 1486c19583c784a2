"""The log of the whole program in one form, what goes past loggers too."""

from __future__ import annotations

import json
import logging
import re
import threading
import warnings
from pathlib import Path

import pytest
from streamlit.logger import get_logger

from tests.ui.frame.logs.written import MARKER, Lines, fail, of, written

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"


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
            logging.getLogger("contextlens").exception(
                "Reference %s", "5f0c9a1e", extra={"reference": "5f0c9a1e"}
            )
    first, second, *rest = out.getvalue().splitlines()
    assert re.fullmatch(rf"{TIME} INFO    contextlens: Contextlens begins versions=.*", first)
    assert re.fullmatch(
        rf"{TIME} ERROR   contextlens: Reference 5f0c9a1e reference=5f0c9a1e error=ValueError",
        second,
    )
    assert rest[0] == "Traceback (most recent call last):"
    assert rest[-1] == "ValueError"
    assert MARKER not in out.getvalue()


def test_full_is_python_s_own_form() -> None:
    with written("full") as out:
        logging.getLogger("contextlens").error("It says %s", MARKER)
    assert out.getvalue().rstrip().endswith(f"contextlens: It says {MARKER}")


def test_loggers_old_and_new_and_those_without_a_handler_write_it() -> None:
    with written("json") as out:
        late = logging.getLogger("a.library.that.came.late")
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        late.addHandler(handler)
        late.propagate = False
        late.error("It has a handler of its own: %s", MARKER)
        get_logger("streamlit.error_util").error("An old one of Streamlit's")
        get_logger("streamlit.new_one").warning("A new one of Streamlit's")
        late.removeHandler(handler)
        found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert of(found, late.name)["message"] == "It has a handler of its own: …"
    assert of(found, "streamlit.error_util")["message"] == "An old one of Streamlit's"
    assert of(found, "streamlit.new_one")["message"] == "A new one of Streamlit's"


def test_tests_and_files_read_what_they_read_before(
    lines: Lines, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    kept = logging.FileHandler(tmp_path / "own.log")
    logging.getLogger().addHandler(kept)
    logging.getLogger("any").warning("It says %s", MARKER)
    logging.getLogger().removeHandler(kept)
    kept.close()
    assert MARKER in caplog.text
    assert MARKER in (tmp_path / "own.log").read_text(encoding="utf-8")


def test_all_is_as_before_in_the_end() -> None:
    own = logging.getLogger("contextlens")
    before = (own.level, list(own.handlers), threading.excepthook, warnings.showwarning)
    record = logging.LogRecord("any", logging.ERROR, __file__, 1, f"{MARKER}!", None, None)
    with written("json"):
        assert MARKER not in logging.StreamHandler().format(record)
    assert (own.level, list(own.handlers), threading.excepthook, warnings.showwarning) == before
    assert logging.StreamHandler().format(record) == f"{MARKER}!"


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


def test_a_warning_is_a_line_with_its_place() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with written("json") as out:
            warnings.warn(f"about {MARKER}", UserWarning, stacklevel=1)
    line = json.loads(out.getvalue().splitlines()[-1])
    assert line["kind"] == "UserWarning"
    assert line["place"].startswith(__file__)
    assert MARKER not in out.getvalue()
