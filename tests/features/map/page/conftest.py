"""Fixtures of this page's tests: the app with its model, and the files that it offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tests.support.pages import bundled_app


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """The functions behind the page's download buttons, by file name."""
    found: dict[str, Callable[[], bytes]] = {}
    button = DeltaGenerator.download_button

    def note(place: DeltaGenerator, label: str, data: Any, **more: Any) -> bool:
        found[more["file_name"]] = data
        return button(place, label, data, **more)

    monkeypatch.setattr(DeltaGenerator, "download_button", note)
    monkeypatch.setattr(st, "download_button", partial(note, st._main))
    return found
