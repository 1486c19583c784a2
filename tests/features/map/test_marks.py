"""Marks of the Map page: they count for the points that they were chosen among; search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from components.features.map.marks import found
from components.maps.points import Points
from components.ui.state.address import decode

SECONDS = 300


def script() -> None:
    """A little map of eight sentences, its marks, and the buttons that a test names."""
    from typing import Any

    import numpy as np
    import streamlit as st

    from components.corpus.corpus import Corpus
    from components.features.map import marks
    from components.features.map.request import request_of
    from components.maps.neighbors import nearest
    from components.maps.picture import Picture
    from components.maps.points import Points
    from components.maps.vectors import Gathered
    from components.ui.models.services import service
    from components.ui.state import session

    view = session.current()
    card = service().load(view.model)
    texts = tuple(f"sentence {i}" for i in range(8))

    def picture_of(digest: str, *rows: int) -> Picture:
        own = tuple(texts[row] for row in rows)
        points = Points(
            unit="sentences",
            texts=own,
            sentence=np.arange(len(own)),
            spans=np.array([(0, len(text)) for text in own]),
            names=own,
            labels={},
            measures={},
        )
        vectors = np.eye(8, dtype=np.float32)[None, list(rows)]
        return Picture(
            request=request_of(view, card, digest),
            corpus=Corpus("mine", texts),
            gathered=Gathered(points, vectors, (6,), 0, None),
            layers=(6,),
            vectors=vectors,
            coordinates=vectors[:, :, :2],
            method="pca",
            reason="",
            neighbors=(nearest(vectors[0], 3, "cosine"),),
            honesty=(None,),
            n_able=len(texts),
        )

    picture = picture_of("one corpus", *range(8))
    other = picture_of("another corpus", *range(8))
    fewer, mixed = picture_of("one corpus", *range(6)), picture_of("one corpus", *range(7, -1, -1))

    def event(box: bool, *points: int) -> dict[str, Any]:
        chosen = [{"index": i} for i in points]
        return {"selection": {"points": chosen, "box": [{}] if box else [], "lasso": []}}

    def selects(happens: Any) -> Any:
        def act() -> None:
            st.session_state["chart"] = happens
            read = [p["index"] for p in (happens or event(False))["selection"]["points"]]
            marks.on_select(name, "chart", "drawing", lambda _: read)()

        return act

    name = marks.name_of(picture)
    actions: dict[str, Any] = {
        "choose": lambda: marks.choose(name, 3),
        "choose 99": lambda: marks.choose(name, 99),
        "choose there": lambda: marks.choose(marks.name_of(other), 5),
        "choose among fewer": lambda: marks.choose(marks.name_of(fewer), 3),
        "choose among mixed": lambda: marks.choose(marks.name_of(mixed), 3),
        "pin a": lambda: marks.pin(name, "A", 0),
        "pin b": lambda: marks.pin(name, "B", 7),
        "let go": lambda: marks.choose(name, None),
        "unpin": lambda: marks.unpin(name),
        "box": selects(event(True, 4, 2, 4)),
        "empty box": selects(event(True)),
        "click": selects(event(False, 6)),
        "click beside": selects(event(False)),
        "no event": selects(None),
        "clear": marks.clear_selection,
    }
    for title, act in actions.items():
        st.button(title, key=title, on_click=act)
    for own in (picture, other):
        marked = marks.marked(session.current(), own)
        selected = None if marked.selection is None else marked.selection.points
        st.text(repr((marked.point, marked.pin_a, marked.pin_b, selected)))


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, str]]:
    """Presses buttons one after the other; gives the marks on this map and on another."""
    monkeypatch.setenv("CONTEXTLENS_ALLOW_DOWNLOADS", "0")
    app = AppTest.from_function(script, default_timeout=SECONDS).run()

    def act(*names: str) -> tuple[str, str]:
        for name in names:
            app.button(key=name).click().run()
            assert not app.exception
        return app.text[0].value, app.text[1].value

    act.app = app  # type: ignore[attr-defined]
    return act


NOTHING = "(None, None, None, None)"


def test_a_chosen_point_and_pins_are_in_the_address(press: Callable[..., tuple[str, str]]) -> None:
    assert press("choose", "pin a", "pin b") == ("(3, 0, 7, None)", NOTHING)
    controls = decode(press.app.query_params["s"]).controls["map"]  # type: ignore[attr-defined]
    assert {name: controls[name] for name in ("point", "pin_a", "pin_b")} == {
        "point": 3, "pin_a": 0, "pin_b": 7,
    }  # fmt: skip
    assert press("let go") == ("(None, 0, 7, None)", NOTHING)
    assert press("unpin") == (NOTHING, NOTHING)


def test_marks_of_other_points_are_dropped_when_one_is_marked(
    press: Callable[..., tuple[str, str]],
) -> None:
    assert press("choose", "pin a") == ("(3, 0, None, None)", NOTHING)
    assert press("choose there") == (NOTHING, "(5, None, None, None)")
    assert press("pin b") == ("(None, None, 7, None)", NOTHING)


@pytest.mark.parametrize("others", ["choose among fewer", "choose among mixed"])
def test_marks_do_not_count_for_another_sample_of_the_same_texts(
    press: Callable[..., tuple[str, str]], others: str
) -> None:
    assert press(others, "pin a") == ("(None, 0, None, None)", NOTHING)


def test_a_point_that_there_is_not_is_none(press: Callable[..., tuple[str, str]]) -> None:
    assert press("choose 99")[0] == NOTHING


def test_a_box_selects_and_a_click_chooses(press: Callable[..., tuple[str, str]]) -> None:
    assert press("box") == ("(None, None, None, (2, 4))", NOTHING)
    assert press("click")[0] == "(6, None, None, (2, 4))"
    assert press("no event")[0] == "(6, None, None, (2, 4))"
    assert press("click beside")[0] == "(6, None, None, None)"
    assert press("empty box")[0] == "(6, None, None, ())"
    assert press("box", "clear")[0] == "(6, None, None, None)"


# Search


def points(names: list[str], texts: list[str], sentence: list[int]) -> Points:
    return Points(
        unit="words",
        texts=tuple(texts),
        sentence=np.array(sentence),
        spans=np.array([(0, len(name)) for name in names]),
        names=tuple(names),
        labels={},
        measures={},
    )


OWN = points(
    ["Python", "python", "love", "pythons", "Straße", "a.b"],
    ["Python in love", "a python, pythons", "Straße a.b <b>"],
    [0, 1, 0, 1, 2, 2],
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("python", (0, 1)),
        ("  PYTHON ", (0, 1)),
        ("strasse", (4,)),
        ("pytho", (0, 1, 2, 3)),
        ("in love", (0, 2)),
        ("a.b", (5,)),
        ("a,b", ()),
        ("<B>", (4, 5)),
        (".*", ()),
        ("nothing of this", ()),
        ("", ()),
        ("   ", ()),
    ],
)
def test_words_are_found_by_name_first_and_else_by_their_sentence(
    wanted: str, expected: tuple[int, ...]
) -> None:
    assert found(OWN, wanted) == expected


def test_search_finds_every_point_of_a_sentence_once() -> None:
    many = replace(OWN, names=("x",) * 6)
    assert found(many, "python") == (0, 1, 2, 3)
