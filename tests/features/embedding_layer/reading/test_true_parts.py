"""Every sentence on the parts of the sum is read back and holds, for inputs as odd as they come."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from components.core import EncoderService
from components.core.schema import EmbeddingParts
from components.features.embedding_layer.compute.tables import moved_tokens
from components.features.embedding_layer.compute.words import near_rows, other_texts, two_texts
from components.features.embedding_layer.controls import PAIR
from components.features.embedding_layer.measures.parts import constant_parts, contributions
from components.features.embedding_layer.reading.parts import (
    agreement_said,
    cut_note,
    embedding_reading,
    embedding_title,
    share_note,
    token_title,
)
from components.features.embedding_layer.reading.tables import moved_reading
from components.features.embedding_layer.reading.words import same_rows_reading
from tests.features.embedding_layer.reading.odd_parts import (
    TRAINED,
    UNTRAINED,
    expected,
    odd_parts,
    tokens,
)
from tests.features.embedding_layer.shown import on, shown
from tests.support.texts import TYPED
from tests.support.true_words import (
    PERCENT,
    TOKEN,
    bare,
    cut,
    is_percent,
    nothing,
    odd_labels,
    place,
    read_back,
)

N = 2000
PART = r"(?:word|position|segment)"
EACH = rf"{PART} {PERCENT}(?:, {PART} {PERCENT})*"


# The sum


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
            rf"(?P<low>{PERCENT})(?: to (?P<high>{PERCENT}))?, though it cannot distinguish "
            r"them\.": constant,
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
