"""What is concluded of the embedding layer, beside oracles, for inputs as odd as they come."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest

from components.content.language import Claim, say
from components.content.wording import escape, quoted
from components.core import BUNDLED_ID, EncoderService
from components.core.schema import EmbeddingParts, Parameter, PartState, Tokens
from components.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from components.features.embedding_layer.measures import (
    Normalization,
    RandomBand,
    SharedToken,
    compare_positions,
    constant_parts,
    contributions,
    shares,
    sinusoid,
)
from components.features.embedding_layer.reading import (
    curve_title,
    embedding_reading,
    embedding_title,
    learned_reading,
    moved_claim,
    moved_title,
    neighbours_reading,
    neighbours_title,
    positions_reading,
    positions_title,
    same_rows_reading,
    same_rows_title,
    segment_rows_claim,
    token_title,
)
from tests.support.claims import read, unreached

PAGE = "embedding_layer"
TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
LABELS = ("[CLS]", "the", "##on", "[UNK]", "🐍", "שלי", "<b>", "*", "x" * 40)
Chance = random.Random
Draw = np.random.Generator


# The sum


def odd_parts(chance: Chance, draw: Draw) -> tuple[EmbeddingParts, Normalization]:
    """Rows that are added, as models have them or not: equal ones, opposite ones, zeros."""
    n, d = chance.choice((1, 2, 3, 7)), chance.choice((2, 4, 8))
    word, position = draw.normal(size=(2, n, d))
    segment = np.repeat(draw.normal(size=(1, d)), n, axis=0) * chance.choice((1, 4))
    how = chance.randrange(8)
    if how == 1:
        position = word.copy()  # a tie
    elif how == 2:
        position = -word * chance.choice((0.5, 1, 2))
    elif how == 3:
        word, position, segment = np.zeros((3, n, d))
    elif how == 4:
        position = word * (1 + draw.uniform(-0.05, 0.05, size=(n, 1)))  # within noise
    elif how == 5:
        word = np.repeat(word[:1], n, axis=0)
    elif how == 6:
        position = 3 * position
    rows = [part.astype(np.float32) for part in (word, position, segment)]
    two = chance.random() < 0.3
    total = np.sum(rows[:2] if two else rows, axis=0)
    ones = np.ones(n, np.int64)
    tokens = Tokens("", None, ("x",) * n, ones, ones, None, 0 * ones,
                    np.zeros((n, 2), np.int64), 0 * ones, 0 * ones, 0)  # fmt: skip
    parts = EmbeddingParts(
        tokens=tokens, position_ids=np.arange(n), word=rows[0], position=rows[1],
        segment=None if two else rows[2], total=total, normalized=total, epsilon=1e-12,
        projected=False, output=total,
    )  # fmt: skip
    return parts, Normalization(*draw.normal(size=(2, d)).astype(np.float32), epsilon=1e-12)


def oracle(parts: EmbeddingParts, norm: Normalization) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The share and the shift of each row, computed token by token."""
    own = {"word": parts.word, "position": parts.position}
    own |= {} if parts.segment is None else {"segment": parts.segment}
    wide = {name: rows.astype(np.float64) for name, rows in own.items()}

    def after(row: np.ndarray) -> np.ndarray:
        z = (row - row.mean()) / np.sqrt(row.var() + norm.epsilon)
        return z * norm.scale + norm.shift

    found = {name: (np.zeros(len(rows)), np.zeros(len(rows))) for name, rows in wide.items()}
    for i in range(len(parts.word)):
        x = sum(rows[i] for rows in wide.values())
        here = after(x)
        for name, rows in wide.items():
            found[name][0][i] = rows[i] @ x / (x @ x) if x.any() else 0
            gone = np.linalg.norm(after(x - rows[i]) - here)
            found[name][1][i] = gone / np.linalg.norm(here)
    return found


def in_words(numbers: dict[str, float]) -> str:
    """The names and shares, the largest first."""
    ranked = sorted(numbers, key=lambda name: -numbers[name])
    return ", ".join(say(f"{PAGE}.share.{name}", share=numbers[name]) for name in ranked)


def check_sum(chance: Chance, draw: Draw) -> Iterator[Claim]:
    parts, norm = odd_parts(chance, draw)
    labels = [chance.choice(LABELS) for _ in parts.word]
    focus, agrees = chance.randrange(len(labels)), chance.random() < 0.8
    state, difference = chance.choice((TRAINED, UNTRAINED)), chance.choice((0.0, 4e-7, 0.02, 2.4))
    found = contributions(parts, norm)
    for name, (share, moved) in oracle(parts, norm).items():
        np.testing.assert_allclose(found[name].share, share, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(found[name].moved, moved, rtol=1e-3, atol=1e-3)
    claims, sure = embedding_reading(
        found, labels, focus, difference=difference, agrees=agrees, state=state,
        constant=constant_parts(parts),
    )  # fmt: skip
    means = {name: float(part.share.astype(float).mean()) for name, part in found.items()}
    first, second = sorted(means.values(), reverse=True)[:2]
    top = max(means, key=lambda name: means[name]) if first - second > 0.01 else "even"
    largest, own, caution = claims
    title = embedding_title({name: part.share for name, part in found.items()})
    assert title.key == f"{PAGE}.title.{top}"
    assert largest.key == f"{PAGE}.claim.{top}"
    if top != "even":
        assert largest.numbers["share"] == title.numbers["share"] == pytest.approx(first)
    rest = {name: share for name, share in means.items() if name != top}
    assert largest.numbers["others"] == in_words(rest)
    zeros = not parts.total[focus].any()
    assert own.key == f"{PAGE}.focus.{'zeros' if zeros else 'shares'}"
    at = f" at position {focus}" if labels.count(labels[focus]) > 1 else ""
    assert own.numbers["token"] == quoted(labels[focus]) + at
    own_shares = in_words({name: float(part.share[focus]) for name, part in found.items()})
    assert own.numbers["shares"] == own_shares
    expected = "untrained" if state is UNTRAINED else "claim.caution" if agrees else "agreement.off"
    assert caution.key == f"{PAGE}.{expected}"
    removed, agreement = sure[:2]
    moves = {name: float(part.moved[focus]) for name, part in found.items()}
    assert removed.numbers["shifts"] == in_words(moves)
    assert agreement.key == f"{PAGE}.agreement.{'close' if agrees else 'off'}"
    assert agreement.numbers["difference"] == difference
    rows = {"word": parts.word, "position": parts.position, "segment": parts.segment}
    same = [
        name for name, own_rows in rows.items()
        if own_rows is not None and len(own_rows) > 1 and len(np.unique(own_rows, axis=0)) == 1
    ]  # fmt: skip
    assert [each.numbers["rows"] for each in sure[2:]] == ([", ".join(same)] if same else [])
    alone = token_title({name: part.share for name, part in found.items()}, focus, labels)
    assert alone.numbers["shares"] == own_shares
    yield from [title, alone, *claims, *sure]


# Rows of the word table


def check_same(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n, own = chance.choice((0, 1, 2, 20)), chance.random() < 0.5
    differ = chance.random() < 0.1
    outputs = [chance.choice((0.0, 3e-7, 0.004, chance.random())) for _ in range(n)]
    words = [float(differ and i == 0) for i in range(n)]
    shared = [
        SharedToken(i, i, i, *each) for i, each in enumerate(zip(words, outputs, strict=True))
    ]
    claims, title = same_rows_reading(shared, in_text=own), same_rows_title(shared)
    equal, moved = words.count(0), sum(output > 1e-5 for output in outputs)
    assert title.key == f"{PAGE}.same.title" + ("" if equal else "_none")
    assert title.numbers["n"] == equal
    names = ["rows" if equal == n else "differ", "moved" if moved else "still"]
    names = [*names, *([] if own else ["added"])] if n else ["none"]
    assert [each.key for each in claims] == [f"{PAGE}.same.{name}" for name in names]
    if n:
        assert claims[0].numbers == {"n": n, "equal": equal}
        assert claims[1].numbers == {"moved": moved, "n_shared": n}
    yield from [title, *claims]


def check_neighbours(chance: Chance, draw: Draw) -> Iterator[Claim]:
    cosines = sorted(draw.uniform(-0.2, 1, size=chance.choice((0, 1, 3, 10))).tolist())[::-1]
    if chance.random() < 0.3:
        cosines = [cosines[0] for _ in cosines]
    found = [(chance.choice(LABELS), cosine) for cosine in cosines]
    band = RandomBand(*sorted(draw.uniform(-0.2, 0.6, size=3).tolist()))
    state, n_rows = chance.choice((TRAINED, UNTRAINED)), chance.choice((1, 400, 30_522))
    claims, sure = neighbours_reading("a*", found, band, state, n_rows)
    title = neighbours_title("a*", len(found), n_rows)
    assert title.numbers == {"n": len(found), "n_rows": n_rows, "token": "a*"}
    if not found:
        assert [each.key for each in claims] == [f"{PAGE}.near.alone"]
    else:
        numbers = claims[0].numbers
        assert numbers["similarity"] == max(cosines)
        deviation = (band.high - band.mean) / 1.645
        chance_gives = min(1, band.mean + deviation * np.sqrt(2 * np.log(n_rows)))
        assert numbers["expected"] == pytest.approx(chance_gives)
        ties = [name for name, cosine in found if f"{cosine:.2f}" == f"{cosines[0]:.2f}"]
        assert numbers["nearest"].startswith(quoted(ties[0]))
        others = numbers["nearest"].removeprefix(quoted(ties[0]))
        more = f" and {len(ties) - 1} others" if len(ties) > 2 else f" and {quoted(ties[-1])}"
        assert others == (more if len(ties) > 1 else "")
        far = ["near.far"] if max(cosines) <= chance_gives else []
        cautions = ["near.untrained"] if state is UNTRAINED else far
        assert [each.key for each in claims[1:]] == [f"{PAGE}.{name}" for name in cautions]
        assert list(sure[0].numbers.values()) == [band.mean, band.low, band.high]
    yield from [title, *claims, *sure]


# Positions, segments, and what is learned


def check_positions(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n, first = chance.choice((1, 2, 3, 4, 20, 60)), chance.choice((0, 0, 1, 2))
    rows = draw.normal(size=(n + first, chance.choice((2, 3, 6))))
    rows += chance.choice((0, 3)) * draw.normal(size=(1, rows.shape[1]))
    rows = rows.cumsum(axis=0) if chance.random() < 0.4 else rows
    if chance.random() < 0.2:
        rows = rows[:1] * np.where(np.arange(n + first) % 2, 1, -1)[:, None]  # neighbours opposite
    rows = (np.ones_like(rows) if chance.random() < 0.1 else rows).astype(np.float32)
    look, state = compare_positions(rows, first), chance.choice((TRAINED, UNTRAINED))
    claims, sure = positions_reading(look, state)
    title, curve = positions_title(look), curve_title(look)
    yield from [title, curve, *claims, *sure]
    if n < 3:
        assert title.key.endswith(".few")
        assert [each.key for each in claims] == [f"{PAGE}.positions.few"]
        assert claims[0].numbers == {"n": n}
        return
    own = rows[first:].astype(np.float64)
    units = own / np.linalg.norm(own, axis=1, keepdims=True)
    distance = min(50, n - 1)
    near, far = (np.mean([units[i] @ units[i + k] for i in range(n - k)]) for k in (1, distance))
    numbers = claims[0].numbers
    assert (numbers["near"], numbers["far"]) == pytest.approx((near, far), abs=1e-5)
    assert numbers["distance"] == distance
    if abs(abs(near - far) - 0.1) > 1e-5:
        verdict = "even" if abs(near - far) < 0.1 else "nearer" if near > far else "farther"
        assert claims[0].key == f"{PAGE}.positions.{verdict}"
        assert title.numbers == {"near": numbers["near"], "far": numbers["far"]}
    squares = np.linalg.svd(own - own.mean(axis=0), compute_uv=False) ** 2
    shown = squares[:2].sum() / squares.sum() if squares.sum() > 1e-9 else 0
    assert claims[1].numbers["share"] == curve.numbers["share"] == pytest.approx(shown, abs=1e-5)
    assert claims[1].key.endswith("curve.some" if shown else "curve.none")
    assert [each.key for each in claims[2:]] == ([] if state is TRAINED else [f"{PAGE}.untrained"])
    assert [each.numbers["first"] for each in sure] == ([first] if first else [])


def check_segments(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = draw.normal(size=(chance.choice((1, 2, 3)), 4)) * chance.choice((0, 1, 1, 1))
    told = segment_rows_claim(rows if chance.random() < 0.9 else None)
    if told.key in (f"{PAGE}.segments.apart", f"{PAGE}.segments.equal"):
        apart = np.sqrt(((rows[0] - rows[1]) ** 2).sum())
        first, second = np.sqrt((rows[:2] ** 2).sum(axis=1))
        assert list(told.numbers.values()) == pytest.approx([apart, first, second])
        assert told.key.endswith("apart" if apart else "equal")
    else:
        assert told.key.endswith("none") or len(rows) == 1
    n, change = chance.choice((0, 1, 2, 8)), chance.choice((ALONE, PAIR, SEGMENT_ONLY))
    ids = sorted(chance.choice((0, 1)) for _ in range(n))
    moved = draw.uniform(0, chance.choice((0, 0.004, 1, 3)), size=n)
    own, title = moved_claim(moved, ids, change), moved_title(moved)
    assert title.numbers["most"] == max(moved, default=0)
    assert title.key.endswith("moved" if moved.any() else "still")
    means = {
        name: np.mean([m for m, i in zip(moved, ids, strict=True) if i == which])
        for which, name in enumerate(("first", "second")) if which in ids
    }  # fmt: skip
    if change == ALONE or not n:
        assert own.key == f"{PAGE}.moved.{'alone' if change == ALONE else 'empty'}"
    elif change == SEGMENT_ONLY:
        assert own.numbers == {"share": pytest.approx(moved.mean())}
    else:
        assert own.numbers == pytest.approx(means)
        assert own.key.endswith("both" if len(means) == 2 else next(iter(means)))
    yield from [told, own, title]


def check_learned(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = sinusoid(6, 4) if chance.random() < 0.3 else draw.normal(size=(6, 4))
    kinds = ["word", "position", "token_type"][: chance.choice((2, 3))]
    shapes = [(chance.randrange(1, 99), 4) for _ in kinds]
    own = [
        Parameter(f"embeddings.{kind}_embeddings.weight", shape, "float32", 0, None, True)
        for kind, shape in zip(kinds, shapes, strict=True)
    ]
    own.append(Parameter("embeddings.LayerNorm.weight", (4,), "float32", 0, None, True))
    look = chance.choice((None, compare_positions(rows.astype(np.float32), 0)))
    state = chance.choice((TRAINED, UNTRAINED))
    count, *rest = learned_reading(own, look, state)
    n = sum(a * b for a, b in shapes) + 4
    assert count.numbers == {"n": n, "share": pytest.approx(4 * shapes[0][0] / n)}
    if look is not None:
        formula = sinusoid(6, 4)
        cosines = (rows * formula).sum(1) / np.linalg.norm(rows, axis=1)
        mean = float((cosines / np.linalg.norm(formula, axis=1)).mean())
        assert rest[0].numbers["similarity"] == pytest.approx(mean, abs=1e-5)
        assert rest.pop(0).key.endswith("fixed" if mean >= 0.99 else "free")
    assert [each.key for each in rest] == ([] if state is TRAINED else [f"{PAGE}.untrained"])
    yield from [count, *([] if look is None else learned_reading(own, look, state)[1:])]


CHECKS: dict[Callable[[Chance, Draw], Iterator[Claim]], int] = {
    check_sum: 2000, check_same: 500, check_neighbours: 500, check_positions: 500,
    check_segments: 500, check_learned: 300,
}  # fmt: skip


@cache
def keys(check: Callable[[Chance, Draw], Iterator[Claim]]) -> frozenset[str]:
    chance, draw = random.Random(1), np.random.default_rng(1)
    return frozenset().union(*(read(check(chance, draw)) for _ in range(CHECKS[check])))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_every_claim_is_what_the_numbers_show(
    check: Callable[[Chance, Draw], Iterator[Claim]],
) -> None:
    assert keys(check)


@pytest.mark.slow
def test_no_sentence_of_the_page_is_dead() -> None:
    parts = {f"{PAGE}.{table}.{name}" for table in ("share", "row")
             for name in ("word", "position", "segment")}  # fmt: skip
    assert not unreached(PAGE, parts.union(*map(keys, CHECKS)))


# As they are read


def test_the_bundled_model_s_story(service: EncoderService) -> None:
    own = shares(service.embedding_parts(BUNDLED_ID, "I love my pet python"))
    assert str(embedding_title(own)) == ("The word itself contributes most (66%)")
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    claims, _ = positions_reading(compare_positions(table, 0), TRAINED)
    assert str(claims[0]) == (
        "Neighbouring positions have more similar vectors than positions 50 apart: cosine "
        "similarity **0.85** against **0.34** on average."
    )


def test_sentences_are_read_whole() -> None:
    near, _ = neighbours_reading(
        "py*", [("<b>", 0.404), ("x", 0.396)], RandomBand(-0.1, 0.02, 0.15), TRAINED, 9
    )
    assert str(near[0]) == (
        f"Before any context, the token most similar to {quoted('py*')} is {quoted('<b>')} and "
        "“x”: cosine similarity **0.40**. (By chance alone, the closest of 9 tokens would reach "
        "about 0.19.)"
    )
    moved = moved_claim(np.array([0.0, 0.2, 0.4]), [0, 1, 1], PAIR)
    assert str(moved) == (
        "Reading the texts as a pair changes the second text's tokens at layer 0 by **30%** of "
        "their length on average, the first text's by **0%**."
    )
    assert say(f"{PAGE}.untrained", reason=escape(UNTRAINED.reason)).startswith(
        "No sign that the embedding layer was trained. Every bias"
    )
