from __future__ import annotations

import inspect
import json
import pickle
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from components.core import schema
from components.core.errors import RequestError
from components.core.remote.tensors import write
from components.core.remote.wire import CLASSES, pack, unpack
from components.core.schema import Passport, SwitchOff

NUMBERS = st.integers(-(2**70), 2**70)
TEXTS = st.text(st.characters(), max_size=8)  # lone surrogates too: a page can send them
LEAVES = st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=True) | TEXTS


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as the schema writes it."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return LEAVES | st.tuples(LEAVES, LEAVES) | st.lists(LEAVES, max_size=3)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(each) for each in inner])
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, inner))
    if origin is np.ndarray:
        shapes = arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
        return arrays_of.arrays(get_args(inner[1])[0], shapes)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(values_of(inner[0]), values_of(inner[1]), max_size=3)
    if is_dataclass(hint):
        return instances(hint)
    plain = {int: NUMBERS, str: TEXTS, float: st.floats(), bool: st.booleans()}
    return plain[hint] if hint in plain else st.none()


def instances(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: values_of(hints[field.name]) for field in fields(cls)})


def assert_equal(found: Any, given: Any) -> None:
    """The same, bit for bit; NaN equals NaN."""
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


def test_every_class_of_the_schema_can_be_sent() -> None:
    """A new one has to be put into the list."""
    known = {
        name: each
        for name, each in vars(schema).items()
        if inspect.isclass(each) and is_dataclass(each)
    }
    assert dict(CLASSES) == known


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CLASSES))
@settings(max_examples=25)
@given(st.data())
def test_what_is_sent_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    given_value = data.draw(instances(CLASSES[name]))
    assert_equal(unpack(pack(given_value)), given_value)
    assert_equal(unpack(pack([given_value, (given_value,)])), [given_value, (given_value,)])


@given(arrays_of.arrays(np.uint32, 7))
def test_every_bit_of_a_float_is_kept(bits: np.ndarray) -> None:
    found = unpack(pack(bits.view(np.float32)))
    np.testing.assert_array_equal(found.view(np.uint32), bits)


def test_arrays_that_lie_otherwise_in_memory_come_as_they_look() -> None:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    for array in (base.T, base[::2, ::-1], base.astype(">f4"), np.array(2.5), base[:0]):
        found = unpack(pack(array))
        assert found.shape == array.shape
        np.testing.assert_array_equal(found, array)


def test_one_of_many_arrays_does_not_keep_all() -> None:
    many = [np.ones(1000, np.float32) for _ in range(10)]
    assert all(array.base is None or array.base.nbytes == 4000 for array in unpack(pack(many)))


def test_arguments_may_be_of_many_kinds() -> None:
    given_values = {"layers": range(3), "n": np.int64(5), "x": np.float32(0.1), "yes": np.bool_(1)}
    assert unpack(pack(given_values)) == {
        "layers": [0, 1, 2],
        "n": 5,
        "x": float(np.float32(0.1)),
        "yes": True,
    }


@pytest.mark.parametrize(
    "value",
    [object(), b"bytes", np.array(["text"]), np.array([None]), {"f": len}],
    ids=["object", "bytes", "texts", "objects", "function"],
)
def test_what_cannot_be_sent_is_refused_where_it_is(value: Any) -> None:
    with pytest.raises(RequestError, match="cannot be sent"):
        pack(value)


def test_what_holds_itself_cannot_be_sent() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(RequestError, match="nested too deep"):
        pack(loop)


# What comes from outside

WHOLE = pack([SwitchOff("head", 1, 2), np.arange(3.0)])


@given(st.integers(0, len(WHOLE) - 1))
def test_a_truncated_body_is_refused(length: int) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        unpack(WHOLE[:length])


@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_a_damaged_body_is_refused_or_read_never_more(place: int, byte: int) -> None:
    damaged = WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    with suppress(RequestError):  # a byte within a number makes another number
        unpack(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(RequestError):
        unpack(body)


def body(value: Any, **arrays: np.ndarray) -> bytes:
    return b"".join(write(arrays, {"contextlens": "1", "value": json.dumps(value)}))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"Popen": [["ls"]]}, "holds a 'Popen'"),
        ({"array": "7"}, "an array that it does not have"),
        ({"array": ["0"]}, "an array that it does not have"),
        ([{"array": "0"}, {"array": "0"}], "names one twice"),
        ([1, 2], "arrays that belong to nothing"),
        ({"tuple": 5}, "no list"),
        ({"mapping": [[1]]}, "no list of pairs"),
        ({"mapping": [[[1], 2]]}, "a key that cannot be one"),
        ({}, "stands for nothing"),
        ({"SwitchOff": ["head", 1]}, "does not have the fields"),
        ({"SwitchOff": {"part": "head"}}, "does not have the fields"),
        ({"SwitchOff": ["everything", 1, None, "zero"]}, "'part' of a SwitchOff"),
        ({"SwitchOff": ["head", "1", None, "zero"]}, "'layer' of a SwitchOff"),
        ({"SwitchOff": ["head", True, None, "zero"]}, "'layer' of a SwitchOff"),
        ({"Passport": ["m", "r", "c", "exact", {"mapping": [[1, "2"]]}, {"mapping": []}]}, "versi"),
        ({"Block": [1, None, {"tuple": [1, {"tuple": []}]}]}, "'layers' of a Block"),
        ({"Average": [1, [1, 2], "text"]}, "'positions' of a Average"),
    ],
)
def test_lies_are_refused_in_a_sentence(value: Any, why: str) -> None:
    with pytest.raises(RequestError, match=why) as caught:
        unpack(body(value, **{"0": np.zeros(2)}))
    assert str(caught.value).startswith("A body cannot be read: ")


def test_an_array_of_another_kind_in_a_class_is_refused() -> None:
    rows = {"merges": {"mapping": []}, "scores": {"array": "0"}}
    with pytest.raises(RequestError, match="'scores' of a CutRules"):
        unpack(body({"CutRules": list(rows.values())}, **{"0": np.zeros(2)}))


def test_depth_has_an_end() -> None:
    deep = write({}, {"contextlens": "1", "value": "[" * 100_000 + "]" * 100_000})
    with pytest.raises(RequestError, match="no JSON that can be read"):
        unpack(b"".join(deep))


def test_a_pickle_is_no_body() -> None:
    with pytest.raises(RequestError):
        unpack(pickle.dumps({"model": "m"}))


def test_another_version_is_named() -> None:
    with pytest.raises(RequestError, match="version 1 is needed, and this one has '2'"):
        unpack(b"".join(write({}, {"contextlens": "2", "value": "1"})))


def test_a_passport_keeps_what_settings_hold() -> None:
    passport = Passport("m", "r", "c", "exact", {"a": "1"}, {"heads": [(1, 2)], "pad": None})
    assert unpack(pack(passport)) == passport
