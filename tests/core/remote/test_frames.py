from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import RequestError
from components.core.remote.frames import ALIVE, ERROR, PROGRESS, RESULT, frame, frames

KINDS = st.sampled_from([ALIVE, ERROR, PROGRESS, RESULT])


@given(st.lists(st.tuples(KINDS, st.binary(max_size=40))), st.lists(st.integers(1, 30)))
def test_frames_come_whole_however_they_are_cut(
    sent: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    whole = b"".join(frame(kind, body) for kind, body in sent)
    chunks = []
    for length in cuts:
        chunks.append(whole[:length])
        whole = whole[length:]
    assert list(frames([*chunks, whole])) == sent


def test_a_frame_that_is_cut_off_is_left_out() -> None:
    whole = frame(ALIVE) + frame(RESULT, b"the result")
    assert list(frames([whole[:-1]])) == [(ALIVE, b"")]


@pytest.mark.parametrize("wrong", [b"<html>404</html>", b"R" + b"\xff" * 8])
def test_what_is_no_frame_is_refused(wrong: bytes) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        list(frames([wrong]))
