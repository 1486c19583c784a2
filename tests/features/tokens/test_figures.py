"""Tokens as a drawing, a text there and back: exact, bounded, and safe for any text."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.features.tokens.figures import there_and_back, tokens_svg

SVG = "{http://www.w3.org/2000/svg}"
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
boxes = st.lists(st.tuples(texts, st.integers(0, 300_000), st.booleans()), max_size=40)


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def test_each_token_is_a_box_with_its_id() -> None:
    root = drawn(tokens_svg([("[CLS]", 101, True), ("##an", 2319, False)], "Sinan"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["Sinan", "[CLS]", "101", "##an", "2319"]
    first, second = root.iter(f"{SVG}rect")
    assert first.get("fill") == "none"
    assert second.get("stroke") == "none"


@settings(deadline=None)
@given(boxes=boxes, title=texts)
def test_any_text_makes_a_drawing_within_its_bounds(
    boxes: list[tuple[str, int, bool]], title: str
) -> None:
    root = drawn(tokens_svg(boxes, title))
    assert root.get("width") == "928"
    height = float(root.get("height") or "nan")
    assert height <= 440
    places = [
        tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
    ]
    for x, y, width, tall in places:
        assert 0 <= x <= x + width <= 928
        assert 40 <= y <= y + tall <= height
    for i, (x, y, width, _) in enumerate(places):
        for x2, y2, _, _ in places[i + 1 :]:
            assert y2 > y or x2 >= x + width
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    more = len(boxes) - len(places)
    assert (f"and {more} more tokens" in words) == (more > 0)


@pytest.mark.parametrize("text", ["\x00\x1b\x7f", "\ud800", "\ufffe\uffff", "<a & b>]]>"])
def test_what_xml_cannot_hold_is_replaced_and_the_rest_escaped(text: str) -> None:
    svg = tokens_svg([(text, 1, False)], text)
    svg.encode()
    tags = {element.tag.removeprefix(SVG) for element in drawn(svg).iter()}
    assert tags == {"svg", "text", "rect"}


def test_a_long_text_is_cut_and_its_tokens_counted() -> None:
    svg = tokens_svg([("word", 7, False)] * 512, "word " * 4000)
    assert len(svg) < 60_000
    words = [text.text for text in drawn(svg).iter(f"{SVG}text")]
    assert words[0].endswith("…")
    shown = words.count("word")
    assert words[-1] == f"and {512 - shown} more tokens"


@settings(deadline=None)
@given(text=st.text(min_size=1, max_size=400))
def test_the_title_fits_its_line(text: str) -> None:
    title = next(drawn(tokens_svg([], text)).iter(f"{SVG}text")).text or ""
    assert len(title) * 0.6 * 17 <= 928


# There and back


def test_what_does_not_come_back_is_marked() -> None:
    parts = (("My ", "kept"), ("🐍", "unknown"), ("É", "rewritten"), (" lost", "lost"))
    drawing = there_and_back(parts, "my [UNK]e")
    typed, back = (each.itertext() for each in ET.fromstring(drawing).iter("p"))
    assert ("".join(typed), "".join(back)) == ("My 🐍É lost", "my [UNK]e")
    assert "<p>My <mark>🐍</mark><mark>É</mark><del> lost</del></p>" in drawing


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=60))
def test_any_text_there_and_back_is_text(text: str) -> None:
    for hostile in (text, f"<b>{text}</b> {{0}} &amp;"):
        drawing = ET.fromstring(there_and_back([(hostile, "kept")], hostile))
        assert [each.text or "" for each in drawing.iter("p")] == [hostile, hostile]
