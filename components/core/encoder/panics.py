"""Rust's panics as errors of ours.

tokenizers panics where a rule meets a text that it was not made for (a pattern that gives up, a
damaged table). In Python that is a `BaseException`, which would pass by all who catch errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from components.core.errors import CheckpointError

__all__ = ["panics_told"]

_NAME = "PanicException"  # no module that can be imported has it


@contextmanager
def panics_told(title: str) -> Iterator[None]:
    """What runs inside fails, where it panics, with an error of ours.

    Args:
        title: the model's name.

    Raises:
        CheckpointError: in place of a panic.
    """
    try:
        yield
    except BaseException as exc:
        if type(exc).__name__ != _NAME:
            raise
        raise CheckpointError(
            f"The tokenizer of {title} fails on this text ({ascii(str(exc))[1:100]}). Change the "
            "text, or choose another model."
        ) from exc
