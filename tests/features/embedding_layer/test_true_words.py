"""Every sentence of the Embedding layer is read back and holds, for inputs as odd as they come."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.core.schema import EmbeddingParts, Parameter, PartState, Tokens
from components.features.embedding_layer.compute.tables import moved_tokens
from components.features.embedding_layer.compute.words import near_rows, other_texts, two_texts
from components.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from components.features.embedding_layer.measures.parts import (
    Norm,
    constant_parts,
    contributions,
)
from components.features.embedding_layer.measures.positions import look_at_positions
from components.features.embedding_layer.measures.words import Band, Shared
from components.features.embedding_layer.reading.parts import (
    agreement_said,
    cut_note,
    embedding_reading,
    embedding_title,
    share_note,
    token_title,
)
from components.features.embedding_layer.reading.tables import (
    curve_title,
    learned_reading,
    moved_reading,
    moved_title,
    positions_reading,
    positions_title,
    segment_rows_reading,
)
from components.features.embedding_layer.reading.words import (
    neighbours_reading,
    neighbours_title,
    same_rows_reading,
    same_rows_title,
)
from tests.support.embedding_layer import on, shown
from tests.support.texts import TYPED
from tests.support.true_words import (
    NUMBER,
    PERCENT,
    TOKEN,
    bare,
    cut,
    is_percent,
    is_two,
    nothing,
    odd_labels,
    place,
    read_back,
)

N = 2000
TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
TINY = r"(?P<difference>0|\d+e-\d+|\d+\.\d\d)"
PART = r"(?:word|position|segment)"
EACH = rf"{PART} {PERCENT}(?:, {PART} {PERCENT})*"


# The sum


def odd_parts(chance: random.Random, draw: np.random.Generator) -> tuple[EmbeddingParts, Norm]:
    """Rows that are added, as models have them or not: equal ones, opposite ones, zeros."""
    n, d = chance.choice((1, 2, 3, 7, 12)), chance.choice((2, 4, 8))
    word, position = draw.normal(size=(2, n, d))
    segment = np.repeat(draw.normal(size=(1, d)), n, axis=0)
    how = chance.randrange(7)
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
    rows = [part.astype(np.float32) for part in (word, position, segment)]
    total = rows[0] + rows[1]
    if two := chance.random() < 0.3:
        rows[2] = None
    else:
        total = total + rows[2]
    norm = Norm(*draw.normal(size=(2, d)).astype(np.float32), epsilon=1e-12)
    parts = EmbeddingParts(
        tokens=tokens(n), position_ids=np.arange(n), word=rows[0], position=rows[1],
        segment=None if two else rows[2], total=total, normalized=total, epsilon=1e-12,
        projected=False, output=total,
    )  # fmt: skip
    return parts, norm


def tokens(n: int, *, lost: int = 0, pair: str | None = None) -> Tokens:
    ones = np.ones(n, np.int64)
    return Tokens("", pair, ("x",) * n, ones, ones, None, 0 * ones, np.zeros((n, 2), np.int64),
                  0 * ones, 0 * ones, lost)  # fmt: skip


def expected(parts: EmbeddingParts, norm: Norm) -> dict[str, list[np.ndarray]]:
    """Share, distance and 1 - cosine of each part, computed another way than the page does."""
    own = {"word": parts.word, "position": parts.position}
    own |= {} if parts.segment is None else {"segment": parts.segment}
    wide = {name: rows.astype(np.float64) for name, rows in own.items()}
    total = np.sum(list(wide.values()), axis=0)

    def after(rows: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            z = (rows - rows.mean(1)[:, None]) / np.sqrt(rows.var(1) + norm.epsilon)[:, None]
        return z * norm.scale + norm.shift

    found = {}
    for name, rows in wide.items():
        share, moved, turned = np.zeros((3, len(total)))
        for i, (row, x) in enumerate(zip(rows, total, strict=True)):
            length = np.linalg.norm(x)
            share[i] = 0 if not x.any() else np.dot(row, x / length) / length
            here, there = after(total[i : i + 1])[0], after((x - row)[None])[0]
            moved[i] = np.linalg.norm(there - here) / np.linalg.norm(here)
            both = np.linalg.norm(here) * np.linalg.norm(there)
            turned[i] = 1 - here @ there / both
        found[name] = [share, moved, turned]
    return found


def pairs(said: str) -> dict[str, str]:
    return dict(re.findall(rf"({PART}) ({PERCENT})", said))


def leader(shares: dict[str, np.ndarray], i: int) -> str | None:
    """The part whose share is more than a percentage point above all others."""
    own = {name: float(share[i]) for name, share in shares.items()}
    best = max(own, key=lambda name: own[name])
    rest = [share for name, share in own.items() if name != best]
    return best if own[best] - max(rest) > 0.01 else None


def check_sum(said: str, shares: dict, moved: dict, labels: list[str], focus: int) -> None:
    n = len(labels)
    leaders = [leader(shares, i) for i in range(n)]
    counts = {name: leaders.count(name) for name in shares}

    def largest(top: str, count: str | None, whole: str | None, but: str | None) -> None:
        assert counts[top] == max(counts.values())
        if count is None:
            assert counts[top] == n
            return
        assert (int(count), int(whole)) == (counts[top], n)
        named = list(named_tokens(but or "", labels))
        assert len(named) == min(3, n - counts[top])
        for i, own in named:
            assert leaders[i] != top
            assert (len(own) == 1) == (leaders[i] is not None)
            for name, share in own.items():
                assert is_percent(share, shares[name][i])
                assert max(s[i] for s in shares.values()) - shares[name][i] <= 0.01
        more = but.rpartition(" and ")[2] if but.endswith(" more") else "0 more"
        assert int(more.split()[0]) == n - counts[top] - len(named)

    def token(name: str, at: str | None) -> None:
        assert place(name, at, labels) == focus

    def each(what: dict, told: str) -> None:
        found = pairs(told)
        assert set(found) == set(what)
        assert all(is_percent(found[name], what[name][focus]) for name in what)

    def own_shares(t: str, t_at: str | None, told: str) -> None:
        token(t, t_at)
        each(shares, told)

    def zeros(t: str, t_at: str | None) -> None:
        token(t, t_at)
        assert not any(share[focus] for share in shares.values())

    def none_leads() -> None:
        assert not any(counts.values())

    along = r"of the sum's length, along its own direction,"
    read_back(
        said,
        {
            "AGREEMENT": nothing,
            rf"No part has a clearly largest share {along} in any token\.": none_leads,
            rf"The (?P<top>{PART}) row has the largest share {along} in (?:every token"
            r"|(?P<count>\d+) of (?P<whole>\d+) tokens; not in (?P<but>.*?\)(?: and \d+ more)?))\."
            r"(?= The (?:shares|rows) of)": largest,
            rf"The shares of {TOKEN.format('t')}: (?P<told>{EACH})\.": own_shares,
            r"Left out before LayerNorm, they move its layer 0 by this much of its length: "
            rf"(?P<told>{EACH})\.": lambda told: each(moved, told),
            rf"The rows of {TOKEN.format('t')} add up to zeros, so no part has a share\.": zeros,
            r"This embedding layer looks untrained: Every bias is exactly 0\.": nothing,
        },
    )


def named_tokens(said: str, labels: list[str]) -> Any:
    for found in re.finditer(rf"{TOKEN.format('t')} \((?P<own>{EACH})\)", said):
        yield place(found["t"], found["t_at"], labels), pairs(found["own"])


def check_title(said: str, shares: dict) -> None:
    n = len(next(iter(shares.values())))
    leaders = [leader(shares, i) for i in range(n)]
    counts = {name: leaders.count(name) for name in shares}

    def one(top: str, count: str | None, whole: str | None) -> None:
        assert counts[top] == (n if count is None else int(count))
        assert all(counts[top] > m for name, m in counts.items() if name != top)
        assert whole is None or int(whole) == n

    def several(tops: str, count: str, whole: str) -> None:
        assert {name for name in counts if counts[name] == max(counts.values())} == set(
            tops.split(" and ")
        )
        assert (int(count), int(whole)) == (max(counts.values()), n)

    def none() -> None:
        assert not any(counts.values())

    read_back(
        said,
        {
            rf"The (?P<top>{PART})'s share leads in (?:every token|(?P<count>\d+) of "
            r"(?P<whole>\d+) tokens)": one,
            r"By share, (?P<tops>.*) lead in (?P<count>\d+) of (?P<whole>\d+) tokens each": several,
            "No part's share leads in any token": none,
        },
    )


@pytest.mark.slow
def test_every_sentence_on_the_sum_holds() -> None:
    chance, draw = random.Random(1), np.random.default_rng(1)
    for _ in range(N):
        parts, norm = odd_parts(chance, draw)
        found, oracle = contributions(parts, norm), expected(parts, norm)
        labels = odd_labels(chance, parts.tokens.n_tokens)
        focus = chance.randrange(len(labels))
        shares = {name: part.share for name, part in found.items()}
        for name, (share, moved, turned) in oracle.items():
            np.testing.assert_allclose(found[name].share, share, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(found[name].moved, moved, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(found[name].turned, turned, rtol=1e-3, atol=1e-3)
        state = chance.choice((TRAINED, UNTRAINED))
        said = embedding_reading(found, labels, focus, agreement="AGREEMENT", state=state)
        moves = {name: part.moved for name, part in found.items()}
        check_sum(bare(" ".join(said)), shares, moves, labels, focus)
        check_title(embedding_title(shares), shares)
        name, _, told = token_title(shares, focus, labels)[len("Shares of ") :].rpartition(": ")
        at = name.rpartition(" at position ")
        assert (at[0] or name, at[2] if at[0] else None) == (
            cut(labels[focus]),
            str(focus) if [*map(cut, labels)].count(cut(labels[focus])) > 1 else None,
        )
        assert all(is_percent(pairs(told)[part], share[focus]) for part, share in shares.items())
        check_constant(share_note(shares, constant_parts(parts)), parts, shares)


def check_constant(said: str, parts: EmbeddingParts, shares: dict) -> None:
    same = {
        name
        for name, rows in (("word", parts.word), ("position", parts.position),
                           ("segment", parts.segment))
        if rows is not None and len(rows) > 1 and len(np.unique(rows, axis=0)) == 1
    }  # fmt: skip
    named = set()

    def constant(name: str, n: str, low: str, high: str | None) -> None:
        named.add(name)
        assert int(n) == len(shares[name])
        assert is_percent(low, shares[name].min())
        assert is_percent(high or low, shares[name].max())

    read_back(
        said,
        {
            "A share is not how much a part matters to what the model does later\\.": nothing,
            rf"The (?P<name>{PART}) row is the same for all (?P<n>\d+) tokens and has a share of "
            rf"(?P<low>{PERCENT})(?: to (?P<high>{PERCENT}))?, though it tells no two of them "
            r"apart\.": constant,
        },
    )
    assert named == same


def test_agreement_and_what_was_cut_hold() -> None:
    chance = random.Random(2)
    for _ in range(N):
        difference = chance.choice((0.0, 10 ** chance.uniform(-9, 1)))
        largest, names = chance.choice((0.0, 0.5, 20.0)), ["word", "position", "segment"]
        names = names[: chance.choice((2, 3))]
        projected = chance.random() < 0.5
        told = bare(agreement_said(names, difference, largest, projected=projected))
        assert f"{', '.join(names[:-1])} and {names[-1]} rows" in told
        assert ("projecting" in told) == projected
        agrees = difference <= 1e-5 * max(1, largest)
        assert ("does not give" in told) == (not agrees) == ("Please report" in told)
        assert ("within rounding" in told) == (agrees and difference > 0)
        number = told.split("difference is ")[1].split(",")[0].split(". Please")[0].rstrip(".")
        assert float(number) == pytest.approx(difference, rel=0.51, abs=1e-12)
        lost, pair = chance.choice((0, 1, 90)), chance.choice((None, "x"))
        note = cut_note(tokens(2, lost=lost, pair=pair))
        assert bool(note) == bool(lost)
        if lost:
            assert f"{lost} token{'s are' if lost > 1 else ' is'} left out at " in note
            assert ("two texts" in note) == (pair is not None)


# The closer looks


def test_every_sentence_on_two_texts_holds() -> None:
    chance = random.Random(3)
    for _ in range(N // 4):
        n = chance.choice((0, 1, 2, 9, 20))
        labels = odd_labels(chance, max(n, 1))
        shared = [
            Shared(i, chance.choice((i, i + 3)), i, 0.0,
                   chance.choice((0.0, 0.0, 3e-7, 0.004, 1.5, chance.random())))
            for i in range(n)
        ]  # fmt: skip
        own = chance.random() < 0.5
        said = bare(" ".join(same_rows_reading(shared, labels, own=own)))
        moved = [each for each in shared if each.output > 1e-5]
        title = same_rows_title(shared)
        assert title.startswith("No" if not n else f"{n} token")
        if not n:
            assert said == "The two texts have no token in common."
            continue
        assert said.startswith(f"{n} {'token is' if n == 1 else 'different tokens are'} in both")
        names = said.split("in both texts: ")[1].split(". It" if n == 1 else ". Their")[0]
        assert names.startswith(", ".join(f"“{cut(labels[s.first])}”" for s in shared[:8]))
        assert (" more" in names[-9:]) == (n > 8)
        assert ("share no token of their own" in said) == (not own)
        if not moved:
            assert said.endswith("even its layer 0 is the same.")
            continue
        most = max(moved, key=lambda each: each.output)
        assert f"layer 0 is the same for {n - len(moved)} of {n}: the first " in said
        assert f"at position {most.first} here and {most.second} there" in said
        number = said.split("differs by up to ")[1].split(", as")[0]
        assert float(number) == pytest.approx(most.output, rel=0.5)
        assert float(number) > 0


def test_every_sentence_on_neighbours_holds() -> None:
    chance = random.Random(4)
    for _ in range(N // 4):
        n = chance.choice((0, 1, 2, 3, 10))
        cosines = sorted((chance.uniform(-1, 1) for _ in range(n)), reverse=True)
        found = list(zip(odd_labels(chance, n), cosines, strict=True))
        band = Band(-0.2, chance.uniform(-0.1, 0.1), chance.uniform(0.1, 0.5))
        state = chance.choice((TRAINED, UNTRAINED))
        (label,) = odd_labels(chance, 1)
        said = bare(" ".join(neighbours_reading(label, found, band, state)))
        if not n:
            assert said == f"The table has no other row than that of “{cut(label)}”."
            continue
        rest = said.removeprefix(f"Nearest to “{cut(label)}” in the word table, by cosine: ")
        for name, cosine in found[:3]:
            rest = rest.removeprefix(f"“{cut(name)}” (")
            assert is_two(rest.split(")")[0], cosine)
            rest = rest.split(")", 1)[1].removeprefix(", ")
        far = cosines[0] <= band.high
        assert ("no nearer than one in twenty" in rest) == far
        assert is_two(rest.split("average ")[1].split(")")[0].split(".  ")[0][:5].rstrip(".)"),
                      band.mean)  # fmt: skip
        assert ("looks untrained" in rest) == (state is UNTRAINED)
        assert neighbours_title(label, n, 30_522) == f"Of 30,522 rows, the {n} nearest to {label}"


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


# Through the model


@pytest.mark.slow
@pytest.mark.parametrize("name", list(TYPED))
def test_every_sentence_holds_for_what_the_model_says(name: str, service: EncoderService) -> None:
    view = on(TYPED[name], TYPED[name], pair=None if len(name) % 2 else "the the")
    embedding = shown(view, service)
    labels, shares = list(embedding.labels), embedding.shares
    oracle = expected(embedding.parts, embedding.norm)
    for part, (share, moved, _) in oracle.items():
        np.testing.assert_allclose(shares[part], share, atol=1e-4)
        np.testing.assert_allclose(embedding.contributions[part].moved, moved, atol=1e-3)
    said = embedding_reading(
        embedding.contributions, labels, embedding.focus, agreement="AGREEMENT", state=TRAINED
    )
    moves = {part: own.moved for part, own in embedding.contributions.items()}
    check_sum(bare(" ".join(said)), shares, moves, labels, embedding.focus)
    check_title(embedding_title(shares), shares)
    check_constant(share_note(shares, constant_parts(embedding.parts)), embedding.parts, shares)
    pair = two_texts(embedding, other_texts(view, embedding)["B"], service)
    here, there = (set(p.tokens.token_ids[p.tokens.text_ids >= 0].tolist()) for p in pair.parts)
    told = bare(" ".join(same_rows_reading(pair.shared, labels, own=pair.share_own)))
    assert ("share no token of their own" in told) == (not here & there)
    near = near_rows(embedding, embedding.focus, service)
    assert near is not None
    assert list(near.cosines) == sorted(near.cosines, reverse=True)
    moved = moved_tokens(view, embedding, service, PAIR)
    second = moved.shares[np.array(moved.text_ids, int) == 1]
    told = bare(" ".join(moved_reading(moved.shares, moved.text_ids, PAIR)))
    assert ("nothing to move" in told) == (moved.shares.size == 0)
    assert ("second text's tokens" in told) == (second.size > 0)
