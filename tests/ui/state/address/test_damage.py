"""Addresses and files that are damaged, cut off or far too big are refused."""

from __future__ import annotations

import base64
import time
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import StateError
from components.ui.state.address import MAX_ADDRESS, decode, encode, from_json
from components.ui.state.view import DEFAULT, ViewState
from tests.ui.state.views import any_character, unhurried


@unhurried
@given(st.text(any_character, max_size=200))
def test_a_random_address_is_refused(parameter: str) -> None:
    if parameter:
        with pytest.raises(StateError):
            decode(parameter)


@unhurried
@given(st.binary(max_size=200))
def test_random_bytes_in_our_form_are_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        decode("1" + base64.urlsafe_b64encode(data).decode().rstrip("="))


@unhurried
@given(st.binary(max_size=200))
def test_random_bytes_well_compressed_are_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        decode("1" + base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("="))


LONGER = replace(DEFAULT, layer=3)


def test_a_cut_off_address_is_called_damaged() -> None:
    parameter = encode(LONGER)
    for length in range(1, len(parameter)):
        with pytest.raises(StateError, match="part of it is missing"):
            decode(parameter[:length])


@unhurried
@given(st.integers(1, len(encode(LONGER)) - 1), st.characters(codec="ascii"))
def test_an_address_with_a_wrong_character_is_refused_or_names_a_view(at: int, sign: str) -> None:
    parameter = encode(LONGER)
    try:
        view = decode(parameter[:at] + sign + parameter[at + 1 :])
    except StateError:
        return
    assert isinstance(view, ViewState)


@pytest.mark.parametrize("version", ["0", "2", "x", " ", "é", "\x00"])
def test_another_version_is_named_as_the_reason(version: str) -> None:
    with pytest.raises(StateError, match="another version"):
        decode(version + encode(LONGER)[1:])


def bomb(megabytes: int) -> str:
    """An address that inflates to JSON of this size."""
    machine = zlib.compressobj(9)
    data = machine.compress(b'{"m":"')
    data += b"".join(machine.compress(b"a" * 1_000_000) for _ in range(megabytes))
    return "1" + base64.urlsafe_b64encode(data + machine.flush()).decode().rstrip("=")


# 200 MB are 260 kB of address and refused for their length; 11 MB just pass for short.
@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [11, 200])
def test_an_address_that_inflates_is_refused_before_it_fills_the_memory(megabytes: int) -> None:
    parameter = bomb(megabytes)
    assert megabytes == 200 or len(parameter) <= 2 * MAX_ADDRESS
    tracemalloc.start()
    started = time.perf_counter()
    try:
        with pytest.raises(StateError):
            decode(parameter)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["", "{", "nonsense", "NaN", '{"m"}', "\x00", "\ufeff{}"])
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)


@unhurried
@given(st.text(any_character, max_size=300))
def test_random_text_is_no_state_file(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)
