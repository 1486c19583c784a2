"""The endless row of a target's inputs: the same for the same seed, from any round on.

A round is a hundred structured inputs by Hypothesis, then changes of them and of the seeds, which
cost a tenth of that to make. It depends on the seed and its number alone, so that a run can go on
where a process ended.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.mutation import mutated, mutated_json
from tests.fuzz.target import Target

__all__ = ["inputs"]

_STRUCTURED, _ROUND = 100, 1_500
_LARGE = 100_000  # bytes: a bomb is thrown, and not changed too


def inputs(target: Target, seed_: int, start: int = 0) -> Iterator[bytes]:
    """A target's inputs from number `start` on; the first are its seeds as they are."""
    plain = list(target.seeds().values())
    yield from plain[start:]
    start = max(start - len(plain), 0)
    for number in count(start // _ROUND):
        for place, content in enumerate(_round(target, plain, seed_, number)):
            if number * _ROUND + place >= start:
                yield content


def _round(target: Target, plain: list[bytes], seed_: int, number: int) -> Iterator[bytes]:
    own = zlib.crc32(f"{target.name} {seed_} {number}".encode())
    structured = _structured(target, own)
    yield from structured
    rng, pool = Random(own), [c for c in (*plain, *structured) if len(c) <= _LARGE] or [b""]
    inner = [inside for inside in (_inside(target, content) for content in pool) if inside]
    for _ in range(_ROUND - len(structured)):
        yield _changed(target, rng, pool, inner)


def _structured(target: Target, own: int) -> list[bytes]:
    found: list[bytes] = []

    @seed(own)
    @settings(
        max_examples=_STRUCTURED,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.structure)
    def collect(content: bytes) -> None:
        found.append(content[: target.longest])

    collect()
    return found[:_STRUCTURED]


def _inside(target: Target, content: bytes) -> bytes:
    with suppress(Exception):
        return target.unwrap(content)
    return b""


def _changed(target: Target, rng: Random, pool: list[bytes], inner: list[bytes]) -> bytes:
    """An input changed as it is, inside of its wrapping, or as a tree."""
    if not inner or (target.wrap is not bytes and not rng.randrange(4)):
        return mutated(rng, pool, target.tokens, target.longest)
    if target.is_json and rng.randrange(2):
        with suppress(ValueError, RecursionError):
            changed = mutated_json(rng, rng.choice(inner), target.tokens)
            return target.wrap(changed[: target.longest])
    return target.wrap(mutated(rng, inner, target.tokens, target.longest))
