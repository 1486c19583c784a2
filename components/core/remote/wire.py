"""All that travels between an app and a service: requests, answers, events and faults.

A request and an answer are one safetensors file each: arrays are its tensors, and the tensor
`value` holds all else as MessagePack, in which an array stands as the name of its tensor. Never a
pickle. What may be sent is what the signatures of `EncoderService` state: unknown fields, other
types, lists without end and deep nesting are refused in a sentence while they are read.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta, Struct
from safetensors import SafetensorError
from safetensors.numpy import load, save

from components.core import errors
from components.core.errors import ContextlensError, RequestError, TextError
from components.core.protocol import EncoderService
from components.core.schema import ProgressEvent

__all__ = [
    "ANSWERS",
    "BULK_HEADER",
    "CALLER_HEADER",
    "MEDIA_TYPE",
    "MODEL_HEADER",
    "PREFIX",
    "QUICK",
    "REQUESTS",
    "STREAM_TYPE",
    "Event",
    "Fault",
    "pack_answer",
    "pack_request",
    "unpack_answer",
    "unpack_request",
]

PREFIX = "/v1"
MEDIA_TYPE = "application/x-contextlens-2"
"""A request, or an answer, in the second version of the format."""
STREAM_TYPE = "application/x-contextlens-2-stream"
"""Lines of JSON, each an `Event`, and behind the last one the answer. For long work, to clients
that accept it."""
CALLER_HEADER = "x-contextlens-caller"
"""Alike for all that one visitor asks for, and telling nothing of them."""
BULK_HEADER = "x-contextlens-bulk"
MODEL_HEADER = "serve_multiplexed_model_id"
"""The model that is asked; by it Ray Serve finds a replica that has it in memory."""
QUICK = frozenset({"models", "spec"})
"""Methods that need no work: pages ask them at every run."""

MOST_ITEMS = 4096
"""Of one list in a request: more texts, layers or interventions are asked for in parts."""
MOST_VALUE_BYTES = 8_000_000
"""Of a request but for its arrays: from so much a few megabytes of objects are made."""
MOST_HEADER_BYTES = 10_000
"""Of a request's list of tensors: a call has three arrays at most."""
_LONGEST_WAIT = 3600.0  # seconds to wait that are believed


class Fault(Struct, frozen=True):
    """An error on its way: the very same class with the same sentence on the other side."""

    error: str
    message: str
    retry_seconds: Annotated[float, Meta(ge=0, le=_LONGEST_WAIT)] | None = None

    def __post_init__(self) -> None:
        """Refuse a name that is none of our errors."""
        if self.error not in _CLASSES:
            raise ValueError(f"{self.error[:40]!r} is no error of ours")

    @classmethod
    def of(cls, error: ContextlensError) -> Fault:
        """An error as it is sent: of a class that is not in the list, as the nearest that is."""
        name = next(each.__name__ for each in type(error).__mro__ if each.__name__ in _CLASSES)
        return cls(name, str(error), getattr(error, "retry_seconds", None))

    @classmethod
    def read(cls, body: bytes) -> Fault | None:
        """The fault in an answer, or None where the answer is not one of ours."""
        try:
            return msgspec.json.decode(body, type=cls)
        except (msgspec.DecodeError, RecursionError):
            return None

    @property
    def status(self) -> int:
        """The HTTP status that says most of it."""
        return next(
            code for kind, code in _STATUS.items() if issubclass(_CLASSES[self.error], kind)
        )

    def body(self) -> bytes:
        """The fault as JSON."""
        return msgspec.json.encode(self)

    def headers(self) -> dict[str, str]:
        """When to ask again, where it says that."""
        wait = self.retry_seconds
        return {} if wait is None else {"retry-after": str(max(1, math.ceil(wait)))}

    def exception(self) -> ContextlensError:
        """The error itself."""
        found = _CLASSES[self.error](self.message)
        if self.retry_seconds is not None:
            found.retry_seconds = self.retry_seconds  # type: ignore[attr-defined]
        return found


_CLASSES: Mapping[str, type[ContextlensError]] = {
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


class Event(Struct, frozen=True, omit_defaults=True):
    """One line of a stream; an empty one is a sign of life.

    Attributes:
        progress: how far the work is.
        fault: why there is no answer; the last line.
        n_bytes: of the answer that follows; the last line.
    """

    progress: ProgressEvent | tuple[int, int] | None = None
    fault: Fault | None = None
    n_bytes: Annotated[int, Meta(ge=0)] | None = None


def pack_request(method: str, arguments: Mapping[str, Any]) -> bytes:
    """The body that asks a method.

    Raises:
        RequestError: it holds something that cannot be sent.
        TextError: it holds a text that is no Unicode.
    """
    types = {field.encode_name: field.type for field in msgspec.structs.fields(REQUESTS[method])}
    return _packed({name: _as_sent(value, types.get(name)) for name, value in arguments.items()})


def pack_answer(value: Any) -> bytes:
    """The body that answers."""
    return _packed(value)


def unpack_request(method: str, body: bytes) -> dict[str, Any]:
    """The arguments of a method.

    Raises:
        RequestError: the body is broken, or not what the method takes.
    """
    if int.from_bytes(body[:8], "little") > MOST_HEADER_BYTES:
        raise _broken("it lists too many arrays")
    return msgspec.structs.asdict(_unpacked(body, REQUESTS[method], MOST_VALUE_BYTES))


def unpack_answer(method: str, body: bytes) -> Any:
    """The answer of a method; its arrays are read-only.

    Raises:
        RequestError: the body is broken, or not what the method answers.
    """
    return _unpacked(body, ANSWERS[method])


def _packed(value: Any) -> bytes:
    arrays: dict[str, np.ndarray] = {}

    def plain(part: Any) -> Any:
        """Something that MessagePack has not, as something that it has."""
        if isinstance(part, np.ndarray):
            if part.dtype.kind not in "biuf" or part.dtype.itemsize > 8:
                raise RequestError(f"An array of {part.dtype} cannot be sent to a service.")
            name = str(len(arrays))
            arrays[name] = np.asarray(part, order="C")
            return name
        if isinstance(part, np.generic):
            return part.item()
        if isinstance(part, Mapping):
            return dict(part)
        if isinstance(part, Iterable):
            return list(part)
        raise RequestError(
            f"A value of the kind {type(part).__name__!r} cannot be sent to a service."
        )

    try:
        packed = msgspec.msgpack.encode(value, enc_hook=plain)
    except UnicodeEncodeError as exc:
        raise TextError.of_half_character(exc) from exc
    except (RecursionError, OverflowError) as exc:
        raise RequestError(
            "What was asked is nested too deep, or has too large a number, to be sent."
        ) from exc
    return save({**arrays, "value": np.frombuffer(packed, np.uint8)})


def _unpacked(body: bytes, kind: Any, most_bytes: int | None = None) -> Any:
    try:
        tensors = load(body)
        packed = tensors.pop("value").tobytes()
    except (SafetensorError, KeyError, ValueError):
        raise _broken("it is no whole safetensors file with a value") from None
    if most_bytes is not None and len(packed) > most_bytes:
        raise RequestError(
            f"What is asked has {len(packed) / 1e6:,.0f} MB without its arrays, and "
            f"{most_bytes / 1e6:,.0f} MB are taken at once. Ask in several parts."
        )

    def taken(hint: Any, name: Any) -> np.ndarray:
        """The array of a name, of the type that is stated."""
        array = tensors.pop(name, None) if isinstance(name, str) else None
        if array is None or array.dtype != _dtype(hint):
            raise ValueError(f"There must be an array of {_dtype(hint)}, named once")
        array.flags.writeable = False
        return array

    try:
        found = msgspec.msgpack.decode(packed, type=kind, dec_hook=taken)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as exc:
        raise _broken(f"{str(exc)[:200]}") from None
    if tensors:
        raise _broken("it has arrays that belong to nothing")
    return found


def _broken(why: str) -> RequestError:
    return RequestError(
        f"A body cannot be read: {why}. Lists have {MOST_ITEMS:,} entries at most. Ask for less in "
        "several parts; if that does not help, see whether both sides run the same version of "
        "Contextlens."
    )


def _as_sent(value: Any, hint: Any) -> Any:
    """An argument as its type asks for it: an array as a list, or the other way round."""
    if get_origin(hint) is not np.ndarray:
        return value.tolist() if isinstance(value, np.ndarray) else value
    try:
        array = np.asarray(value)
        return array.astype(_dtype(hint), casting="same_kind" if array.size else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise RequestError(
            f"{str(value)[:100]} was given; an array of {_dtype(hint)} is needed."
        ) from None


def _dtype(hint: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(get_args(get_args(hint)[1])[0])
    return found


def _request(name: str, method: Any) -> type[Struct]:
    """The arguments of a method, all but `progress`, with the types that it states."""
    hints = get_type_hints(method)
    fields: list[Any] = []
    for each in inspect.signature(method).parameters.values():
        if each.name not in {"self", "progress"}:
            default = () if each.default is each.empty else (each.default,)
            fields.append((each.name, _sent(hints[each.name]), *default))
    return msgspec.defstruct(f"{name}_request", fields, kw_only=True, forbid_unknown_fields=True)


def _sent(hint: Any) -> Any:
    """The type that travels: a bounded list for a sequence, an array where either will do.

    A single text in place of many travels too, for the service to refuse it in its own words.
    """
    if get_origin(hint) is Sequence:
        (item,) = get_args(hint)
        many: Any = Annotated[list[_sent(item)], Meta(max_length=MOST_ITEMS)]  # type: ignore[misc]
        return many | str if str in (item, *get_args(item)) else many
    if get_origin(hint) in (Union, UnionType):
        either = get_args(hint)
        arrays = [each for each in either if get_origin(each) is np.ndarray]
        return arrays[0] if arrays else reduce(or_, map(_sent, either))
    return hint


_METHODS = {name: each for name, each in vars(EncoderService).items() if not name.startswith("_")}
REQUESTS: Mapping[str, type[Struct]] = {
    name: _request(name, each) for name, each in _METHODS.items()
}
"""What a service can be asked, by the name of the method: each is a path below `PREFIX`."""
ANSWERS: Mapping[str, Any] = {
    name: get_type_hints(each)["return"] for name, each in _METHODS.items()
}
"""The type of each method's answer."""
