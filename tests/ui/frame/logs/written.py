"""The log as it is written, with a text of a visitor that must not be in it."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest

from components.ui.frame import logs

__all__ = ["MARKER", "Lines", "fail", "of", "written"]

MARKER = "zqxmysecretdiaryzqx"
Lines = Callable[[], list[dict[str, Any]]]


@contextmanager
def written(form: str) -> Iterator[io.StringIO]:
    """What goes to the console while the log has this form, by handlers old and new."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", out)
        for own in [logging.getLogger(), *logging.Logger.manager.loggerDict.values()]:
            for handler in getattr(own, "handlers", ()):
                if type(handler) is logging.StreamHandler:
                    patch.setattr(handler, "stream", out)
        end = logs.begin(form)
        try:
            yield out
        finally:
            end()


def of(found: list[dict[str, Any]], logger: str) -> dict[str, Any]:
    return next(line for line in reversed(found) if line["logger"] == logger)


def fail(*_: object, **__: object) -> NoReturn:
    raise ValueError(f"cannot read {MARKER}")
