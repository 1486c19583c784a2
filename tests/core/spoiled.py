"""Changes to the files of a model's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contextlens.core.registry import ModelFiles

__all__ = ["change_json", "files_of"]


def change_json(path: Path, **changes: Any) -> None:
    """Change entries of a JSON file; one that is not there begins empty."""
    given = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(given | changes))


def files_of(folder: Path) -> ModelFiles:
    return ModelFiles("folder:model", "model", "folder", folder, "the folder model", "")
