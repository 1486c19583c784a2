"""A session keeps what was typed and chosen on a page with long texts, but no results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from contextlens.core.byte_cache import ByteCache
from contextlens.core.cache import CachedService
from contextlens.core.words import find_word
from contextlens.features.probe.layer_scores import LayerScores
from contextlens.features.search.search import SearchResult
from contextlens.features.sentences.comparison import Comparison
from contextlens.features.sentences.controls import (
    CORPUS,
    DRAWN,
    SOURCE,
)
from contextlens.jobs import Job, Jobs
from contextlens.maps.engine import Maps
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.memory import reachable_bytes
from tests.support.pages import bundled_app, framed, settled
from tests.support.senses import senses_view

MB = 1_000_000
PAGES = (
    *("home", "tokens", "masks", "embedding_layer", "layers", "attention", "anatomy", "meaning"),
    "why",
)
SHARED = (Jobs, Job, Maps, ByteCache, CachedService)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The source of each offered file, which the server keeps as long as the session."""
    found: dict[str, Any] = {}
    button = st.download_button

    def note(label: str, data: Any, **more: Any) -> bool:
        found[more["file_name"]] = data
        return button(label, data, **more)

    monkeypatch.setattr(st, "download_button", note)
    return found


@pytest.mark.slow
def test_a_session_holds_no_vectors_of_a_word_s_uses(offered: dict[str, Any]) -> None:
    """Two sides of 2,000 uses, whose vectors take 40 MB."""
    two = {"panel": "beside", "beside": "layer", "other_layer": 1, "groups": "4"}
    app = settled(framed(senses_view(corpus="sentiment", word="the", **two), "senses"))
    assert not app.exception
    assert len([e for e in app.get("plotly_chart") if "senses_chart" in e.proto.id]) == 3
    assert reachable_bytes(app.session_state._state, offered, shared=SHARED) < MB
    assert {"senses.csv", "senses.npz"} <= set(offered)


def sentence(text: str) -> Sentence:
    return Sentence(text, None, find_word(text, "python"))


@pytest.mark.slow
def test_a_session_holds_no_result_of_a_probe(offered: dict[str, Any]) -> None:
    app = settled(framed(DEFAULT, "probe"))
    assert len(offered) >= 6, "scores, and files for other programs"
    held = reachable_bytes(app.session_state._state, offered, shared=SHARED)
    assert held < MB
    others = reachable_bytes(app.session_state._state, offered, shared=(*SHARED, LayerScores))
    assert held == others, "no part of it belongs to a result"
    assert all(make() for name, make in offered.items() if name != "contextlens-view.json")


@pytest.mark.parametrize(
    ("page", "controls"),
    [
        *((page, {"look": "shares"} if page == "why" else {}) for page in PAGES),
        *(("layers", {"section": section}) for section in ("Spread", "Token pairs", "Pooler")),
    ],
)
def test_a_session_holds_no_result(
    offered: dict[str, Any], page: str, controls: dict[str, str]
) -> None:
    text = " ".join(f"python bank {i}" for i in range(120))
    view = replace(
        DEFAULT,
        sentences=tuple(map(sentence, (text, f"{text} snake", f"my {text}"))),
        controls={page: controls} if controls else {},
    )
    app = settled(framed(view, page))
    assert not app.exception
    assert len(offered) >= 3, "the page's own two, and the view"
    assert reachable_bytes(app.session_state._state, offered, shared=SHARED) < MB
    assert all(make() for name, make in offered.items() if name.endswith((".csv", ".npz")))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["sentences", "search"])
def test_a_session_on_sentence_vectors_holds_no_result(offered: dict[str, Any], page: str) -> None:
    view = COLLECTION.put(CORPUS.put(SOURCE.put(DEFAULT, DRAWN), "sentiment"), "sentiment")
    app = settled(framed(view, page))
    assert not app.exception
    roots = (app.session_state._state, offered)
    results = (Comparison, SearchResult)
    size = reachable_bytes(*roots, shared=SHARED)
    assert size == reachable_bytes(*roots, shared=(*SHARED, *results))
    assert all(make() for name, make in offered.items() if name.endswith((".csv", ".npz")))
    assert {name.rpartition(".")[2] for name in offered} >= {"csv"}
