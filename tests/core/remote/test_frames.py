from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import RequestError
from components.core.remote.frames import (
    ALIVE,
    ERROR,
    HEAD_BYTES,
    PROGRESS,
    RESULT,
    Kind,
    frame,
    head,
    read_head,
)

KINDS = st.sampled_from([ALIVE, ERROR, PROGRESS, RESULT])


@given(KINDS, st.binary(max_size=40))
def test_a_frame_says_what_follows_and_how_much(kind: Kind, body: bytes) -> None:
    whole = frame(kind, body)
    assert read_head(whole[:HEAD_BYTES]) == (kind, len(body))
    assert whole[HEAD_BYTES:] == body


def test_a_head_alone_announces_what_is_sent_after_it() -> None:
    assert head(RESULT, 3) + b"abc" == frame(RESULT, b"abc")


@pytest.mark.parametrize("wrong", [b"<html>404", b"R" + b"\xff" * 8])
def test_what_is_no_frame_is_refused(wrong: bytes) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        read_head(wrong)
