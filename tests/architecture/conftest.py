"""The sources are parsed once, before the first rule looks at them."""

from __future__ import annotations

import pytest

from tests.architecture.source import SOURCES, TESTS, imports_of


@pytest.fixture(scope="session", autouse=True)
def parsed() -> None:
    for path in (*SOURCES, *TESTS):
        imports_of(path)
