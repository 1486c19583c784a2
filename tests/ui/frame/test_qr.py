"""The address as a QR code: what is drawn is what the standard says, and only what can be read."""

from __future__ import annotations

import re
import urllib.parse

import pytest
import segno

from components.ui.frame.share import MOST, fits, qr_code

EDGE = 4
START = "http://localhost:8501/meaning?s="


def dark_modules(uri: str) -> set[tuple[int, int]]:
    """The dark modules of a drawn code as (row, column), read off its lines."""
    svg = urllib.parse.unquote(uri.partition(",")[2])
    path = re.search(r"d=['\"](M[\d. hm-]+)['\"]", svg.split("qrline")[1])
    assert path is not None
    found, x, y = set(), 0.0, 0.0
    for command, numbers in re.findall(r"([Mmh])([\d. -]+)", path[1]):
        first, *rest = map(float, re.findall(r"-?[\d.]+", numbers))
        if command == "h":
            found |= {(int(y), int(x) + i) for i in range(int(first))}
            x += first
        else:
            x, y = (first, rest[0]) if command == "M" else (x + first, y + rest[0])
    return {(row - EDGE, column - EDGE) for row, column in found}


@pytest.mark.parametrize("length", [len(START), 120, 300, MOST])
def test_the_picture_is_the_code_of_the_address(length: int) -> None:
    address = START + "aB3-_xyz" * 200
    address = address[:length]
    assert fits(address)
    code = segno.make_qr(address, error="l")
    assert int(code.version) <= 20
    expected = {(i, j) for i, row in enumerate(code.matrix) for j, dark in enumerate(row) if dark}
    assert dark_modules(qr_code(address)) == expected


def test_it_is_black_on_white_and_as_large_as_its_place() -> None:
    svg = urllib.parse.unquote(qr_code(START))
    assert "#fff" in svg
    assert "#000" in svg
    assert "viewBox" in svg
    assert " width=" not in svg


def test_what_would_be_too_fine_does_not_fit() -> None:
    assert not fits(START + "a" * (MOST - len(START) + 1))
    assert not fits("ü" * (MOST // 2 + 1))
