"""What an address says of stored corpora, whichever page reads it; declared once."""

from __future__ import annotations

from components.ui.state.controls import text

__all__ = ["MINE"]

MINE = text("corpora", "mine")
"""Names with commas between, oldest first: whoever has them has the corpora. At most eight, as an
address takes 200 characters of one control."""
