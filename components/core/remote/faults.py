"""Errors as HTTP answers and back: the very same class with the same sentence on the other side."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.core import errors
from components.core.errors import ContextlensError

__all__ = ["CLASSES", "Fault", "fault_of"]

CLASSES: Mapping[str, type[ContextlensError]] = {
    name: vars(errors)[name] for name in errors.__all__
}
_STATUS: Mapping[type[ContextlensError], int] = {
    errors.BusyError: 503,
    errors.ServiceAwayError: 503,
    errors.UnknownModelError: 404,
    errors.UnsupportedModelError: 422,
    errors.CheckpointError: 422,
    errors.RevisionError: 409,
    errors.FetchError: 424,  # not 502 or 504, which the way to the service gives
    errors.ModelError: 507,
    errors.InputError: 400,
    ContextlensError: 500,
}
"""The first that fits an error is its status."""
_LONGEST_WAIT = 3600.0  # seconds that are believed


@dataclass(frozen=True)
class Fault:
    """An error on its way."""

    name: str
    message: str
    retry_seconds: float | None = None

    @property
    def status(self) -> int:
        """The HTTP status that says most of it."""
        return next(code for kind, code in _STATUS.items() if issubclass(CLASSES[self.name], kind))

    def body(self) -> bytes:
        """The fault as JSON."""
        return json.dumps(
            {"error": self.name, "message": self.message, "retry_seconds": self.retry_seconds}
        ).encode()

    def headers(self) -> dict[str, str]:
        """When to ask again, where it says that."""
        return {} if self.retry_seconds is None else {"retry-after": str(_whole(self))}

    def error(self) -> ContextlensError:
        """The error itself."""
        found = CLASSES[self.name](self.message)
        if self.retry_seconds is not None:
            found.retry_seconds = self.retry_seconds  # type: ignore[attr-defined]
        return found

    @classmethod
    def read(cls, body: bytes) -> Fault | None:
        """The fault in an answer, or None where the answer is not one of ours."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict) or not isinstance(found.get("message"), str):
            return None
        name = found.get("error")
        if not isinstance(name, str) or name not in CLASSES:
            return None
        return cls(name, found["message"], _seconds(found.get("retry_seconds")))


def fault_of(error: ContextlensError) -> Fault:
    """An error as it is sent: of a class that is not in the list, as the nearest that is."""
    name = next(each.__name__ for each in type(error).__mro__ if each.__name__ in CLASSES)
    return Fault(name, str(error), _seconds(getattr(error, "retry_seconds", None)))


def _seconds(value: Any) -> float | None:
    if type(value) not in (int, float) or not 0 <= value <= _LONGEST_WAIT:
        return None
    return float(value)


def _whole(fault: Fault) -> int:
    return max(1, math.ceil(fault.retry_seconds or 0))
