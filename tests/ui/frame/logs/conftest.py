"""What the tests of the log share: its lines, read as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.ui.frame.logs.written import Lines, written


@pytest.fixture
def lines() -> Iterator[Lines]:
    """The log as JSON, read line by line so far."""
    with written("json") as out:
        yield lambda: [json.loads(line) for line in out.getvalue().splitlines()]
