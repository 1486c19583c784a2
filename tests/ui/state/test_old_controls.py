"""The choices of 0.1.0 under today's names: of the opened page, once, and nothing else changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.ui.state.controls import TEXT_PAGES, TEXTS
from contextlens.ui.state.old_controls import renamed_controls

FILE = {"file": "0" * 32, "file_name": "mine.csv", "text": 2, "labels": "0,1"}
NAME = "abcdefghijklmnop"


@pytest.mark.parametrize(
    ("page", "old", "shared", "own"),
    [
        ("map", {"source": "sentences", "seed": 7}, {"collection": "sentences"}, {"seed": 7}),
        ("map", {"source": "kept", "kept": NAME}, {"collection": NAME}, {}),
        ("map", {"source": "file", **FILE}, {"collection": "file", **FILE}, {}),
        ("map", {"source": "nowhere", "word": "all"}, {"word": "*"}, {}),
        ("senses", {"corpus": NAME, "labels": "3"}, {"collection": NAME, "label": "3"}, {}),
        ("probe", {"source": "file", **FILE, "label": "mood"},
         {"collection": "file", **FILE, "label": "mood"}, {}),
        ("pairs", {"source": "file", "file": "d", "columns": "0,1", "pair": 3},
         {"collection": "file", "pairs": "d", "pair_columns": "0,1"}, {"pair": 3}),
        ("pairs", {"source": "bundled", "panel": "ROC curve"}, None, {"panel": "ROC curve"}),
        ("corpora", {"corpus": "sentiment", "word": "good"},
         {"collection": "sentiment", "word": "good"}, {}),
    ],
)  # fmt: skip
def test_old_choices_have_their_new_names(
    page: str, old: dict[str, Any], shared: dict[str, Any] | None, own: dict[str, Any]
) -> None:
    expected = {**({page: own} if own else {}), **({TEXTS: shared} if shared else {})}
    assert renamed_controls({page: old}, page) == expected
    assert renamed_controls(expected, page) == expected


def test_where_pages_named_different_texts_the_opened_one_counts() -> None:
    old = {"map": {"source": "sentences"}, "senses": {"corpus": NAME}, "tokens": {"token": 3}}
    kept = {"tokens": {"token": 3}}
    assert renamed_controls(old, "senses") == {**kept, TEXTS: {"collection": NAME}}
    assert renamed_controls(old, "tokens") == {**kept, TEXTS: {"collection": "sentences"}}
    assert renamed_controls(old, "probe") == kept  # it named none


def test_the_search_has_its_query_and_texts() -> None:
    old = {"sentences": {"show": "search", "query": "owl", "corpus": "sentiment"}}
    assert renamed_controls(old, "search") == {
        "sentences": {"show": "search"},
        "search": {"query": "owl"},
        TEXTS: {"collection": "sentiment"},
    }
    drawn = {"sentences": {"source": "drawn", "corpus": "sentiment"}}
    assert renamed_controls(drawn, "sentences") == drawn


@given(
    st.dictionaries(
        st.sampled_from([*TEXT_PAGES, TEXTS, "sentences", "tokens"]),
        st.dictionaries(
            st.sampled_from(["source", "corpus", "kept", "word", "file", "show", "query", "x"]),
            st.text(max_size=3) | st.integers() | st.booleans(),
        ),
    ),
    st.sampled_from([*TEXT_PAGES, "tokens", ""]),
)
def test_any_choices_are_renamed_once(controls: dict[str, dict[str, Any]], page: str) -> None:
    once = renamed_controls(controls, page)
    assert renamed_controls(once, page) == once
