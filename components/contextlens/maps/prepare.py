"""Compiled code for maps, kept in the data folder: `python -m contextlens.maps.prepare` makes it.

This is part of the set-up, so that the first map after the first start need not wait some seconds.
If the code is missing or its source has changed, the app compiles it in the background.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from contextlens.core import Settings
from contextlens.core.errors import SettingsError
from contextlens.maps.compiled import keep_in, umap_functions
from contextlens.maps.map_quality import ALL_UP_TO
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings

__all__ = ["compiled_folder", "is_compiled", "keep_compiled", "main", "warm_up"]

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

_log = logging.getLogger("contextlens")


def compiled_folder(settings: Settings) -> Path:
    """Return the folder for compiled code: the one set for numba, or one in our data folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) if chosen else settings.data_dir / "compiled"


def main() -> None:
    """Compile everything now."""
    print("Compiling what maps need.", flush=True)
    try:
        folder = compiled_folder(Settings.from_env())
    except SettingsError as exc:
        sys.exit(str(exc))
    warm_up(folder)


def warm_up(cache_dir: Path | None = None) -> None:
    """Import and compile the code that maps of few and of many points need.

    Args:
        cache_dir: a private folder that keeps compiled code for later starts.
    """
    if cache_dir is not None:
        keep_compiled(cache_dir)
    random = np.random.default_rng(0)
    for n in (64, ALL_UP_TO + 100):  # few points are measured in doubles
        project(random.normal(size=(n, 8)), MapSettings())


def keep_compiled(folder: Path) -> None:
    """Keep the compiled code for maps in a folder, for later starts of the process.

    Only code that is compiled after this call is kept, so call it before the first map. numba reads
    the files as pickles, so anyone who can write to the folder can run code here. A folder that
    others can write to is therefore refused, with a line in the log. Without a folder, everything
    is compiled in memory.
    """
    if not _writable(folder):  # numba would write beside the sources instead
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
    keep_in(_of_versions(folder))
    with umap_functions() as umap:
        from contextlens.maps import kernels

        functions = [*vars(umap).values(), *vars(kernels).values(), *_descent_functions()]
        for function in functions:
            if isinstance(function, umap.numba.core.dispatcher.Dispatcher):
                _enable(function)


def is_compiled(folder: Path) -> bool:
    """Return True if a folder has code that was compiled for the installed versions."""
    return any(_of_versions(folder).rglob("*.nbi"))


def _of_versions(folder: Path) -> Path:
    # numba checks only a function's own file; the code that it calls changes with these versions.
    names = ("numba", "umap-learn", "pynndescent", "numpy")
    return folder / "-".join(map(version, names))


def _descent_functions() -> list[Any]:
    """Return pynndescent's functions whose code can be kept; compiling them takes half a minute.

    They are given a function of distance. numba knows it again in another process only by its
    identifier, which is drawn at random unless it is set.
    """
    from pynndescent import distances, graph_utils, pynndescent_, rp_trees, utils

    with suppress(AssertionError):  # it is set already
        distances.squared_euclidean._set_uuid("pynndescent.distances.squared_euclidean")
    modules = (distances, graph_utils, pynndescent_, rp_trees, utils)
    functions = {name: value for module in modules for name, value in vars(module).items()}
    for name in ("nn_descent", "nn_descent_internal"):  # numba cannot keep these two
        functions.pop(name, None)
    return list(functions.values())


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _refusal(status: os.stat_result) -> str | None:
    """Return the reason why a folder is not private; None if it is, or if we cannot tell."""
    if sys.platform == "win32":  # permissions work differently there
        return None
    if status.st_uid != os.getuid():
        return "belongs to another user"
    return "can be written by others" if status.st_mode & _OTHERS_MAY_WRITE else None


def _enable(function: Any) -> None:
    try:
        function.enable_caching()
    except (RuntimeError, OSError):  # numba: "no locator available for file"
        return


if __name__ == "__main__":
    main()
