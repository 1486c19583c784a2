"""A baseline on disk: whole or not there, whatever happens to its file."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Baseline, load, measure, save
from tests.analysis.baseline.baselines import assert_same, normal, words_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def measured() -> Baseline:
    return measure(words_of(normal(60, 2, 8), np.arange(60) // 3))


def test_what_is_saved_is_loaded(measured: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "new" / "folders" / "baseline.npz"
    save(measured, path)
    found = load(path)
    assert_same(found, measured)
    assert found is not None
    assert type(found.n_words) is int
    assert found.plain.dtype == np.float32
    assert [p.name for p in path.parent.iterdir()] == ["baseline.npz"]


def test_saving_again_replaces_the_file(measured: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    save(measured, path)
    other = measure(words_of(normal(60, 2, 8, seed=5), np.arange(60) // 3))
    save(other, path)
    assert_same(load(path), other)
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.npz"]


def test_where_there_is_no_file_there_is_no_baseline(tmp_path: Path) -> None:
    assert load(tmp_path / "nothing.npz") is None
    assert load(tmp_path) is None


@pytest.mark.parametrize("keep", [0, 1, 3, 100, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_no_baseline(
    measured: Baseline, tmp_path: Path, keep: float
) -> None:
    path = tmp_path / "baseline.npz"
    save(measured, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
    assert load(path) is None


def test_a_changed_byte_is_noticed_or_harmless(measured: Baseline, tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    save(measured, path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 23):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        found = load(path)
        if found is not None:
            assert_same(found, measured)


def write_garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def write_text(path: Path) -> None:
    path.write_text("not arrays", encoding="utf-8")


def write_one_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def write_other_arrays(path: Path) -> None:
    np.savez(path, plain=np.zeros(3))


def write_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"plain": 1}))


def write_wrong_count(path: Path) -> None:
    names = [field.name for field in fields(Baseline)]
    np.savez(path, **{name: np.zeros((2, 2)) for name in names})


@pytest.mark.parametrize(
    "write",
    [
        write_garbage,
        write_text,
        write_one_array,
        write_other_arrays,
        write_pickle,
        write_wrong_count,
    ],
    ids=lambda write: write.__name__.removeprefix("write_"),
)
def test_another_kind_of_file_is_no_baseline(write: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    write(path)
    assert load(path) is None


@dataclass
class Trap:
    """Unpickled, it creates a file."""

    path: Path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_pickled_arrays_are_not_run(measured: Baseline, tmp_path: Path) -> None:
    path, sprung = tmp_path / "baseline.npz", tmp_path / "sprung"
    arrays = {field.name: np.asarray(getattr(measured, field.name)) for field in fields(Baseline)}
    arrays["plain"] = np.array([Trap(sprung)], dtype=object)
    np.savez(path, **arrays)
    assert load(path) is None
    assert not sprung.exists()
    with np.load(path, allow_pickle=True) as file:  # the trap does work
        assert file["plain"].size
    assert sprung.exists()


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from components.analysis.baseline import Baseline, save

def some(value, n):
    shape = np.full((3, 3, n), value, np.float32)
    return Baseline(shape, shape, shape, shape[0], 5)

path = Path(sys.argv[1])
save(some(1.0, 10), path)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    save(some(2.0, 10_000), path)
except OSError as exc:
    print("refused:", exc.strerror)
"""


def test_a_full_disk_leaves_the_old_file_and_no_part_of_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "baseline.npz"
    done = subprocess.run(
        [sys.executable, "-B", "-c", FULL_DISK, str(path)],  # bytecode cut short would stay
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: "), done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["baseline.npz"]
    found = load(path)
    assert found is not None
    np.testing.assert_array_equal(found.plain, 1)
