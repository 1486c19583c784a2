"""Conclusions about the embedding layer, checked by oracles, for odd inputs of all kinds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import Claim, say
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import EmbeddingParts, Parameter, PartState, Tokens
from contextlens.features.embedding_layer import reading
from contextlens.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from contextlens.features.embedding_layer.measures import (
    Normalization,
    RandomBand,
    SharedToken,
    compare_positions,
    constant_parts,
    contributions,
    shares,
    sinusoid,
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
    """Rows to add, likely in a model or not: equal ones, opposite ones, zeros."""
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


def in_words(numbers: dict[str, float]) -> str:
    """The names and shares, the largest first."""
    ranked = sorted(numbers, key=lambda name: -numbers[name])
    return ", ".join(say(f"{PAGE}.share.{name}", share=numbers[name]) for name in ranked)


def check_sum(chance: Chance, draw: Draw) -> Iterator[Claim]:
    parts, normalization = odd_parts(chance, draw)
    labels = [chance.choice(LABELS) for _ in parts.word]
    focus, agrees = chance.randrange(len(labels)), chance.random() < 0.8
    state, difference = chance.choice((TRAINED, UNTRAINED)), chance.choice((0.0, 4e-7, 0.02, 2.4))
    measured = contributions(parts, normalization)  # test_measures.py has the oracle of these
    shares = {name: part.share for name, part in measured.items()}
    claims, sure = reading.embedding_reading(
        measured, labels, focus, difference=difference, agrees=agrees, state=state,
        constant=constant_parts(parts),
    )  # fmt: skip
    of_focus, average, caution = claims
    segment = None if parts.segment is None else chance.randrange(2)
    title = reading.embedding_title(labels, focus, segment)
    assert title.key.endswith("two" if segment is None else "three")
    assert title.numbers["position"] == focus
    assert title.numbers.get("segment") == segment
    of_token = {name: float(share[focus]) for name, share in shares.items()}
    first, second = sorted(of_token.values(), reverse=True)[:2]
    top = max(of_token, key=lambda name: of_token[name])
    verdict = top if first - second > 0.01 else "even"
    verdict = verdict if parts.total[focus].any() else "zeros"
    assert of_focus.key == f"{PAGE}.focus.{verdict}"
    position = f" at position {focus}" if labels.count(labels[focus]) > 1 else ""
    assert of_focus.numbers["token"] == quoted(labels[focus]) + position
    others = {name: share for name, share in of_token.items() if name != top}
    if verdict == top:
        assert of_focus.numbers["share"] == pytest.approx(first)
        assert of_focus.numbers["others"] == in_words(others)
    elif verdict == "even":
        assert of_focus.numbers["shares"] == in_words(of_token)
    means = {name: float(share.astype(float).mean()) for name, share in shares.items()}
    assert average.numbers == {"n": len(labels), "shares": in_words(means)}
    expected = "untrained" if state is UNTRAINED else "caution" if agrees else "agreement.off"
    assert caution.key == f"{PAGE}.{expected}"
    removed, agreement, *constant = sure
    moved = in_words({name: float(part.moved[focus]) for name, part in measured.items()})
    assert removed.numbers["shifts"] == moved
    assert agreement.key == f"{PAGE}.agreement.{'close' if agrees else 'off'}"
    assert agreement.numbers["difference"] == difference
    rows = {"word": parts.word, "position": parts.position, "segment": parts.segment}
    several = {name: part for name, part in rows.items() if part is not None and len(part) > 1}
    same = [name for name, part in several.items() if len(np.unique(part, axis=0)) == 1]
    assert [each.numbers["rows"] for each in constant] == ([", ".join(same)] if same else [])
    yield from [title, *claims, *sure]


# Rows of the word table


def check_same(chance: Chance, draw: Draw) -> Iterator[Claim]:
    n, in_text = chance.choice((0, 1, 2, 20)), chance.random() < 0.5
    outputs = [chance.choice((0.0, 3e-7, 0.004, chance.random())) for _ in range(n)]
    words = [float(i == 0) * (chance.random() < 0.1) for i in range(n)]
    shared = [SharedToken(i, i, i, words[i], outputs[i]) for i in range(n)]
    claims, title = (
        reading.same_rows_reading(shared, in_text=in_text),
        reading.same_rows_title(shared),
    )
    equal, moved = words.count(0), sum(output > 1e-5 for output in outputs)
    assert title.key == f"{PAGE}.same.title" + ("" if equal else "_none")
    assert title.numbers["n"] == equal
    names = ["rows" if equal == n else "differ", "moved" if moved else "still"]
    names = [*names, *([] if in_text else ["added"])] if n else ["none"]
    assert [each.key for each in claims] == [f"{PAGE}.same.{name}" for name in names]
    if n:
        assert claims[0].numbers == {"n": n, "equal": equal}
        assert claims[1].numbers == {"moved": moved, "n_shared": n}
    yield from [title, *claims]


def check_neighbours(chance: Chance, draw: Draw) -> Iterator[Claim]:
    cosines = sorted(draw.uniform(-0.2, 1, size=chance.choice((0, 1, 3, 10))).tolist())[::-1]
    if chance.random() < 0.3:
        cosines = [cosines[0] for _ in cosines]
    neighbours = [(chance.choice(LABELS), cosine) for cosine in cosines]
    band = RandomBand(*sorted(draw.uniform(-0.2, 0.6, size=3).tolist()))
    state, n_rows = chance.choice((TRAINED, UNTRAINED)), chance.choice((1, 400, 30_522))
    claims, sure = reading.neighbours_reading("a*", neighbours, band, state, n_rows)
    title = reading.neighbours_title("a*", len(neighbours), n_rows)
    assert title.numbers == {"n": len(neighbours), "n_rows": n_rows, "token": "a*"}
    if not neighbours:
        assert [each.key for each in claims] == [f"{PAGE}.near.alone"]
    else:
        deviation = (band.high - band.mean) / 1.645
        expected = min(1, band.mean + deviation * np.sqrt(2 * np.log(n_rows)))
        numbers = claims[0].numbers
        assert numbers["similarity"] == max(cosines)
        assert numbers["expected"] == pytest.approx(expected)
        ties = [
            quoted(name) for name, cosine in neighbours if f"{cosine:.2f}" == f"{cosines[0]:.2f}"
        ]
        rest = {1: "", 2: f" and {ties[-1]}"}.get(len(ties), f" and {len(ties) - 1} others")
        assert numbers["nearest"] == ties[0] + rest
        far = ["near.far"] if max(cosines) <= expected else []
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
    statistics, state = compare_positions(rows, first), chance.choice((TRAINED, UNTRAINED))
    claims, sure = reading.positions_reading(statistics, state)
    title, curve = reading.positions_title(statistics), reading.curve_title(statistics)
    yield from [title, curve, *claims, *sure]
    if n < 3:
        assert title.key.endswith(".few")
        assert [each.key for each in claims] == [f"{PAGE}.positions.few"]
        assert claims[0].numbers == {"n": n}
        return
    main, in_curve, *cautions = claims
    used = rows[first:].astype(np.float64)
    units = used / np.linalg.norm(used, axis=1, keepdims=True)
    distance = min(50, n - 1)
    near, far = (np.mean([units[i] @ units[i + k] for i in range(n - k)]) for k in (1, distance))
    expected = {"near": near, "far": far, "distance": distance}
    assert main.numbers == pytest.approx(expected, abs=1e-5)
    if abs(abs(near - far) - 0.1) > 1e-5:
        verdict = "even" if abs(near - far) < 0.1 else "nearer" if near > far else "farther"
        assert main.key == f"{PAGE}.positions.{verdict}"
        assert title.numbers == {name: main.numbers[name] for name in ("near", "far")}
    squares = np.linalg.svd(used - used.mean(axis=0), compute_uv=False) ** 2
    share = squares[:2].sum() / squares.sum() if squares.sum() > 1e-9 else 0
    assert in_curve.numbers["share"] == curve.numbers["share"] == pytest.approx(share, abs=1e-5)
    assert in_curve.key.endswith("curve.some" if share else "curve.none")
    assert [each.key for each in cautions] == ([] if state is TRAINED else [f"{PAGE}.untrained"])
    assert [each.numbers["first"] for each in sure] == ([first] if first else [])


def check_segments(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = draw.normal(size=(chance.choice((1, 2, 3)), 4)) * chance.choice((0, 1, 1, 1))
    segments = reading.segment_rows_claim(rows if len(rows) > 1 or chance.random() < 0.5 else None)
    verdict = segments.key.rpartition(".")[2]
    if len(rows) > 1:
        distances = np.linalg.norm([rows[0] - rows[1], rows[0], rows[1]], axis=1)
        assert list(segments.numbers.values()) == pytest.approx(distances)
        assert verdict == ("apart" if distances[0] else "equal")
    else:
        assert verdict in ("none", "one")
    n, change = chance.choice((0, 1, 2, 8)), chance.choice((ALONE, PAIR, SEGMENT_ONLY))
    ids = np.sort(draw.integers(2, size=n))
    moved = draw.uniform(0, chance.choice((0, 0.004, 1, 3)), size=n)
    result, title = reading.moved_claim(moved, ids.tolist(), change), reading.moved_title(moved)
    assert title.numbers["most"] == max(moved, default=0)
    assert title.key.endswith("moved" if moved.any() else "still")
    if change == ALONE or not n:
        assert result.key == f"{PAGE}.moved.{'alone' if change == ALONE else 'empty'}"
    elif change == SEGMENT_ONLY:
        assert result.numbers == {"share": pytest.approx(moved.mean())}
    else:
        names = dict(enumerate(("first", "second")))
        means = {names[i]: moved[ids == i].mean() for i in np.unique(ids)}
        assert result.numbers == pytest.approx(means)
        assert result.key.endswith("both" if len(means) == 2 else next(iter(means)))
    yield from [segments, result, title]


def check_learned(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = sinusoid(6, 4) if chance.random() < 0.3 else draw.normal(size=(6, 4))
    kinds = ["word", "position", "token_type"][: chance.choice((2, 3))]
    shapes = {
        f"embeddings.{kind}_embeddings.weight": (chance.randrange(1, 99), 4) for kind in kinds
    }
    shapes["embeddings.LayerNorm.weight"] = (4,)  # type: ignore[assignment]
    parameters = [Parameter(*item, "float32", 0, None, True) for item in shapes.items()]
    statistics = chance.choice((None, compare_positions(rows.astype(np.float32), 0)))
    state = chance.choice((TRAINED, UNTRAINED))
    claims = count, *others = reading.learned_reading(parameters, statistics, state)
    n, n_word = sum(map(math.prod, shapes.values())), math.prod(next(iter(shapes.values())))
    assert count.numbers == {"n": n, "share": pytest.approx(n_word / n)}
    verdicts = []
    if statistics is not None:
        mean = cosine_similarity(rows, sinusoid(6, 4)).diagonal().mean()
        assert others[0].numbers["similarity"] == pytest.approx(mean, abs=1e-5)
        verdicts = [f"{PAGE}.learned.{'fixed' if mean >= 0.99 else 'free'}"]
    verdicts += [] if state is TRAINED else [f"{PAGE}.untrained"]
    assert [each.key for each in others] == verdicts
    yield from claims


CHECKS: dict[Callable[[Chance, Draw], Iterator[Claim]], int] = {
    check_sum: 2000, check_same: 500, check_neighbours: 500, check_positions: 500,
    check_segments: 500, check_learned: 300,
}  # fmt: skip


@pytest.mark.slow
def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    names = ("word", "position", "segment")
    keys = {f"{PAGE}.{table}.{name}" for table in ("share", "row") for name in names}
    for check, n_inputs in CHECKS.items():
        chance, draw = random.Random(1), np.random.default_rng(1)
        for _ in range(n_inputs):
            keys |= read(check(chance, draw))
    assert not unreached(PAGE, keys)


def test_sentences_are_read_whole(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, "I love my pet python")
    assert str(reading.embedding_title(parts.tokens.tokens, 5, 0)) == (
        "“python” = word + position 5 + segment 0"
    )
    assert float(shares(parts)["word"][5]) == pytest.approx(0.79, abs=0.005)
    neighbours = [("<b>", 0.404), ("x", 0.396)]
    near, _ = reading.neighbours_reading(
        "py*", neighbours, RandomBand(-0.1, 0.02, 0.15), TRAINED, 9
    )
    assert str(near[0]) == (
        f"Before any context, the token most similar to {quoted('py*')} is {quoted('<b>')} and "
        "“x”: cosine similarity **0.40**. (By chance alone, the closest of 9 tokens would reach "
        "about 0.19.)"
    )
    moved = reading.moved_claim(np.array([0.0, 0.2, 0.4]), [0, 1, 1], PAIR)
    assert str(moved) == (
        "Reading the texts as a pair changes the second text's tokens at layer 0 by **30%** of "
        "their length on average, the first text's by **0%**."
    )
