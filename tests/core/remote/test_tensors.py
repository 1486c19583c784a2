from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load, save

from components.core.remote.tensors import DTYPES, BrokenFileError, read, write

ARRAYS = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=4).filter(lambda name: name != "__metadata__"),
    arrays_of.arrays(
        st.sampled_from(list(DTYPES.values())),
        arrays_of.array_shapes(min_dims=0, min_side=0, max_side=4),
    ),
    max_size=4,
)


def read_whole(body: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    return read(BytesIO(body).read, len(body))


@given(ARRAYS)
def test_the_library_reads_what_is_written(arrays: dict[str, np.ndarray]) -> None:
    found = load(b"".join(write(arrays, {"some": "text"})))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].tobytes() == array.tobytes()
        assert found[name].shape == array.shape


@given(ARRAYS)
def test_what_the_library_writes_is_read(arrays: dict[str, np.ndarray]) -> None:
    found, metadata = read_whole(save(arrays, {"some": "text"}))
    assert metadata == {"some": "text"}
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()


def file(header: Any, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"1234567",
        (2**63).to_bytes(8, "little"),
        file([]),
        file({"a": None}),
        file({"a": {**ENTRY, "dtype": "BF16"}}, b"12345678"),
        file({"a": {**ENTRY, "dtype": ["F32"]}}, b"12345678"),
        file({"a": {**ENTRY, "shape": [3]}}, b"12345678"),
        file({"a": {**ENTRY, "shape": [-1, -2]}}, b"12345678"),
        file({"a": {**ENTRY, "shape": [2.0]}}, b"12345678"),
        file({"a": {**ENTRY, "shape": [True, 2]}}, b"12345678"),
        file({"a": {**ENTRY, "shape": [1] * 40 + [2]}}, b"12345678"),
        file({"a": {**ENTRY, "data_offsets": [0]}}, b"12345678"),
        file({"a": {**ENTRY, "data_offsets": [4, 12]}}, b"123456789012"),
        file({"a": ENTRY, "b": ENTRY}, b"12345678"),
        file({"a": ENTRY}, b"1234567"),
        file({"a": ENTRY}, b"123456789"),
        file({"a": {"dtype": "F32", "shape": [0, 2**80], "data_offsets": [0, 0]}}),
    ],
)
def test_what_does_not_fit_together_is_refused(broken: bytes) -> None:
    with pytest.raises(BrokenFileError):
        read_whole(broken)


@given(ARRAYS, st.integers(1, 40))
def test_a_file_that_ends_early_is_refused(arrays: dict[str, np.ndarray], missing: int) -> None:
    whole = b"".join(write(arrays, {}))
    with pytest.raises(BrokenFileError):
        read(BytesIO(whole[:-missing]).read, len(whole))
