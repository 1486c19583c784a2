"""A log entry says what happened and where, and not a word that a visitor typed."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import CorpusError, SettingsError, TextError
from components.core.log_entries import FIELDS, entry, name_of, told

MARKER = "zqx-my-secret-diary-zqx"
HERE = Path(__file__).name


class Kept(logging.Handler):
    """Keeps the entries of what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.entries.append(entry(record))


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler = Kept()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


def logger(name: str = "contextlens") -> logging.Logger:
    return logging.getLogger(name)


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it is after it went through some frames, with a cause or a context."""
    with pytest.raises(type(error)) as caught:
        fail_twice(error, cause)
    return caught.value


def fail_twice(error: BaseException, cause: BaseException | None) -> None:
    try:
        fail(cause or RuntimeError(MARKER))
    except (RuntimeError, KeyError, Loud):
        if cause is None:
            fail(error)
        raise error from cause


def fail(error: BaseException) -> None:
    raise error


class Loud(Exception):  # noqa: N818
    """Says it in every way that there is."""

    def __str__(self) -> str:
        return MARKER

    __repr__ = __str__


def noted() -> BaseException:
    error = ValueError(MARKER)
    error.add_note(MARKER)
    return error


ERRORS: list[BaseException] = [
    ValueError(MARKER),
    KeyError(MARKER),
    TextError(f"The text {MARKER!r} cannot be read."),
    CorpusError(f"{MARKER}.csv has no columns."),
    OSError(errno.ENOENT, MARKER, MARKER),
    UnicodeEncodeError("utf-8", MARKER, 0, 1, MARKER),
    SyntaxError(MARKER, (MARKER, 1, 1, MARKER)),
    json.JSONDecodeError(MARKER, MARKER, 0),
    Loud(),
    noted(),
    ExceptionGroup(
        MARKER, [ValueError(MARKER), Loud(), ExceptionGroup(MARKER, [KeyError(MARKER)])]
    ),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("cause", [None, Loud()], ids=["context", "cause"])
def test_an_error_is_told_by_its_class_and_its_way(
    kept: Kept, error: BaseException, cause: BaseException | None
) -> None:
    error = raised(error, cause)
    logger().error("It failed: %s", error, exc_info=error)
    logger().error("It failed", exc_info=error)
    logger("streamlit.anything").error(error, exc_info=error)
    logger("asyncio").error(f"exception={error!r}", exc_info=error)
    text = json.dumps(kept.entries)
    assert MARKER not in text
    assert kept.entries[0]["message"].startswith("It failed: ")
    assert kept.entries[0]["error"].endswith(name_of(error))
    assert HERE in kept.entries[0]["traceback"]
    assert "fail_twice\n" in kept.entries[0]["traceback"]
    assert type(error).__name__ in kept.entries[2]["message"]
    assert kept.entries[3]["message"].startswith("(not shown: test_log_entries.py, line ")


def test_the_causes_of_an_error_are_told_oldest_first() -> None:
    story = told(raised(ValueError(MARKER), KeyError(MARKER)))
    assert story.index("KeyError") < story.index("ValueError")
    assert story.count("Traceback (most recent call last):") == 2


def test_what_python_would_not_tell_of_an_error_is_not_told() -> None:
    error = raised(ValueError(MARKER))
    assert "RuntimeError" in told(error)
    error.__suppress_context__ = True  # as "from None" does
    assert "RuntimeError" not in told(error)


def test_a_circle_of_causes_has_an_end() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert told(first).count("Traceback") == 2


def test_a_deep_error_is_told_in_part() -> None:
    def deeper(n: int) -> None:
        if not n:
            raise ValueError(MARKER)
        deeper(n - 1)

    with pytest.raises(ValueError, match=MARKER) as caught:
        deeper(400)
    assert len(told(caught.value).splitlines()) < 180


def test_the_operating_system_s_word_is_kept_and_the_file_s_name_is_not() -> None:
    assert name_of(OSError(errno.ENOSPC, "x", MARKER)) == "OSError: [Errno 28] " + os.strerror(28)
    assert name_of(OSError(MARKER)) == "OSError"
    assert name_of(FileNotFoundError(2, MARKER)).startswith("FileNotFoundError: [Errno 2]")


def test_what_an_operator_wrote_is_said_in_full(kept: Kept) -> None:
    logger().error("%s", SettingsError("CONTEXTLENS_CACHE_MB is 'x'; it must be a number."))
    assert kept.entries[0]["message"] == (
        "SettingsError: CONTEXTLENS_CACHE_MB is 'x'; it must be a number."
    )


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (lambda log: log.error("Nothing to put in"), "Nothing to put in"),
        (lambda log: log.error("%d of %s, %.1f", 3, 4, 0.25), "3 of 4, 0.2"),
        (lambda log: log.error("Loading %r failed", MARKER), "Loading '…' failed"),
        (lambda log: log.error("%(name)s took %(n)d", {"name": MARKER, "n": 2}), "… took 2"),
        (lambda log: log.error("%s and %s", [MARKER], {MARKER: MARKER}), "… and …"),
        (lambda log: log.error("A %s", ValueError), "A ValueError"),
        (lambda log: log.error("100% sure"), "100% sure"),
        (lambda log: log.error("%s", Path(MARKER)), "…"),
        (lambda log: log.error({"text": MARKER}), "…"),
    ],
)
def test_numbers_are_put_into_a_message_and_words_are_not(
    kept: Kept, log: Callable[[logging.Logger], None], message: str
) -> None:
    for name in ("contextlens", "some.library"):
        log(logger(name))
        assert kept.entries[-1]["message"] == message


@pytest.mark.parametrize("message", ["%d %d", "%d"])
def test_a_message_that_does_not_fit_what_is_put_in_is_shown_as_it_stands(message: str) -> None:
    record = logging.LogRecord("any", logging.ERROR, __file__, 1, message, (MARKER,), None)
    assert entry(record)["message"] == message


@given(st.text(min_size=4).filter(lambda text: text not in Path(__file__).read_text("utf-8")))
def test_a_message_that_is_not_in_the_source_is_never_shown(text: str) -> None:
    handler = Kept()
    logging.getLogger().addHandler(handler)
    try:
        logger("some.library").warning(text)
        logger("some.library").warning(f"What was typed: {text}")
        logger().warning("What was typed: %s", text, extra={"page": text, "kind": text + "\n"})
    finally:
        logging.getLogger().removeHandler(handler)
    said = [each["message"] for each in handler.entries]
    assert all(message.startswith("(not shown") for message in said[:2])
    assert "kind" not in handler.entries[2]


def test_a_reference_is_in_the_message_and_beside_it(kept: Kept) -> None:
    logger().error("Unexpected, reference %s", "5f0c9a1e", extra={"reference": "5f0c9a1e"})
    assert kept.entries[0]["message"] == "Unexpected, reference 5f0c9a1e"
    assert kept.entries[0]["reference"] == "5f0c9a1e"


def test_only_our_logger_s_fields_are_taken(kept: Kept) -> None:
    logger("some.library").error("It failed", extra={"reference": MARKER, "kind": MARKER})
    logger().error("It failed", extra={"anything": MARKER, "kind": "ValueError"})
    assert MARKER not in json.dumps(kept.entries)
    assert kept.entries[1]["kind"] == "ValueError"
    assert all(set(each) <= set(FIELDS) for each in kept.entries)


def test_the_time_is_utc_and_the_level_is_named(kept: Kept) -> None:
    logger().warning("Now")
    first = kept.entries[0]
    assert first["time"].endswith("+00:00")
    assert (first["level"], first["logger"]) == ("WARNING", "contextlens")


def test_what_asyncio_says_of_a_forgotten_task_has_no_message(kept: Kept) -> None:
    async def fail() -> None:
        raise ValueError(MARKER)

    async def forget() -> None:
        task = asyncio.get_running_loop().create_task(fail())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task

    asyncio.run(forget())
    own = [each for each in kept.entries if each["logger"] == "asyncio"]
    assert own[0]["error"] == "ValueError"
    assert MARKER not in json.dumps(kept.entries)


def test_a_source_that_is_not_there_shows_nothing(kept: Kept) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = compile("import logging\nlogging.getLogger('x').error('typed')", "<none>", "exec")
        exec(code, {})
    assert kept.entries[0]["message"].startswith("(not shown")
