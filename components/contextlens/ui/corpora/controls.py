"""The control of an address that names stored corpora, shared by all pages; declared once."""

from __future__ import annotations

from contextlens.ui.state.controls import text

MINE = text("corpora", "mine")
"""Names separated by commas, oldest first; anyone who has a name has access to its corpus.

At most eight, as an address takes 200 characters of one control.
"""
