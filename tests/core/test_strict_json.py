"""JSON from a model's folder: what no honest file holds is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import CheckpointError
from components.core.strict_json import parse_object, read_object

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ' * 30 + "1" + "}" * 30, "more than 24 deep"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "more than 24 deep"),
        ('{"hidden_size": 32, "hidden_size": 64}', "gives 'hidden_size' more than once"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "gives 'b' more than once"),
        ('{"layer_norm_eps": NaN}', "holds NaN"),
        ('{"layer_norm_eps": -Infinity}', "holds -Infinity"),
        ('{"vocab_size": ' + "9" * 4001 + "}", "a number of 4,001 digits"),
        ('{"model_type": "\\ud800"}', "cannot be read"),
        ("[1, 2]", "is not a JSON object"),
        ("{", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_what_no_honest_file_holds_is_refused(text: str, said: str) -> None:
    with pytest.raises(CheckpointError, match=said) as caught:
        parse_object(text.encode(), what="The model's config.json")
    assert str(caught.value).startswith("The model's config.json ")
    assert len(str(caught.value)) < 300


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(CheckpointError, match="cannot be read"):
        parse_object(b'{"a": "\xff"}', what="The file")


def test_a_file_past_its_bound_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"a": "b" * 100}))
    assert read_object(path, what="The file", largest=200)["a"] == "b" * 100
    with pytest.raises(CheckpointError, match="more than the 100 bytes"):
        read_object(path, what="The file", largest=100)


@pytest.mark.slow
@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_an_honest_file_is_read_as_python_reads_it(value: dict[str, object]) -> None:
    text = json.dumps(value)
    assert parse_object(text.encode(), what="The file") == json.loads(text)
