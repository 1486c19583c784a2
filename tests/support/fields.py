"""Finds a widget by the key that the page gives it.

A widget whose value the view changed by other means stands there anew, under its key and a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def field(widgets: Iterable[Any], key: str) -> Any:
    """The one widget with this key, numbered or not."""
    found = [w for w in widgets if re.fullmatch(rf"{re.escape(key)}(-\d+)?", w.key or "")]
    assert len(found) == 1, f"{len(found)} widgets have the key {key}"
    return found[0]
