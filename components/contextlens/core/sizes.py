"""The memory size of a result in bytes, for caches bounded in bytes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["size_of"]


def size_of(value: Any) -> int:
    """The bytes of a result and everything in it, or its own `nbytes`.

    An object that occurs twice counts twice. Objects other than dataclasses count only themselves.
    """
    if isinstance(n_bytes := getattr(value, "nbytes", None), int):  # arrays have it
        return n_bytes
    size = sys.getsizeof(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return size + sum(map(size_of, value))
    if isinstance(value, Mapping):
        return size + sum(size_of(key) + size_of(item) for key, item in value.items())
    if is_dataclass(value) and not isinstance(value, type):
        return size + sum(size_of(getattr(value, field.name)) for field in fields(value))
    return size
