"""The configs of the preset models, so that their architecture is known without their weights."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["preset_config"]


def preset_config(model: str) -> dict[str, Any] | None:
    """The config of a preset by its hub id, or None if there is none."""
    file = files(__package__) / f"{model.rsplit('/', maxsplit=1)[-1]}.json"
    config: dict[str, Any] | None = json.loads(file.read_text()) if file.is_file() else None
    return config
