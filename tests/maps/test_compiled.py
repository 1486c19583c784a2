"""What numba compiles can be kept for later starts, and changes no map."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import hashlib, sys
from pathlib import Path
import numpy as np
from components.maps.prepare import warm_up
from components.maps.projection import MapSettings, project
warm_up(Path(sys.argv[1]) if sys.argv[1] else None)
vectors = np.random.default_rng(0).normal(size=(90, 6))
places = project(vectors, MapSettings()).coordinates
from umap.umap_ import compute_membership_strengths as theirs
from components.maps.layout_kernel import move as ours
hits = [sum(function.stats.cache_hits.values()) for function in (theirs, ours)]
print(hashlib.sha256(places).hexdigest(), *hits)
"""


def started(folder: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_a_second_start_reads_what_the_first_compiled(tmp_path: Path) -> None:
    first, second = started(str(tmp_path)), started(str(tmp_path))
    assert first[2] == "0"
    assert "0" not in second[1:]
    assert first[0] == second[0]


def test_a_folder_that_cannot_be_written_is_gone_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert started(str(blocked / "inside"))[2] == "0"
