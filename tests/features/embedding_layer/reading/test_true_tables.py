"""Every sentence on the tables of rows is read back and holds, for rows as odd as they come."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from components.core.schema import Parameter
from components.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from components.features.embedding_layer.measures.positions import look_at_positions
from components.features.embedding_layer.reading.tables import (
    curve_title,
    learned_reading,
    moved_reading,
    moved_title,
    positions_reading,
    positions_title,
    segment_rows_reading,
)
from tests.features.embedding_layer.reading.odd_parts import TRAINED, UNTRAINED
from tests.support.true_words import NUMBER, PERCENT, bare, is_percent, is_two, read_back

N = 2000


def test_every_sentence_on_positions_holds() -> None:
    chance, draw = random.Random(5), np.random.default_rng(5)
    for _ in range(N // 4):
        n, first = chance.choice((1, 2, 3, 4, 20)), chance.choice((0, 0, 1, 2))
        rows = draw.normal(size=(n + first, chance.choice((2, 3, 6))))
        rows += chance.choice((0, 3)) * draw.normal(size=(1, rows.shape[1]))
        rows = rows.cumsum(axis=0) if chance.random() < 0.5 else rows
        rows = np.ones_like(rows) if chance.random() < 0.1 else rows
        look = look_at_positions(rows.astype(np.float32), first)
        check_positions(bare(" ".join(positions_reading(look, len(rows)))), rows, first)
        check_positions_title(positions_title(look), rows, first)
        check_curve(curve_title(look), rows[first:])


def near_and_far(rows: np.ndarray, first: int) -> tuple[float, float, int]:
    own = rows[first:].astype(np.float32)
    own = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    distance = min(50, len(own) - 1)
    means = [np.mean([own[i] @ own[i + k] for i in range(len(own) - k)]) for k in (1, distance)]
    return means[0], means[1], distance


def share_shown(rows: np.ndarray) -> float:
    own = rows.astype(np.float32).astype(np.float64)
    values = np.linalg.svd(own - own.mean(axis=0), compute_uv=False) ** 2
    return float(values[:2].sum() / values.sum()) if values.sum() > 1e-12 else 0.0


def check_positions(said: str, rows: np.ndarray, first: int) -> None:
    if len(rows) - first < 3:
        assert said == f"The table has {len(rows)} rows, too few to compare."
        return
    near, far, distance = near_and_far(rows, first)

    def compared(a: str, d: str, b: str, which: str | None) -> None:
        assert int(d) == distance
        assert is_two(a, near)
        assert is_two(b, far)
        if abs(abs(near - far) - 0.1) > 1e-5:
            assert which == (None if abs(near - far) < 0.1 else "more" if near > far else "less")

    def begins(row: str, last: str | None) -> None:
        assert int(row) == first > 0
        assert int(last or 0) == first - 1

    read_back(
        said,
        {
            rf"Rows of neighbouring positions have a cosine of (?P<a>{NUMBER}) on average, rows "
            rf"(?P<d>\d+) apart (?P<b>{NUMBER})(?:: those that are nearer are (?P<which>more|less)"
            r" alike)?\.": compared,
            rf"The curve shows (?P<p>{PERCENT}) of the rows' variance"
            r"(?P<rest>; the rest is in other dimensions)?\.": lambda p, rest: shows(
                p, rows[first:], rest
            ),
            "All rows are the same, so the curve is one point\\.": lambda: shows(
                None, rows[first:], None
            ),
            r"A text begins at row (?P<row>\d+); (?:row 0 stands|rows 0 to (?P<last>\d+) stand) "
            r"for no place in a text\.": begins,
        },
    )


def shows(said: str | None, rows: np.ndarray, rest: str | None) -> None:
    share = share_shown(rows)
    if said is None:
        assert share == 0
    else:
        near_all = said == "100%" or (said == "over 99%" and share > 0.99)
        assert near_all if share > 1 - 1e-7 else is_percent(said, share)
        assert bool(rest) == (said != "100%")


def check_positions_title(said: str, rows: np.ndarray, first: int) -> None:
    if len(rows) - first < 3:
        assert said == "Too few positions to compare"
        return
    near, far, _ = near_and_far(rows, first)

    def alike(a: str, b: str) -> None:
        assert is_two(a, near)
        assert is_two(b, far)
        assert abs(near - far) < 0.10001

    def apart(which: str, a: str, b: str) -> None:
        assert is_two(a, near)
        assert is_two(b, far)
        assert (near - far if which == "more" else far - near) > 0.09999

    read_back(
        said,
        {
            rf"Near and far about as alike: (?P<a>{NUMBER}), (?P<b>{NUMBER})": alike,
            rf"Near positions (?P<which>more|less) alike: (?P<a>{NUMBER}), far (?P<b>{NUMBER})":
            apart,
        },
    )  # fmt: skip


def check_curve(said: str, rows: np.ndarray) -> None:
    if said == "All rows are the same":
        assert share_shown(rows) == 0
    else:
        shows(said.removesuffix(" of the variance, as a curve"), rows,
              "rest" if not said.startswith("100%") else None)  # fmt: skip


def test_every_sentence_on_segments_and_second_texts_holds() -> None:
    chance, draw = random.Random(6), np.random.default_rng(6)
    for _ in range(N // 4):
        rows = draw.normal(size=(chance.choice((1, 2, 3)), 4)) * chance.choice((0, 1, 1, 1))
        told = bare(segment_rows_reading(rows, "bert")[0])
        numbers = [float(found) for found in re.findall(NUMBER, told)]
        norms = np.sqrt((rows**2).sum(axis=1))
        if len(rows) == 1:
            assert numbers == pytest.approx([norms[0]], abs=0.006)
        else:
            apart = np.sqrt(((rows[0] - rows[1]) ** 2).sum())
            cosine = [] if not norms[:2].all() else [rows[0] @ rows[1] / norms[0] / norms[1]]
            assert numbers == pytest.approx([norms[0], norms[1], apart, *cosine], abs=0.006)
        check_moved(chance, draw)
    assert "no segment embeddings" in segment_rows_reading(None, "mpnet")[0]


def check_moved(chance: random.Random, draw: np.random.Generator) -> None:
    n = chance.choice((0, 1, 2, 8))
    ids = sorted(chance.choice((0, 1)) for _ in range(n))
    moved = draw.uniform(0, chance.choice((0.004, 1, 3)), size=n)
    moved[[i for i, own in enumerate(ids) if own == 0 and chance.random() < 0.8]] = 0
    first, second = (moved[[own == which for own in ids]] for which in (0, 1))
    change = chance.choice((ALONE, PAIR, SEGMENT_ONLY))

    def claims(size: float, of: bool = True) -> Any:
        def check(p: str | None = None) -> None:
            assert of
            assert size == 0 if p is None else is_percent(p, size)

        return check

    read_back(
        bare(" ".join(moved_reading(moved, ids, change))),
        {
            "Without a second text nothing moves: each token's layer 0 is as it was alone\\.":
            claims(0, change == ALONE),
            "Neither text has a token of its own, so there is nothing to move\\.":
            claims(0, n == 0),
            f"With segment row 1 in place of 0, and nothing else changed, the tokens move by "
            rf"(?P<p>{PERCENT}) of their length at layer 0 on average\.":
            claims(moved.mean() if n else 0, change == SEGMENT_ONLY),
            "The first text's tokens do not move at layer 0: the same rows are added\\.":
            claims(first.max(initial=0), bool(first.size)),
            rf"The first text's tokens move by up to (?P<p>{PERCENT}) of their length at layer "
            r"0\.": claims(first.max(initial=0), bool(first.size)),
            r"The second text's tokens, beside where they were alone, move by "
            rf"(?P<p>{PERCENT}) of their length on average\.":
            claims(second.mean() if second.size else 0, bool(second.size)),
        },
    )  # fmt: skip
    title = moved_title(moved)
    if title == "Layer 0 stays as it is":
        assert not moved.any()
    else:
        assert is_percent(title.split("up to ")[1].split(" of")[0], moved.max())


def test_every_sentence_on_what_is_learned_holds() -> None:
    chance, draw = random.Random(7), np.random.default_rng(7)
    for _ in range(N // 4):
        rows = draw.normal(size=(6, 4)).astype(np.float32)
        kinds = ["word", "position", "token_type"][: chance.choice((2, 3))]
        shapes = [(chance.randrange(1, 99), 4) for _ in kinds]
        own = [
            Parameter(f"embeddings.{kind}_embeddings.weight", shape, "float32", 0, None, True)
            for kind, shape in zip(kinds, shapes, strict=True)
        ]
        own.append(Parameter("embeddings.LayerNorm.weight", (4,), "float32", 0, None, True))
        look = chance.choice((None, look_at_positions(rows, 0)))
        state = chance.choice((TRAINED, UNTRAINED))
        said = bare(" ".join(learned_reading(own, look, state)))
        assert f"the layer has {sum(a * b for a, b in shapes) + 4:,} numbers." in said
        assert ("and segment embeddings" in said) == (len(kinds) == 3)
        assert ("looks untrained" in said) == (state is UNTRAINED)
        assert ("position rows" in said) == (look is not None)
        if look is not None:
            dims = np.arange(4)
            angle = np.arange(6)[:, None] / 10_000 ** (2 * (dims // 2) / 4)
            formula = np.where(dims % 2 == 0, np.sin(angle), np.cos(angle))
            unit = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (rows, formula)]
            mean = float((unit[0] * unit[1]).sum(axis=1).mean())
            assert is_two(said.split("mean cosine ")[1].split(")")[0], mean)
