"""What the models say. Importing this does not import torch."""

from __future__ import annotations

from components.core.registry import BUNDLED_ID
from components.core.schema import Encoding, ModelCard, ModelSpec, Tokens
from components.core.service import EncoderService, open_service
from components.core.settings import Settings
from components.core.threads import wait_asleep

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

wait_asleep()  # before anything loads the library
