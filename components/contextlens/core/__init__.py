"""The models and what they compute.

Importing this package imports neither torch nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contextlens.core.registry import BUNDLED_ID
from contextlens.core.schema import Encoding, ModelCard, ModelSpec, Tokens
from contextlens.core.service import EncoderService, open_service
from contextlens.core.threads import wait_asleep

if TYPE_CHECKING:
    from contextlens.core.settings import Settings

__all__ = [
    "BUNDLED_ID",
    "EncoderService",
    "Encoding",
    "ModelCard",
    "ModelSpec",
    "Settings",
    "Tokens",
    "open_service",
]

wait_asleep()  # before anything loads OpenMP


def __getattr__(name: str) -> Any:
    """Import the settings on first use: pydantic takes 0.15 s."""
    if name == "Settings":
        from contextlens.core.settings import Settings

        return Settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
