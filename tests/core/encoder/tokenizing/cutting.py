"""One model for each way of cutting texts into tokens."""

from __future__ import annotations

import pytest

from contextlens.core import BUNDLED_ID

__all__ = ["KINDS", "by_kind"]

KINDS = (BUNDLED_ID, "folder:roberta", "folder:xlm-roberta")
"""One model for each way of cutting: WordPiece, byte pairs, Unigram."""

by_kind = pytest.mark.parametrize("model", KINDS, indirect=True)
