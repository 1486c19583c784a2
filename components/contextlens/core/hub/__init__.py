"""Model files from the hub. This package is the only one that uses huggingface_hub.

huggingface_hub is slow to import, so functions import it; torch, transformers and streamlit are not
imported at all.
"""

from __future__ import annotations

from contextlens.core.hub.fetching import Limits, fetch, megabytes
from contextlens.core.hub.local import (
    CachedFiles,
    Fetched,
    Part,
    cached,
    check_id,
    drop_damaged,
    split_id,
)

__all__ = [
    "CachedFiles",
    "Fetched",
    "Limits",
    "Part",
    "cached",
    "check_id",
    "drop_damaged",
    "fetch",
    "megabytes",
    "split_id",
]
