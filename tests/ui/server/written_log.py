"""The log as it is written, with a text of a visitor that must not be in it."""

from __future__ import annotations

import io
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import pytest
from streamlit.config import get_config_options

from contextlens.ui.server import logs

__all__ = ["MARKER", "Lines", "fail", "of", "written"]

MARKER = "zqxmysecretdiaryzqx"
Lines = Callable[[], list[dict[str, Any]]]


@contextmanager
def written(form: str | Callable[[], None]) -> Iterator[io.StringIO]:
    """The console's output while the log has this form, or once a function began it."""
    get_config_options()  # without them Streamlit's new loggers have a form of their own
    out = io.StringIO()
    root, own = logging.getLogger(), logging.getLogger("contextlens")
    before, level, factory = list(root.handlers), own.level, logging.getLogRecordFactory()
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (sys, "stderr"),
            (sys, "excepthook"),
            (sys, "unraisablehook"),
            (threading, "excepthook"),
            (logging, "raiseExceptions"),
            (warnings, "showwarning"),
        ):
            patch.setattr(module, name, out if name == "stderr" else getattr(module, name))
        for logger in [root, *logging.Logger.manager.loggerDict.values()]:
            for handler in getattr(logger, "handlers", ()):
                if type(handler) is logging.StreamHandler:
                    patch.setattr(handler, "stream", out)
                    patch.setattr(handler, "formatter", handler.formatter)
        logs.begin(form) if isinstance(form, str) else form()
        try:
            yield out
        finally:
            logging.captureWarnings(False)
            logging.setLogRecordFactory(factory)
            own.setLevel(level)
            for handler in set(root.handlers) - set(before):
                root.removeHandler(handler)


def of(found: list[dict[str, Any]], logger: str) -> dict[str, Any]:
    return next(line for line in reversed(found) if line["logger"] == logger)


def fail(*_: object, **__: object) -> NoReturn:
    raise ValueError(f"cannot read {MARKER}")
