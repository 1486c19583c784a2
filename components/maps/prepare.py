"""Compiled code for maps, kept in the data folder: `python -m components.maps.prepare` makes it.

Part of the set-up, so that the first map of the first start need not wait some seconds for it. The
app makes it too, behind its first page, where it is missing or its source has changed since.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from components.core import Settings
from components.core.errors import SettingsError
from components.maps.compiled import keep_in, umap_functions
from components.maps.map_quality import ALL_UP_TO
from components.maps.projection import project
from components.maps.request import MapSettings

__all__ = ["compiled_folder", "keep_compiled", "main", "warm_up"]

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger("contextlens")


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


def warm_up(cache_dir: Path | None = None) -> None:
    """Imports and compiles what a first map needs, of few points or many.

    Args:
        cache_dir: a folder of our own where what is compiled is kept for later starts.
    """
    if cache_dir is not None:
        keep_compiled(cache_dir)
    random = np.random.default_rng(0)
    for n in (64, ALL_UP_TO + 100):  # few points are measured in doubles
        project(random.normal(size=(n, 8)), MapSettings())


def keep_compiled(folder: Path) -> None:
    """Lets what is compiled for maps be kept in a folder, for later starts of the process.

    Only what is compiled after this call is kept, so it comes before the first map. numba reads the
    files as pickles, so whoever writes there has their code run: a folder that others can write to
    is refused in the log. Without a folder everything is compiled in memory as before.
    """
    if not _writable(folder):  # numba would go and write beside the sources
        return
    refusal = _refusal(folder.stat())
    if refusal:
        _log.warning(
            "The folder of compiled code, %s, %s, so it is not used and first maps take longer. "
            "Remove it, or name another place in CONTEXTLENS_DATA_DIR.",
            folder,
            refusal,
        )
        return
    # numba looks at a function's own file only; what that calls changes with these versions.
    keep_in(folder / "-".join(version(name) for name in ("numba", "umap-learn", "numpy")))
    with umap_functions() as umap:
        from umap import aligned_umap, layouts, utils

        from components.maps import kernels, layer_maps

        lists = umap.numba.typed.typedlist
        modules = (umap, aligned_umap, layouts, utils, lists, kernels, kernels)
        for function in (layer_maps.one_epoch(), *chain(*(vars(own).values() for own in modules))):
            if isinstance(function, umap.numba.core.dispatcher.Dispatcher):
                _enable(function)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _refusal(found: os.stat_result) -> str | None:
    """Why a folder is not ours alone; None where it is, or where that cannot be told."""
    if sys.platform == "win32":  # its permissions are others
        return None
    if found.st_uid != os.getuid():
        return "belongs to another user"
    return "can be written by others" if found.st_mode & _OTHERS_MAY_WRITE else None


def _enable(function: Any) -> None:
    try:
        function.enable_caching()
    except (RuntimeError, OSError):  # numba: "no locator available for file"
        return


if __name__ == "__main__":
    main()
