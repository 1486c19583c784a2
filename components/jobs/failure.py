"""Errors that work ended with: kept for whoever asks, without what was at hand when they happened.

An error refers to the frames that it came through, and they to all their variables. Kept as it is,
that of a large map would hold the map's vectors, which no store counts; and each page that raises
it would leave its own frames in it.
"""

from __future__ import annotations

import copy
import traceback

__all__ = ["own_copy", "without_variables"]


def without_variables(error: BaseException) -> BaseException:
    """The same error; the frames that it and its causes came through hold nothing any more."""
    todo: list[BaseException | None] = [error]
    seen = set[int]()
    while todo:
        each = todo.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            traceback.clear_frames(each.__traceback__)
            todo += [each.__cause__, each.__context__]
    return error


def own_copy(error: BaseException) -> BaseException:
    """An equal error, so that raising it leaves nothing in the first; or the first itself."""
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001 - a library's error whose arguments are not those it was made of
        return error
    if type(own) is not type(error):
        return error
    own.__cause__, own.__context__ = error.__cause__, error.__context__
    own.__suppress_context__ = error.__suppress_context__
    return own.with_traceback(error.__traceback__)
