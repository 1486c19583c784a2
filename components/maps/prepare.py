"""Compiled code for maps, kept in the data folder: `python -m components.maps.prepare` makes it.

Part of the set-up, so that the first map of the first start need not wait some seconds for it. The
app makes it too, behind its first page, where it is missing or its source has changed since.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from components.core import Settings
from components.core.errors import SettingsError
from components.maps.projection import warm_up

__all__ = ["compiled_folder", "main"]


def compiled_folder(settings: Settings) -> Path:
    """Where compiled code is kept: in numba's own setting, where someone made it, or with us."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    return Path(own) if own else settings.data_dir / "compiled"


def main() -> None:
    """Compile it all now."""
    print("Compiling what maps need.", flush=True)
    try:
        folder = compiled_folder(Settings.from_env())
    except SettingsError as exc:
        sys.exit(str(exc))
    warm_up(folder)


if __name__ == "__main__":
    main()
