"""The saved picture of Start here: well-formed, inside its frame, and of the page's numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from contextlens.analysis.similarity import Item
from contextlens.features.home.figures import drawing_of
from contextlens.features.home.flows import FlowWord, Row
from contextlens.features.home.reading import in_words
from contextlens.features.home.tug import Tug
from contextlens.features.home.widgets import Picture
from contextlens.figures.svg import HEIGHT, WIDTH

LAYERS = (0, 1, 2)


def row_of(label: str, texts: Sequence[str], chosen: int) -> Row:
    words = [FlowWord(text, (i + 1,), i == chosen, False) for i, text in enumerate(texts)]
    return Row(label, ord(label) - 65, texts[chosen], tuple(words), len(words), (False, False))


def picture_of(n_rows: int, texts: Sequence[str], *, with_line: bool = True) -> Picture:
    random = np.random.default_rng(n_rows)
    rows = [row_of("ABCDEFGH"[i], texts, len(texts) - 1) for i in range(n_rows)]
    places = random.normal(size=(n_rows, 3)).astype(np.float32)
    margins = np.array([np.inf, 0.1, 0.1], np.float32)
    tug = Tug("the animal", "<i>&", places, 0.0, margins, np.abs(places) > 0.1,
              (None,) * n_rows, False)  # fmt: skip
    changes = [random.uniform(0, 0.2, (3, len(texts))).astype(np.float32) for _ in rows]
    pair = Item("A", "pet", "sentence", 0), Item("B", "python", "sentence", 1)
    along = np.array([1, 0.9, 0.8], np.float32)
    return Picture(LAYERS, 2, rows, changes, tug if with_line else None, [(*pair, along)], None)


WORDS = ["I", "love", "my", "<b>pet</b> & \0", "python"]


@pytest.mark.parametrize("n_rows", [1, 2, 3, 8])
@pytest.mark.parametrize("with_line", [True, False])
@pytest.mark.parametrize("texts", [WORDS, [*WORDS * 6], ["المدرسة", "python"]])
def test_any_picture_is_an_svg_inside_its_frame(
    n_rows: int, with_line: bool, texts: list[str]
) -> None:
    picture = picture_of(n_rows, texts, with_line=with_line)
    root = ET.fromstring(drawing_of(picture))
    assert float(root.get("height", 0)) <= HEIGHT
    for element in root:
        for name in ("x", "cx", "x1", "x2"):
            assert -1 <= float(element.get(name, 0)) <= WIDTH + 1
        bottom = max(float(element.get(name, 0)) for name in ("y", "cy", "y1", "y2"))
        assert 0 <= bottom <= float(root.get("height", 0))


def test_arcs_are_as_wide_as_the_changes_of_the_shown_layer() -> None:
    picture = picture_of(1, ["I", "love", "python"])
    at_layer = np.array([0.02, 0.2, 0], np.float32)
    changes = [np.stack([at_layer * 0, at_layer / 2, at_layer])]
    svg = drawing_of(replace(picture, changes=changes))
    widths = [float(found) for found in re.findall(r'<path [^>]*stroke-width="([\d.]+)"', svg)]
    assert widths[1] == pytest.approx(10 * widths[0], rel=0.05)
    start = drawing_of(replace(picture, changes=changes, layer=0))
    thinnest = [float(found) for found in re.findall(r'<path [^>]*stroke-width="([\d.]+)"', start)]
    assert set(thinnest) == {0.75}


def test_in_words_it_is_where_the_dots_are() -> None:
    picture = picture_of(3, ["I", "python"])
    assert picture.tug is not None
    places = np.tile(np.float32([[-0.203], [0.1], [-0.3]]), 3)
    drawn = replace(picture.tug, left="queen", right="chess", places=places, is_clear=places < 0.05)
    by_references = in_words(replace(picture, tug=replace(drawn, middle=-0.303)))
    assert "A: chess gains (+0.100 from the average start)." in by_references
    assert "B: neither gains (+0.403 from the average start)." in by_references
    by_senses = replace(drawn, others=(None, None, "the card"), is_of_senses=True)
    text = in_words(replace(picture, tug=by_senses))
    assert text.count("A is nearer to queen (−0.203).") == 1
    assert text.endswith("C leans to a third meaning, the card.")


def test_without_changes_the_words_and_the_line_are_drawn() -> None:
    svg = drawing_of(replace(picture_of(2, WORDS), changes=None))
    assert "<path" not in svg
    assert "the animal" in svg
