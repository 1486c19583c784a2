"""Values as bytes and back: arrays as safetensors, all else as JSON in its metadata, never pickle.

A body is one safetensors file. Its metadata holds the value as JSON: text, numbers and lists stand
for themselves, and an object with one key stands for what JSON has not: a tuple, a mapping, an
array (the name of a tensor), or one of a closed list of classes. What comes in is not trusted:
unknown classes, missing fields, other types and broken files are refused in a sentence. Arrays
keep every bit, and come back read-only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from io import BytesIO
from typing import Any

import numpy as np

from components.core import schema
from components.core.errors import RequestError
from components.core.remote.field_types import misfit
from components.core.remote.tensors import DTYPES, BrokenFileError, Buffer, Take, read, write

__all__ = ["CLASSES", "MEDIA_TYPE", "VERSION", "pack", "packed", "unpack", "unpack_from"]

MEDIA_TYPE = "application/x-contextlens"
VERSION = "1"
CLASSES: Mapping[str, type] = {
    each.__name__: each
    for each in (
        schema.Architecture,
        schema.Attribution,
        schema.Average,
        schema.Block,
        schema.CutRules,
        schema.EmbeddingParts,
        schema.Encoding,
        schema.FastPrecision,
        schema.ModelCard,
        schema.ModelSpec,
        schema.Parameter,
        schema.PartState,
        schema.Passport,
        schema.Patch,
        schema.ProgressEvent,
        schema.Provenance,
        schema.SwitchOff,
        schema.TokenizerCard,
        schema.Tokens,
        schema.Vocabulary,
    )
}
"""All that may be made of what comes in, by name."""

_KNOWN = frozenset(DTYPES.values())
_FIELDS = {name: tuple(f.name for f in fields(each)) for name, each in CLASSES.items()}
_PLAIN = (str, int, float, type(None))  # bool is an int
_AS_THEY_ARE = frozenset({*_PLAIN, bool})
"""The types that JSON has too; lists of nothing else are not looked through."""


def pack(value: Any) -> bytes:
    """A value as a body.

    Raises:
        RequestError: it holds something that cannot be sent.
    """
    return b"".join(packed(value))


def packed(value: Any) -> list[Buffer]:
    """The same as buffers that follow each other; arrays are not copied.

    Raises:
        RequestError: it holds something that cannot be sent.
    """
    arrays: dict[str, np.ndarray] = {}
    try:
        text = json.dumps(_plain(value, arrays), separators=(",", ":"))
    except RecursionError:
        raise RequestError("What was asked is nested too deep to be sent.") from None
    return write(arrays, {"contextlens": VERSION, "value": text})


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A value as JSON has it; its arrays are put beside it, each under a name of its own."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, np.ndarray):
        return {"array": _named(value, arrays)}
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, _PLAIN):  # of a class of its own: an enum, say
        return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))
    if type(value) in CLASSES.values():
        name = type(value).__name__
        return {name: [_plain(getattr(value, field), arrays) for field in _FIELDS[name]]}
    if isinstance(value, Mapping):
        items = [[_plain(key, arrays), _plain(each, arrays)] for key, each in value.items()]
        return {"mapping": items}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | memoryview):
        items = list(value)
        if not _AS_THEY_ARE.issuperset(map(type, items)):
            items = [_plain(each, arrays) for each in items]
        return {"tuple": items} if isinstance(value, tuple) else items
    raise RequestError(f"A value of the kind {type(value).__name__!r} cannot be sent to a service.")


def _named(array: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    if array.dtype.newbyteorder("<") not in _KNOWN:
        raise RequestError(f"An array of {array.dtype} cannot be sent to a service.")
    name = str(len(arrays))
    kept = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    arrays[name] = kept.reshape(array.shape)  # a single number stays one
    return name


def unpack(body: bytes) -> Any:
    """The value of a body.

    Raises:
        RequestError: the body is broken, or holds what no service and no client sends.
    """
    return unpack_from(BytesIO(body).read, len(body))


def unpack_from(take: Take, size: int) -> Any:
    """The value of a body that comes in.

    Args:
        take: gives its next so many bytes; fewer only at its end.
        size: of the body.

    Raises:
        RequestError: the body is broken, or holds what no service and no client sends.
    """
    try:
        tensors, metadata = read(take, size)
    except BrokenFileError:
        raise _broken("it is no whole safetensors file") from None
    version = metadata.get("contextlens")
    if version != VERSION:
        raise RequestError(
            f"A body of the version {VERSION} is needed, and this one has "
            f"{'none' if version is None else repr(version)[:20]}. Update the older side."
        )
    try:
        value = _value(json.loads(str(metadata.get("value"))), tensors)
    except (ValueError, RecursionError):
        raise _broken("its value is no JSON that can be read") from None
    if tensors:
        raise _broken("it has arrays that belong to nothing")
    return value


def _value(plain: Any, tensors: dict[str, np.ndarray]) -> Any:
    if isinstance(plain, list):
        return _items(plain, tensors)
    if not isinstance(plain, dict):
        return plain
    if len(plain) != 1:
        raise _broken("it has an object that stands for nothing")
    ((tag, inner),) = plain.items()
    if tag in CLASSES:
        return _made(tag, inner, tensors)
    maker = _MAKERS.get(tag)
    if maker is None:
        raise _broken(f"it holds a {tag[:40]!r}, which is not sent")
    return maker(inner, tensors)


def _made(name: str, inner: Any, tensors: dict[str, np.ndarray]) -> Any:
    """An object of one of the classes, whose fields are of the types that the class states."""
    if not isinstance(inner, list) or len(inner) != len(_FIELDS[name]):
        raise _broken(f"a {name} in it does not have the fields of one")
    values = {
        field: _value(each, tensors) for field, each in zip(_FIELDS[name], inner, strict=True)
    }
    wrong = misfit(CLASSES[name], values)
    if wrong is not None:
        raise _broken(f"{wrong!r} of a {name} in it is of another kind")
    return CLASSES[name](**values)


def _tuple(inner: Any, tensors: dict[str, np.ndarray]) -> tuple[Any, ...]:
    if not isinstance(inner, list):
        raise _broken("a tuple in it is no list")
    return tuple(_items(inner, tensors))


def _items(plain: list[Any], tensors: dict[str, np.ndarray]) -> list[Any]:
    if _AS_THEY_ARE.issuperset(map(type, plain)):
        return plain
    return [_value(each, tensors) for each in plain]


def _mapping(inner: Any, tensors: dict[str, np.ndarray]) -> dict[Any, Any]:
    if not isinstance(inner, list) or any(
        not isinstance(item, list) or len(item) != 2 for item in inner
    ):
        raise _broken("a mapping in it is no list of pairs")
    try:
        return {_value(key, tensors): _value(each, tensors) for key, each in inner}
    except TypeError:
        raise _broken("a mapping in it has a key that cannot be one") from None


def _taken(inner: Any, tensors: dict[str, np.ndarray]) -> np.ndarray:
    array = tensors.pop(inner, None) if isinstance(inner, str) else None
    if array is None:
        raise _broken("it names an array that it does not have, or names one twice")
    return array


_MAKERS: Mapping[str, Callable[[Any, dict[str, np.ndarray]], Any]] = {
    "tuple": _tuple,
    "mapping": _mapping,
    "array": _taken,
}


def _broken(why: str) -> RequestError:
    return RequestError(
        f"A body cannot be read: {why}. Send it again; if that does not help, see whether both "
        "sides run the same version of Contextlens."
    )
