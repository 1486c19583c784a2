"""The format of everything between an app and a service: requests, answers, events and faults.

A request is JSON. An answer is one safetensors file: its arrays are tensors, and the tensor `value`
holds all else as MessagePack, in which each array is replaced by the name of its tensor. Nothing
is pickled. The signatures of `EncoderService` define what may be sent. On reading, msgspec refuses
unknown fields, other types, overlong lists and deep nesting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import zip_longest
from math import inf
from operator import or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from unicodedata import normalize

import msgspec
import numpy as np
from msgspec import Meta, Struct
from safetensors import SafetensorError
from safetensors.numpy import load, save

from contextlens.core import errors
from contextlens.core.calls import CARDS, Method
from contextlens.core.errors import ContextlensError, RequestError, TextError
from contextlens.core.protocol import METHODS, EncoderService
from contextlens.core.schema import ProgressEvent, TokenizerCard

__all__ = [
    "ANSWERS",
    "ANSWER_TYPE",
    "BULK_HEADER",
    "CALLER_HEADER",
    "CARD_BY",
    "MAX_BYTES",
    "MAX_ITEMS",
    "MAX_VALUES",
    "MODEL_HEADER",
    "PART_BYTES",
    "PREFIX",
    "REQUESTS",
    "REQUEST_TYPE",
    "STREAM_TYPE",
    "Event",
    "Fault",
    "check_answer",
    "pack_answer",
    "pack_request",
    "parts_of",
    "result_bytes",
    "unpack_answer",
    "unpack_request",
]


PREFIX = "/v1"
REQUEST_TYPE = "application/json"
ANSWER_TYPE = "application/x-contextlens-2"
"""The content type of an answer in the second version of the format."""
STREAM_TYPE = "application/x-contextlens-2-stream"
"""Lines of JSON, each an `Event`, and the answer after the last one. Used for long work, with
clients that accept it."""
CALLER_HEADER = "x-contextlens-caller"
"""Identifies the requests of one visitor without revealing the visitor."""
BULK_HEADER = "x-contextlens-bulk"
MODEL_HEADER = "serve_multiplexed_model_id"
"""The requested model; Ray Serve uses it to find a replica that has the model in memory."""

MAX_ITEMS = 4096
"""The most items in one list of a request; larger requests are split into parts."""
MAX_VALUES = 200_000
"""The most values in a request: msgspec reads a list to its end, and nothing else runs meanwhile,
before it refuses the list's length. 4,000,000 values take 0.2 to 3 s."""
_MAX_WAIT_LENGTH = 3600.0  # seconds; a fault with a longer wait is refused
_ERRORS: Mapping[str, type[ContextlensError]] = {
    name: vars(errors)[name] for name in errors.__all__
}


class Fault(Struct, frozen=True):
    """An error in transit; the other side raises the same class with the same sentence."""

    error: str
    message: str
    retry_seconds: Annotated[float, Meta(ge=0, le=_MAX_WAIT_LENGTH)] | None = None

    def __post_init__(self) -> None:
        """Refuse a name that is not one of our errors."""
        if self.error not in _ERRORS:
            raise ValueError(f"{self.error[:40]!r} is no error of ours")

    @classmethod
    def of(cls, error: ContextlensError) -> Fault:
        """An error as it is sent; an unlisted class is sent as its nearest listed base class."""
        name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
        return cls(name, str(error), getattr(error, "retry_seconds", None))

    @classmethod
    def read(cls, body: bytes) -> Fault | None:
        """The fault in an answer, or None if the answer is not in our format."""
        try:
            return msgspec.json.decode(body, type=cls)
        except (msgspec.DecodeError, RecursionError):
            return None

    def exception(self) -> ContextlensError:
        """The error itself."""
        kind = _ERRORS[self.error]
        if issubclass(kind, errors.BusyError):
            return kind(self.message, self.retry_seconds)
        return kind(self.message)


class Event(Struct, frozen=True, omit_defaults=True):
    """One line of a stream; an empty one is a sign of life.

    Attributes:
        progress: the progress of the work.
        fault: the error in place of an answer; only in the last line.
        n_bytes: the size of the answer that follows; only in the last line.
    """

    progress: ProgressEvent | tuple[int, int] | None = None
    fault: Fault | None = None
    n_bytes: int | None = None


def pack_request(arguments: Mapping[str, Any]) -> bytes:
    """The body of a request, from a method's arguments by name.

    Raises:
        RequestError: an argument cannot be sent.
        TextError: a text is not valid Unicode.
    """
    return _encoded(msgspec.json.encode, arguments, _plain)


def unpack_request(method: str, body: bytes) -> dict[str, Any]:
    """A method's arguments by name, from the body of a request.

    Raises:
        RequestError: the body is malformed, has too many values, or does not match the method's
            arguments.
    """
    if _n_commas(body) >= MAX_VALUES:
        raise _broken(f"It has more than {MAX_VALUES:,} values")
    try:
        return msgspec.structs.asdict(msgspec.json.decode(body, type=REQUESTS[method]))
    except (msgspec.DecodeError, ValueError, RecursionError) as exc:
        raise _broken(str(exc)) from None


def pack_answer(answer: Any) -> bytes:
    """The body of an answer."""
    arrays: dict[str, np.ndarray] = {}

    def name_array(part: Any) -> Any:
        if not isinstance(part, np.ndarray):
            return _plain(part)
        arrays[name := str(len(arrays))] = np.asarray(part, order="C")
        return name

    value = _encoded(msgspec.msgpack.encode, answer, name_array)
    return save({**arrays, "value": np.frombuffer(value, np.uint8)})


def unpack_answer(method: str, body: bytes) -> Any:
    """The answer of a method; its arrays are read-only.

    Raises:
        RequestError: the body is malformed, or does not match the method's answer.
    """

    def take_array(hint: Any, name: Any) -> np.ndarray:
        array = tensors.pop(str(name), None)
        if array is None or array.dtype != _dtype(hint):
            raise ValueError(f"There must be an array of {_dtype(hint)}, named once")
        array.flags.writeable = False
        return array

    try:
        tensors = load(body)
        value = tensors.pop("value").tobytes()
        return msgspec.msgpack.decode(value, type=ANSWERS[method], dec_hook=take_array)
    except (SafetensorError, KeyError, ValueError, msgspec.DecodeError, RecursionError) as exc:
        raise _broken(str(exc)) from None


def _encoded(encode: Callable[..., bytes], value: Any, encode_other: Any) -> bytes:
    try:
        return encode(value, enc_hook=encode_other)
    except UnicodeEncodeError as exc:
        raise TextError.of_half_character(exc) from exc
    except RecursionError as exc:
        raise RequestError("What was asked is nested too deep to be sent.") from exc


def _n_commas(body: bytes) -> int:
    """The number of commas in JSON, without those in strings if there may be too many."""
    n = body.count(b",")
    if n < MAX_VALUES:
        return n
    unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    signs = np.frombuffer(unescaped, np.uint8)
    is_in_string = np.logical_xor.accumulate(signs == ord('"'))
    return int(np.count_nonzero((signs == ord(",")) & ~is_in_string))


def _plain(value: Any) -> Any:
    """An equivalent value of a type that msgspec can encode."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise RequestError(f"A value of the kind {type(value).__name__!r} cannot be sent to a service.")


def _broken(why: str) -> RequestError:
    return RequestError(
        f"A body cannot be read: {why[:200]}. Lists have {MAX_ITEMS:,} entries at most. Ask for "
        "less in several parts; if that does not help, see whether both sides run the same version "
        "of Contextlens."
    )


def _dtype(hint: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(get_args(get_args(hint)[1])[0])
    return dtype


def _request_type(method: Method, function: Any) -> type[Struct]:
    """A struct of a method's arguments, all but `progress`, with the types of its signature."""
    hints = get_type_hints(function)
    fields: list[Any] = []
    for argument in method.signature.parameters.values():
        if argument.name not in {"self", "progress"}:
            default = () if argument.default is argument.empty else (argument.default,)
            fields.append((argument.name, _json_type(hints[argument.name]), *default))
    name = f"{method.name}_request"
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _json_type(hint: Any) -> Any:
    """The type on the wire: a bounded list for a sequence or an array.

    A single text in place of a list is allowed too, so that the service can refuse it in its own
    words.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is np.ndarray:
        return _json_type(Sequence[int] if _dtype(hint).kind == "i" else Sequence[float])
    if origin is Sequence:
        many: Any = Annotated[list[_json_type(inner[0])], Meta(max_length=MAX_ITEMS)]  # type: ignore[misc]
        return many | str if str in (inner[0], *get_args(inner[0])) else many
    return reduce(or_, map(_json_type, inner)) if origin in (Union, UnionType) else hint


REQUESTS: Mapping[str, type[Struct]] = {
    name: _request_type(method, getattr(EncoderService, name)) for name, method in METHODS.items()
}
"""The request types by method name; each is a path below `PREFIX`."""
ANSWERS: Mapping[str, Any] = {
    name: get_type_hints(getattr(EncoderService, name))["return"] for name in METHODS
}
"""The type of each method's answer."""


# --- Limits on the size of an answer

MAX_BYTES = 1_000_000_000
"""The largest answer: what 512 tokens take, with all attentions, in the largest known models."""
PART_BYTES = 256_000_000
"""The largest answer to one part of a call, at one token per byte, four times the usual."""
_MAX_TEXTS, _MAX_CHARACTERS = 128, 8_000  # of a part: larger ones are no faster
_MAX_RUNS = 1_024
_OTHER_BYTES = 2_000_000  # of an answer whose size is independent of texts: cards, parameters
_MATRIX_BYTES = 20_000_000  # of a parameter; larger ones are refused where they are read
_RESULT_BYTES = 2_000  # of a result besides its arrays and texts
_TOKEN_BYTES = 100  # its seven numbers, and the token itself
_ENTRY_BYTES = 100  # of a token in a vocabulary
_LABEL_BYTES = 400  # of a label's name
_MAX_DIMS = 6 * 16_384  # of a sentence's vector: all poolings of the largest linear layer
_PART_LENGTH = 100  # characters; the time for the form of a part grows with its square
_MIN_ROW = 1_024  # in some models, a row of the word table is longer than a layer's states

CARD_BY: Mapping[str, str] = {
    name: CARDS[method.of]
    for name, method in METHODS.items()
    if method.of and name != "architecture" and name not in CARDS.values()
}
"""The method whose card determines the size of a method's answer."""

Card = Any
"""A `ModelCard`, a `TokenizerCard`, or None if the size depends on neither."""


def check_answer(method: str, arguments: Mapping[str, Any], card: Card) -> int:
    """The most bytes that the answer to a call can take.

    Raises:
        RequestError: that is more than an answer may have.
    """
    n_bytes = sum(result_bytes(method, arguments, card))
    if n_bytes > MAX_BYTES:
        raise RequestError(
            f"The answer to {method} would have up to {n_bytes / 1e6:,.0f} MB, and an answer may "
            f"have {MAX_BYTES / 1e6:,.0f} MB. Ask in parts: for fewer texts, layers, attentions "
            "or token IDs at a time."
        )
    return n_bytes


def result_bytes(method: str, arguments: Mapping[str, Any], card: Card) -> list[int]:
    """The most bytes of each result: one for each text, or one for the whole answer.

    Args:
        method: the method.
        arguments: its arguments by name.
        card: the card that `CARD_BY` names for the method.
    """
    match method:
        case "tokenize" | "encode" | "intervene":
            return [
                _RESULT_BYTES + _bytes(text) + _bytes(pair) + _states(arguments, card, text, pair)
                for text, pair in zip_longest(arguments["texts"], arguments.get("pairs") or ())
            ]
        case "sentence_vectors":
            n_bytes = 4 * max(card.n_dims, _MAX_DIMS)
            return [_RESULT_BYTES + n_bytes for _ in arguments["texts"]]
        case "predict_tokens":
            n_layers = len(arguments.get("layers") or [card.n_layers])
            n_candidates = len(arguments.get("candidates", ()))
            n_tokens = 2 * arguments.get("n_best", 10) + 2 * n_candidates + 2
            return [
                _RESULT_BYTES
                + _bytes(text)
                + _bytes(pair)
                + _states({**arguments, "layers": []}, card, text, pair)
                + 8 * n_layers * n_tokens * len(positions)
                for text, pair, positions in zip_longest(
                    arguments["texts"], arguments.get("pairs") or (), arguments["positions"]
                )
            ]
        case "classify":
            return [
                _RESULT_BYTES
                + _bytes(text)
                + _bytes(pair)
                + _states({**arguments, "layers": []}, card, text, pair)
                + len(card.labels.names)
                * (_LABEL_BYTES + 8 * min(_bytes(text) + _bytes(pair) + 4, card.max_length))
                for text, pair in zip_longest(arguments["texts"], arguments.get("pairs") or ())
            ]
        case "follows":
            return [_ENTRY_BYTES for _ in arguments["texts"]]
        case "embedding_parts" | "integrated_gradients" | "label_gradients":
            text, pair = arguments["text"], arguments.get("pair")
            return [8 * _states({**arguments, "layers": [0]}, card, text, pair)]
        case "label_replacements":
            text, pair = arguments["text"], arguments.get("pair")
            n_tokens = min(_bytes(text) + _bytes(pair) + 4, card.max_length)
            own = _states({**arguments, "layers": []}, card, text, pair)
            return [_RESULT_BYTES + own + 12 * n_tokens * arguments.get("n_best", 10)]
        case "word_rows":
            return [4 * max(card.n_dims, _MIN_ROW) * len(arguments["token_ids"])]
        case "vocabulary" | "cut_rules" | "nearest_rows":
            n = card.vocabulary_size
            return [_OTHER_BYTES + _ENTRY_BYTES * max(0, min(n, arguments.get("n", n)))]
        case "decode":
            return [_ENTRY_BYTES * len(arguments["token_ids"])]
        case "normalize":
            return [18 * _bytes(text) for text in arguments["texts"]]
    return [_MATRIX_BYTES if method == "matrix" else _OTHER_BYTES]


def parts_of(method: str, arguments: Mapping[str, Any], card: Card) -> Iterator[slice]:
    """Slices of the texts or token IDs of a call, each to be requested separately.

    Args:
        method: one whose calls have `columns`, or "word_rows".
        arguments: by name; those with one entry for each text have equal lengths.
        card: the card that `CARD_BY` names for the method.
    """
    if method == "word_rows":
        n = len(arguments["token_ids"])
        yield from (slice(start, start + MAX_ITEMS) for start in range(0, max(n, 1), MAX_ITEMS))
        return
    is_run = method == "intervene"  # work below the interventions is shared within a part
    most_texts, most_characters = (_MAX_RUNS, inf) if is_run else (_MAX_TEXTS, _MAX_CHARACTERS)
    sizes = result_bytes(method, arguments, card)
    start = n_bytes = n_characters = 0
    for i, (size, text) in enumerate(zip(sizes, arguments["texts"], strict=True)):
        n_bytes, n_characters = n_bytes + size, n_characters + len(text)
        is_full = n_bytes > PART_BYTES or n_characters > most_characters
        if i > start and (is_full or i - start == most_texts):
            yield slice(start, i)
            start, n_bytes, n_characters = i, size, len(text)
    yield slice(start, len(sizes))


def _states(arguments: Mapping[str, Any], card: Card, text: Any, pair: Any) -> int:
    """Bytes of everything known about one text's tokens, assuming one token per byte."""
    n: int = max(_bytes(text) + _bytes(pair) + 4, arguments.get("pad_to") or 0)
    n = min(n, card.max_length, arguments.get("max_length") or n)
    if isinstance(card, TokenizerCard):
        return n * _TOKEN_BYTES
    layers, attentions = arguments.get("layers"), arguments.get("attentions", False)
    n_layers = card.n_layers + 1 if layers is None else len(layers)
    is_all = isinstance(attentions, bool)
    n_heads = card.n_layers * card.n_heads * attentions if is_all else len(attentions)
    n_bytes: int = n * (_TOKEN_BYTES + 4 * card.n_dims * n_layers) + 4 * n_heads * n * n
    return n_bytes


def _bytes(text: str | None) -> int:
    """Bytes of a text, or of its expanded form (NFKC, as in some tokenizers) if that is more."""
    if text is None or text.isascii():
        return len(text or "")
    parts = (text[i : i + _PART_LENGTH] for i in range(0, len(text), _PART_LENGTH))
    written_out = (normalize("NFKC", part) for part in parts)  # one character can become 18
    return max(
        len(text.encode(errors="replace")),
        sum(len(part.encode(errors="replace")) for part in written_out),
    )
