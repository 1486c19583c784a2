from __future__ import annotations

import inspect
import re

from contextlens.core import errors
from contextlens.core.errors import ContextlensError

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and value.__module__ == errors.__name__
}


def drawn() -> dict[str, str | None]:
    """Each class in the docstring's tree, with the one it hangs on."""
    parents: dict[str, str | None] = {}
    branch: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^    ((?:[│├└─ ]{4})*)(\w+Error)\b", line)
        if match is not None:
            depth = len(match[1]) // 4
            branch = [*branch[:depth], match[2]]
            parents[match[2]] = branch[-2] if depth else None
    return parents


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    bases = {name: cls.__bases__[0].__name__ for name, cls in CLASSES.items()}
    assert drawn() == {**bases, "ContextlensError": None}


def test_every_error_is_ours_and_public() -> None:
    assert set(errors.__all__) == set(CLASSES)
    for cls in CLASSES.values():
        assert issubclass(cls, ContextlensError)
        assert len(cls.__bases__) == 1
        assert cls.__doc__
    assert ContextlensError.__bases__ == (Exception,)
