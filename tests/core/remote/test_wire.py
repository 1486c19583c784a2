"""Everything sent comes back unchanged; input from outside is read or refused."""

from __future__ import annotations

import inspect
import json
import pickle
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load, save

from contextlens.core import errors, schema
from contextlens.core.errors import (
    ContextlensError,
    RequestError,
    TextError,
    UnknownModelError,
)
from contextlens.core.protocol import METHODS, EncoderService
from contextlens.core.remote.wire import (
    ANSWERS,
    MAX_ITEMS,
    MAX_VALUES,
    REQUESTS,
    Fault,
    pack_answer,
    pack_request,
    unpack_answer,
    unpack_request,
)
from contextlens.core.schema import Average, Block, Patch, SwitchOff

NUMBERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
LEAVES = st.none() | st.booleans() | NUMBERS | st.floats() | TEXTS


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as written in the schema."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return LEAVES | st.lists(LEAVES, max_size=3)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(each) for each in inner])
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, inner))
    if origin is list:
        return st.lists(values_of(inner[0]), max_size=3)
    if origin is np.ndarray:
        shapes = arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
        return arrays_of.arrays(get_args(inner[1])[0], shapes)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(values_of(inner[0]), values_of(inner[1]), max_size=3)
    if is_dataclass(hint) or (inspect.isclass(hint) and issubclass(hint, msgspec.Struct)):
        return instances(hint)
    plain = {int: NUMBERS, str: TEXTS, float: st.floats(), bool: st.booleans()}
    return plain[hint] if hint in plain else st.none()


def instances(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{name: values_of(hint) for name, hint in hints.items()})


def assert_equal(found: Any, given: Any) -> None:
    """Equal bit for bit; NaN equals NaN."""
    assert type(found) is type(given)
    if isinstance(given, np.ndarray):
        assert (found.dtype, found.shape) == (given.dtype, given.shape)
        assert found.tobytes() == given.tobytes()
        assert not found.flags.writeable
    elif is_dataclass(given):
        for field in fields(given):
            assert_equal(getattr(found, field.name), getattr(given, field.name))
    elif isinstance(given, list | tuple):
        assert len(found) == len(given)
        for one, other in zip(found, given, strict=True):
            assert_equal(one, other)
    elif isinstance(given, dict):
        assert_equal(list(found.items()), list(given.items()))
    else:
        assert repr(found) == repr(given)


# Answers


@pytest.mark.parametrize("method", sorted(ANSWERS))
@settings(max_examples=25)
@given(st.data())
def test_an_answer_comes_back_as_it_was(method: str, data: st.DataObject) -> None:
    answer = data.draw(values_of(ANSWERS[method]))
    assert_equal(unpack_answer(method, pack_answer(answer)), answer)


def test_arrays_that_lie_otherwise_in_memory_come_as_they_look() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for array in (base.T, base[::2, ::-1], base.astype(">f4"), np.array(2.5, "f4"), base[:0]):
        found = unpack_answer("matrix", pack_answer(array))
        assert found.shape == array.shape
        np.testing.assert_array_equal(found, array)


def test_an_answer_is_a_file_that_the_library_reads() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensors = load(pack_answer(rows))
    name = msgspec.msgpack.decode(tensors.pop("value").tobytes())
    np.testing.assert_array_equal(tensors[name], rows)


# Requests


def sent(method: str, **arguments: Any) -> dict[str, Any]:
    return unpack_request(method, pack_request({"model": "m", **arguments}))


def test_every_method_has_its_request_and_its_answer() -> None:
    assert set(REQUESTS) == set(ANSWERS) == set(METHODS)
    for name, request in REQUESTS.items():
        parameters = inspect.signature(getattr(EncoderService, name)).parameters
        assert set(request.__struct_fields__) == set(parameters) - {"self", "progress"}


def test_a_request_is_plain_json() -> None:
    body = pack_request({"model": "m", "texts": ["a"], "layers": (1, 2)})
    assert json.loads(body) == {"model": "m", "texts": ["a"], "layers": [1, 2]}


def test_arguments_may_be_of_many_kinds() -> None:
    found = sent("encode", texts=("a",), layers=range(3), pad_to=np.int64(5))
    assert (found["texts"], found["layers"], found["pad_to"]) == (["a"], [0, 1, 2], 5)
    assert sent("encode", texts=iter(["a"]), layers=np.array([1]))["layers"] == [1]
    assert sent("encode", texts=[], attentions=np.array([[1, 2]]))["attentions"] == [(1, 2)]
    for ids in ([5, 6], (5, 6), np.array([5, 6]), np.array([5, 6], np.int32)):
        assert sent("word_rows", token_ids=ids)["token_ids"] == [5, 6]


@given(
    arrays_of.arrays(
        np.float32, 7, elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
    )
)
def test_every_number_of_a_vector_is_kept(vector: np.ndarray) -> None:
    found = np.array(sent("nearest_rows", vector=vector, n=2)["vector"], np.float32)
    np.testing.assert_array_equal(found.view(np.uint32), vector.view(np.uint32))


def test_every_intervention_can_be_sent() -> None:
    rows = [[SwitchOff("head", 2, 3), Block(2, layers=(1, 2))], [Average(3, (1,), "batch")]]
    rows.append([Patch(4, (1, 2), "a", (2, 1), source_pair="b")])
    found = sent("intervene", texts=["a"] * 3, interventions=rows)
    assert found["interventions"] == rows
    assert set(get_args(schema.Intervention)) == {SwitchOff, Block, Average, Patch}


@pytest.mark.parametrize(
    "value",
    [object(), len, [[2**70]], np.array(["text"]), np.array([None]), np.array([np.nan])],
    ids=["object", "function", "deep number", "texts", "objects", "no number"],
)
def test_what_cannot_be_sent_is_refused(value: Any) -> None:
    with pytest.raises(RequestError):
        sent("word_rows", token_ids=value)
    with pytest.raises(RequestError):
        sent("encode", texts=["a"], pad_to=value)


def test_half_a_character_is_refused_in_the_words_of_the_tokenizer() -> None:
    with pytest.raises(TextError, match=r"Character 3 .* \(U\+D800, a lone surrogate\)"):
        sent("encode", texts=["a \ud800 b"])


def test_what_holds_itself_cannot_be_sent() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(RequestError, match="nested too deep"):
        sent("encode", texts=loop)


# Input from outside

REQUEST = pack_request({"model": "m", "vector": np.arange(3.0), "n": 5})
ANSWER = pack_answer(np.arange(3, dtype=np.float32))


@given(st.data())
def test_a_truncated_body_is_refused(data: st.DataObject) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        unpack_request("nearest_rows", REQUEST[: data.draw(st.integers(0, len(REQUEST) - 1))])
    with pytest.raises(RequestError, match="cannot be read"):
        unpack_answer("matrix", ANSWER[: data.draw(st.integers(0, len(ANSWER) - 1))])


@given(st.integers(0, len(ANSWER) - 1), st.integers(0, 255))
def test_a_damaged_body_is_refused_or_read_never_more(place: int, byte: int) -> None:
    with suppress(RequestError):  # a byte within a number makes another number
        unpack_request("nearest_rows", damaged(REQUEST, place % len(REQUEST), byte))
    with suppress(RequestError):
        unpack_answer("matrix", damaged(ANSWER, place, byte))


def damaged(body: bytes, place: int, byte: int) -> bytes:
    return body[:place] + bytes([byte]) + body[place + 1 :]


@example(pickle.dumps(()))
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(RequestError):
        unpack_request("spec", body)
    with pytest.raises(RequestError):
        unpack_answer("models", body)


ENCODE = {"model": "m", "texts": ["a"]}
OFF = {"type": "SwitchOff", "part": "head", "layer": 1}


@pytest.mark.parametrize(
    ("method", "value", "why"),
    [
        ("encode", {"model": "m"}, "missing required field `texts`"),
        ("encode", {**ENCODE, "progress": 1}, "unknown field `progress`"),
        ("encode", {**ENCODE, "model": 5}, r"Expected `str`, got `int` - at `\$.model`"),
        ("encode", [ENCODE], "Expected `object`"),
        ("encode", {**ENCODE, "mask": "none"}, "Invalid enum value 'none'"),
        ("encode", {**ENCODE, "pad_to": True}, "got `bool`"),
        ("encode", {**ENCODE, "texts": ["a"] * 4097}, "length <= 4096"),
        ("intervene", {**ENCODE, "interventions": [[{**OFF, "layer": "1"}]]}, "got `str`"),
        ("intervene", {**ENCODE, "interventions": [[{**OFF, "type": "Popen"}]]}, "Invalid value"),
        ("word_rows", {"model": "m", "token_ids": "1"}, "Expected `array`, got `str`"),
        ("word_rows", {"model": "m", "token_ids": [5.5]}, "Expected `int`, got `float`"),
    ],
)
def test_lies_are_refused_in_a_sentence(method: str, value: Any, why: str) -> None:
    with pytest.raises(RequestError, match=why) as caught:
        unpack_request(method, json.dumps(value).encode())
    assert str(caught.value).startswith("A body cannot be read: ")


def answer(value: Any, **arrays: np.ndarray) -> bytes:
    packed = np.frombuffer(msgspec.msgpack.encode(value), np.uint8)
    return save({"value": packed, **arrays})


@pytest.mark.parametrize(
    "body",
    [
        answer("0"),
        answer("0", **{"0": np.zeros(2, np.int64)}),
        answer(["0"], **{"0": np.zeros(2, np.float32)}),
        save({"0": np.zeros(2, np.float32)}),
    ],
    ids=["none", "of another kind", "in a list", "no value"],
)
def test_an_answer_without_its_array_is_refused(body: bytes) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        unpack_answer("matrix", body)


def test_nesting_without_end_is_refused() -> None:
    body = b'{"model": "m", "texts": ["a"], "layers": ' + b"[" * 8_000_000
    with pytest.raises(RequestError, match="Expected `int`, got `array`"):
        unpack_request("encode", body)


@pytest.mark.parametrize("text", [",", '"', '","', "\\", '\\",'], ids=repr)
def test_signs_in_a_text_are_no_values(text: str) -> None:
    given = {"model": "m", "texts": [text * MAX_VALUES], "layers": list(range(MAX_ITEMS))}
    assert unpack_request("encode", pack_request(given))["texts"] == given["texts"]


def test_too_many_values_are_refused_before_they_are_read() -> None:
    given = {"model": "m", "texts": [","], "layers": [1] * MAX_VALUES}
    with pytest.raises(RequestError, match="more than 200,000 values"):
        unpack_request("encode", pack_request(given))


# Faults


@pytest.mark.parametrize("name", sorted(errors.__all__))
def test_an_error_comes_back_as_the_same_class_with_the_same_sentence(name: str) -> None:
    fault = Fault.of(vars(errors)[name]("Choose another — word."))
    read = Fault.read(msgspec.json.encode(fault))
    assert read is not None
    assert type(read.exception()) is vars(errors)[name]
    assert str(read.exception()) == "Choose another — word."


def test_an_error_of_a_class_of_its_own_is_sent_as_the_nearest() -> None:
    class OwnError(UnknownModelError):
        pass

    assert Fault.of(OwnError("x")).error == "UnknownModelError"
    assert Fault.of(ContextlensError("x")).error == "ContextlensError"


@pytest.mark.parametrize(
    "given_body",
    [
        b"",
        b"<html>Bad gateway</html>",
        b"{}",
        json.dumps({"error": "SystemExit", "message": "x"}).encode(),
        json.dumps({"error": "BusyError", "message": 5}).encode(),
        json.dumps({"error": "BusyError", "message": "x", "retry_seconds": -1}).encode(),
        json.dumps({"error": "BusyError", "message": "x", "retry_seconds": 1e9}).encode(),
        b"[" * 100_000,
    ],
)
def test_what_is_no_fault_of_ours_is_none(given_body: bytes) -> None:
    assert Fault.read(given_body) is None
