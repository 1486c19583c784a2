"""The memory that can be reached from somewhere, for instance from a session."""

from __future__ import annotations

import gc
import sys
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

__all__ = ["reachable_bytes"]

_SHARED = (type, ModuleType, CodeType, FrameType, BuiltinFunctionType)


def reachable_bytes(*roots: Any, shared: tuple[Any, ...] = ()) -> int:
    """Bytes of the arrays, texts and containers that can be reached, each counted once.

    Args:
        roots: where to begin.
        shared: classes of what belongs to the whole process, and is bounded there.
    """
    todo, seen, total = list(roots), set[int](), 0
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, (*_SHARED, *shared)):
            continue
        seen.add(id(each))
        total += _own_bytes(each)
        todo += _held_by(each)
    return total


def _own_bytes(each: Any) -> int:
    if isinstance(each, np.ndarray):  # another one's memory is counted there, a tensor's is not
        return 0 if isinstance(each.base, np.ndarray | bytes | bytearray) else each.nbytes
    return sys.getsizeof(each)


def _held_by(each: Any) -> list[Any]:
    if isinstance(each, FunctionType):  # not its module's names
        cells = [cell.cell_contents for cell in each.__closure__ or () if cell != _EMPTY]
        own = each.__globals__ if each.__module__ == "__main__" else None  # a page's script
        return [*cells, each.__defaults__, each.__kwdefaults__, own]
    if isinstance(each, MethodType):
        return [each.__self__, each.__func__]
    if isinstance(each, np.ndarray):
        return [each.base] + (each.ravel().tolist() if each.dtype == object else [])
    return gc.get_referents(each)


_EMPTY = type((lambda x: lambda: x)(0).__closure__[0])()  # type: ignore[index]
