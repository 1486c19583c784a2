"""Whether values from outside fit the types that a dataclass states for its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

__all__ = ["misfit"]

_Fits = Callable[[Any], bool]
_TYPES: Mapping[Any, frozenset[type]] = {
    float: frozenset({int, float}),
    **{each: frozenset({each}) for each in (int, str, bool, NoneType)},
}
"""What a value of such a type may be, exactly."""


def misfit(cls: type, values: Mapping[str, Any]) -> str | None:
    """The name of the first field whose value is of another type than the class states, or None."""
    checks = _checks(cls)
    return next((name for name, value in values.items() if not checks[name](value)), None)


@cache
def _checks(cls: type) -> dict[str, _Fits]:
    return {name: _check(hint) for name, hint in get_type_hints(cls).items()}


def _check(hint: Any) -> _Fits:
    """What tells whether a value fits a type as the schema writes them."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _: True
    if origin is Literal:
        return lambda value: isinstance(value, str | int) and value in inner
    if origin in (Union, UnionType):
        some = [_check(each) for each in inner]
        return lambda value: any(fits(value) for fits in some)
    if origin is tuple:
        return _tuple_check(inner)
    if origin is np.ndarray:
        dtype = np.dtype(get_args(inner[1])[0])
        return lambda value: isinstance(value, np.ndarray) and value.dtype == dtype
    if origin is not None and issubclass(origin, Mapping):
        key, item = map(_check, inner)
        return lambda value: (
            isinstance(value, dict) and all(map(key, value)) and all(map(item, value.values()))
        )
    return _class_check(hint)


def _tuple_check(inner: tuple[Any, ...]) -> _Fits:
    if inner[-1] is Ellipsis:
        types = _TYPES.get(inner[0])
        if types is not None:
            return lambda value: isinstance(value, tuple) and types.issuperset(map(type, value))
        each = _check(inner[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    some = [_check(hint) for hint in inner]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(some)
        and all(fits(one) for fits, one in zip(some, value, strict=True))
    )


def _class_check(hint: type) -> _Fits:
    """Of one class; a whole number is a number, and true and false are none."""
    types = _TYPES.get(hint)
    if types is not None:
        return lambda value: type(value) in types
    return lambda value: isinstance(value, hint)
