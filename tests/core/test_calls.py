"""Calls as values: bound as Python binds arguments, with keys that tell different calls apart."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.core.calls import Call


class Handed(EncoderService):
    """Gives back the call that it is handed."""

    def _answer(self, call: Call) -> Any:
        return call


SERVICE: Any = Handed()


def test_arguments_are_bound_by_place_name_and_default() -> None:
    for call in (
        SERVICE.encode("m", ["a"], pad_to=9),
        SERVICE.encode(texts=["a"], model="m", pad_to=9),
    ):
        assert call.method.name == "encode"
        assert (call.model, call.checksum) == ("m", None)
        bound = inspect.signature(SERVICE.encode).bind("m", ["a"], pad_to=9)
        bound.apply_defaults()
        assert call.arguments == bound.arguments


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        (("m",), {}),
        (("m",), {"text": ["a"]}),
        (("m", ["a"]), {"texts": ["a"]}),
        (("m", ["a"], [None]), {}),
        (("m", ["a"]), {"unheard": 1}),
        (("m",), {"unheard": 1}),
    ],
)
def test_what_python_would_not_bind_is_no_call(given: tuple[Any, ...], named: Any) -> None:
    with pytest.raises(TypeError):
        SERVICE.encode(*given, **named)


def keys(call: Call) -> list[Any]:
    return call.keys("sum", call.columns())


def test_a_text_has_one_key_in_whatever_call_it_is() -> None:
    alone = keys(SERVICE.encode("m", ["a"], layers=(1, 2)))
    both = keys(SERVICE.encode("m", ("b", "a"), pairs=["c", None], layers=range(1, 3)))
    assert alone[0] == both[1] != both[0]


def test_numbers_that_are_equal_and_arrays_that_look_alike_have_keys_of_their_own() -> None:
    found = {keys(SERVICE.encode("m", ["a"], pad_to=pad_to))[0] for pad_to in (1, 1.0, True, None)}
    assert len(found) == 4
    vectors = [np.zeros(2000, np.float32) for _ in range(2)]
    vectors[1][1000] = 1e-9
    first, second = (keys(SERVICE.nearest_rows("m", vector, 3)) for vector in vectors)
    assert first != second
    assert first == keys(SERVICE.nearest_rows("m", vectors[0].copy(), 3))
