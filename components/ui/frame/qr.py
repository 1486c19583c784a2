"""A view's address as a QR code, where a phone can read it from some rows away."""

from __future__ import annotations

import segno

__all__ = ["MOST", "fits", "qr_code"]

MOST = 858
"""Bytes that version 20 holds, 97 modules a side; finer ones are hard to read off a wall."""
_EDGE = 4  # modules of white around it, as the standard asks for


def fits(address: str) -> bool:
    """Whether an address is short enough for a code that can be read."""
    return len(address.encode()) <= MOST


def qr_code(address: str) -> str:
    """The code as an SVG in a data URI, black on white in any theme. Takes up to 30 ms."""
    code = segno.make_qr(address, error="l")
    return code.svg_data_uri(border=_EDGE, dark="#000", light="#fff", omitsize=True)
