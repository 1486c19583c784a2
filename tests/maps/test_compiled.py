"""Numba's compiled code exists before the first start, is read again, and changes no map."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contextlens.maps.compiled import umap_functions
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings

ROOT = Path(__file__).parents[2]
SCRIPT = """
import hashlib, sys
from pathlib import Path
import numpy as np
from contextlens.maps.prepare import warm_up
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
warm_up(Path(sys.argv[1]))
vectors = np.random.default_rng(0).normal(size=(90, 6))
places = project(vectors, MapSettings()).coordinates
from umap.umap_ import compute_membership_strengths as theirs
from pynndescent.utils import tau_rand_int as on_import
from contextlens.maps.kernels import move as ours
functions = (theirs, on_import, ours)
counts = [getattr(f.stats, c) for f in functions for c in ("cache_hits", "cache_misses")]
print(hashlib.sha256(places).hexdigest(), *[sum(count.values()) for count in counts])
"""


ONLY_THERE = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
"""As where neither the sources nor the home can be written."""


def run(*command: str, **env: str) -> str:
    own = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | ONLY_THERE
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**own, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def started(folder: Path) -> tuple[str, list[int]]:
    """The map that a start draws, and how often it read or compiled others' code and ours."""
    places, *counts = run("-c", SCRIPT, str(folder)).split()
    return places, [int(count) for count in counts]


@pytest.mark.slow
def test_what_is_prepared_is_read_and_the_map_is_the_one_compiled_elsewhere(tmp_path: Path) -> None:
    with umap_functions() as umap:
        there = Path(umap.numba.config.CACHE_DIR)
    for own in there.glob("pynndescent_*"):  # compiled as it is imported, and places no point
        shutil.copytree(own, tmp_path / "compiled" / there.name / own.name)
    run("-m", "contextlens.maps.prepare", CONTEXTLENS_DATA_DIR=str(tmp_path))
    read, counts = started(tmp_path / "compiled")
    hits, misses = counts[::2], counts[1::2]
    assert min(hits) > 0
    assert misses == [0, 0, 0]
    vectors = np.random.default_rng(0).normal(size=(90, 6))
    places = project(vectors, MapSettings()).coordinates  # compiled apart, for all of these tests
    assert hashlib.sha256(places).hexdigest() == read


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["to nothing", "to half"])
def test_where_all_kept_code_is_cut_the_map_is_drawn_and_the_next_start_reads_it(
    share: float, tmp_path: Path
) -> None:
    with umap_functions() as umap:
        there = Path(umap.numba.config.CACHE_DIR)
    shutil.copytree(there, tmp_path / there.name)
    for path in [*tmp_path.rglob("*.nbi"), *tmp_path.rglob("*.nbc")]:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
    vectors = np.random.default_rng(0).normal(size=(90, 6))
    expected = hashlib.sha256(project(vectors, MapSettings()).coordinates).hexdigest()
    assert started(tmp_path)[0] == expected
    places, counts = started(tmp_path)
    assert (places, counts[1::2]) == (expected, [0, 0, 0])
