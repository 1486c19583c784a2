"""Model files from the hub. All that touches huggingface_hub is here.

huggingface_hub is slow to import, so functions import it; torch, transformers and streamlit are not
imported at all.
"""

from __future__ import annotations

from components.core.hub.fetching import Fetched, cached, fetch
from components.core.hub.limits import Limits, megabytes
from components.core.hub.listing import Part, check_id
from components.core.hub.local import drop_damaged
from components.core.hub.presence import Presence

__all__ = [
    "Fetched",
    "Limits",
    "Part",
    "Presence",
    "cached",
    "check_id",
    "drop_damaged",
    "fetch",
    "megabytes",
]
