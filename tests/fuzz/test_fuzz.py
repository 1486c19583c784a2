"""The small share of fuzzing that every run of the tests has: always the same inputs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fuzz import running
from tests.fuzz.inputs import inputs
from tests.fuzz.mutation import mutated_json
from tests.fuzz.registry import NAMES, named
from tests.fuzz.running import repeat, run
from tests.fuzz.target import judge

_SHARE = 150  # the seeds, what Hypothesis makes, and some changes of both
_SMALLER = {"tokenizer": 15}  # each is tried in a process of its own
_APART = "parquet"  # the library that reads these files may end the process


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != _APART])
def test_a_small_share_of_inputs_is_taken_or_refused_in_a_sentence(name: str) -> None:
    target = named(name)
    share = _SMALLER.get(name, _SHARE)
    taken = [judge(target, content) for content in islice(inputs(target, 13), share)]
    assert len(taken) == share
    assert any(taken)


@pytest.mark.slow
def test_a_small_share_of_parquet_files_is_taken_or_refused_in_a_sentence() -> None:
    outcome = run(_APART, n=_SHARE, seconds=240, seed=13, timed=False)
    assert not outcome.finds, [find.trace for find in outcome.finds.values()]
    assert outcome.n == _SHARE
    assert outcome.taken > 0


@pytest.mark.slow
def test_every_kind_of_find_is_found_kept_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "BUILD", tmp_path)
    outcome = run("planted", n=10, seconds=240, seed=0, timed=False)
    kinds = sorted(kind for kind, _ in outcome.finds)
    assert kinds == [
        *["BrokenError"] * 4,
        "KeyError",
        "MemoryError",
        "end of the process",
        "memory",
    ]
    assert (outcome.n, outcome.taken, outcome.refused) == (10, 2, 1)
    kept = next(find for find in outcome.finds.values() if find.kind == "KeyError")
    assert kept.path.read_bytes() == b"a"
    assert "--repeat" in kept.path.with_suffix(".txt").read_text(encoding="utf-8")
    assert [kind for kind, _ in repeat("planted", kept.path).finds] == ["KeyError"]


@pytest.mark.slow
def test_the_same_seed_makes_the_same_inputs_from_any_place_on() -> None:
    def first(seed: int, start: int, n: int) -> list[bytes]:
        return list(islice(inputs(named("settings"), seed, start), n))

    whole = first(1, 0, 140)
    assert first(1, 120, 20) == whole[120:]
    assert first(2, 0, 140) != whole


class Doubling(Random):
    """Always repeats a list, as often as it may."""

    def randrange(self, *ends: int) -> int:
        return {7: 3, 15: 14}.get(ends[0], 0)

    def expovariate(self, *rate: float) -> float:
        return 5.0 / rate[0]

    def choice(self, seq: Any) -> Any:
        return seq[0]


@pytest.mark.slow
def test_a_list_that_is_repeated_again_and_again_can_still_be_written() -> None:
    changed = mutated_json(Doubling(), b"[[1, 2, 3]]", [])
    assert 1_000_000 < len(changed) < 20_000_000
