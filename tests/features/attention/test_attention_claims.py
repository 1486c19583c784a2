"""Attention's sentences and its numbers: any weights, any tokens, then whole sentences."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.content.wording import percent
from contextlens.core import EncoderService
from contextlens.features.attention.attention import AttentionView, Pick
from contextlens.features.attention.controls import SCOPES
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.features.attention.selection import HeadSelection
from contextlens.ui.state.view import Sentence
from tests.features.attention.examples import PAIR, attention_on
from tests.support.claims import read, unreached
from tests.support.texts import LABELS

N_MADE = 2000
HABITS = ("previous", "next", "first", "separators", "word")


# Any weights


def weights_of(random: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Spread, tied, all equal, nearly none, all on one."""
    values = random.uniform(0, 1, (n_rows, n_columns))
    values = [
        values,
        values.round(1),
        0.25 + random.uniform(-0.004, 0.004, values.shape),
        values * 0.02,
        np.full(values.shape, random.choice([0.0, 0.125, 1.0])),
        np.eye(n_rows, n_columns) * 0.998 + 0.0004,
    ][random.integers(6)]
    return values.astype(np.float32)


def items_of(chance: random.Random, n: int, first: int) -> tuple[GridItem, ...]:
    """Tokens, or words of two; the first is no padding: every text has a real token."""
    kinds = ["token", *chance.choices(("token", "continuation", "padding"), k=n - 1)]
    size, names = chance.choice((1, 1, 2)), LABELS[: chance.choice((2, 30))]
    starts = range(first, first + size * n, size)
    return tuple(
        GridItem(chance.choice(names), tuple(range(i, i + size)), kind, 0)  # type: ignore[arg-type]
        for i, kind in zip(starts, kinds, strict=True)
    )


def odd_attention(base: AttentionView, seed: int) -> AttentionView:
    chance, numbers = random.Random(seed), np.random.default_rng(seed)
    rows = items_of(chance, chance.choice((1, 2, 3, 5, 8)), 2)
    columns = rows if chance.random() < 0.7 else items_of(chance, chance.choice((1, 2, 4)), 50)
    hidden = chance.choice(((), (0, 1)))
    weights = weights_of(numbers, len(rows), len(columns))
    renormalised = bool(hidden) and chance.random() < 0.5
    selection = HeadSelection(
        scope=chance.choice(list(SCOPES.values())),
        layer=chance.choice((1, 2, 12)),
        head=chance.randrange(12),
        shares=dict(zip(HABITS, weights_of(numbers, 1, 5)[0].tolist(), strict=True)),
        even=dict.fromkeys(HABITS, chance.choice((0.5, 0.14, 1 / 512))),
        names={"first": "[CLS]", "separators": chance.choice(("[SEP]", "</s>"))},
        trained=chance.random() < 0.8,
    )
    pick = Pick("from", chance.randrange(len(rows)), chance.randrange(len(columns)))
    joins = weights_of(numbers, 3, 4)
    if chance.random() < 0.5:  # the head that is shown has most
        joins[1, 2] = weights[pick.row, pick.column]
        joins = np.minimum(joins, joins[1, 2])
    grid = Grid(rows, columns, weights, hidden, renormalised)
    navigator = replace(base.navigator, joins=joins)
    return replace(base, selection=selection, grid=grid, pick=pick, navigator=navigator)


def assert_largest(claim: Claim, values: np.ndarray, items: tuple[GridItem, ...]) -> None:
    """The verdict, the number and the name of the largest of some weights."""
    verdict, values = claim.key.rpartition(".")[2], values.astype(float)
    top = values.max()
    assert claim.numbers["share"] == pytest.approx(top)
    if top <= 0.005:
        assert verdict == "faint"
        return
    assert top > 0.0049
    near = np.flatnonzero(np.rint(100 * values) == np.rint(100 * top))
    if np.rint(100 * top) == 100:  # "100%" and "over 99%" differ
        near = np.flatnonzero((np.rint(100 * values) == 100) & ((values < 1) == (top < 1)))
    if claim.key.startswith("attention.title"):
        assert (verdict == "alike") == (1 < len(near) == len(values))
        return
    several = "alike" if len(near) == len(values) else "several"
    assert verdict == ("one" if len(near) == 1 else several)
    names, first = claim.numbers["names"], items[near[0]]
    assert names.startswith("“")
    assert (f"{len(near) - 1} others" in names) == (len(near) > 2)
    is_unique = sum(item.label == first.label for item in items) == 1
    assert is_unique or f"position {first.positions[0]}" in names


def assert_head(claim: Claim, selection: HeadSelection) -> None:
    shares, even = selection.shares, selection.even
    verdict, share = claim.key.rpartition(".")[2], claim.numbers["share"]
    clear = [h for h in HABITS if shares[h] >= 0.3 and shares[h] >= 1.5 * even[h]]
    assert (verdict == "unclear") == (not clear)
    assert share == max(shares[habit] for habit in clear or HABITS)
    if clear:
        assert shares[verdict] == share
        assert claim.numbers["even"] == even[verdict]
    assert (claim.numbers["layer"], claim.numbers["head"]) == (selection.layer, selection.head + 1)


def even_share(selection: HeadSelection, grid: Grid, item: GridItem) -> float:
    n = len({i for items in (grid.rows, grid.columns) for item in items for i in item.positions})
    return len(item.positions) * (1 / n if grid.renormalised else selection.even["first"])


def assert_join(attention: AttentionView) -> None:
    """The verdict on the two chosen words, and its numbers."""
    selection, grid, pick = attention.selection, attention.grid, attention.pick
    share, column = float(grid.weights[pick.row, pick.column]), grid.columns[pick.column]
    even, strongest = even_share(selection, grid, column), float(attention.navigator.joins.max())
    is_clear = share >= 0.3 and share >= 1.5 * even
    is_most = percent(share) == percent(strongest)
    expected = ("links" if is_most else "also") if is_clear else "none" if is_most else "hardly"
    assert attention.headline().key == f"attention.join.{expected}"
    taken, *others = attention.claims()
    assert taken.numbers["share"] == share
    assert taken.numbers["even"] == pytest.approx(even)
    assert taken.numbers["head"] == selection.head + 1
    itself = grid.rows[pick.row].positions == column.positions
    assert (taken.numbers["column"] == "itself") == itself
    most = [claim for claim in others if claim.key == "attention.most"]
    assert len(most) == (not is_most)
    if most:
        layer, head = most[0].numbers["layer"], most[0].numbers["head"]
        assert attention.navigator.joins[layer - 1, head - 1] == most[0].numbers["share"]


def test_every_sentence_is_true_of_any_weights(tiny_service: EncoderService) -> None:
    keys, base = set(), attention_on(tiny_service, model="folder:bert")
    for seed in range(N_MADE):
        attention = odd_attention(base, seed)
        selection, grid = attention.selection, attention.grid
        title, headline = attention.title(), attention.headline()
        if selection.scope == "head":
            assert_head(title, selection)
            assert_head(attention.sure()[1], selection)
            assert_join(attention)
        else:
            real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
            means = grid.weights[real].mean(axis=0)
            kind = "rollout" if selection.scope == "rollout" else "mean"
            assert headline.key.startswith(f"attention.{kind}.")
            assert_largest(title, means, grid.columns)
            assert_largest(headline, means, grid.columns)
            best = grid.columns[int(means.argmax())]
            if headline.key == "attention.mean.one":
                assert headline.numbers["even"] == pytest.approx(even_share(selection, grid, best))
            assert attention.claims()[0].key == f"attention.taken.{kind}"
        claims = attention.claims()
        assert (claims[-1].key == "attention.untrained") == (not selection.trained)
        keys |= read([title, headline, *claims, *attention.sure()])
    keys |= read(checked_notes(tiny_service))
    assert not unreached("attention", keys)


# Any text


TEXT, ROBERTA = Sentence("I love my pet python"), {"model": "folder:roberta"}
NOTES: list[tuple[Sentence, dict[str, Any], dict[str, int | None]]] = [
    (TEXT, {}, {}),
    (TEXT, {"special": "Hide"}, {"hidden": None}),
    (TEXT, {"special": "Hide, rows to 1"}, {"divided": None}),
    (Sentence(""), {"special": "Hide"}, {"nothing_else": None, "only_special": None}),
    (PAIR, {}, {}),
    (PAIR, ROBERTA, {"no_segments": None}),
    (PAIR, {"direction": "Second to first"}, {"one_way": None}),
    (PAIR, {**ROBERTA, "direction": "First to second"}, {"one_way": None}),
    (Sentence("", "b"), {"direction": "First to second"}, {"all_ways": None}),
    (TEXT, {"pad": 6}, {"long_enough": 7}),
    (TEXT, {"pad": 7}, {}),
    (TEXT, {"pad": 8}, {"padding": 1}),
    (TEXT, {"pad": 10}, {"padding": 3}),
    (Sentence("a 🦄"), {}, {"unknown": 1}),
    (Sentence("🦄 and 🦫", "🦄"), {}, {"unknown": 3}),
    (Sentence("a " * 63), {"model": "folder:bert"}, {"cut": 1}),
    (Sentence("a " * 70), {"model": "folder:bert"}, {"cut": 8}),
]


def checked_notes(service: EncoderService) -> Iterator[Claim]:
    """The notes on all kinds of texts, with keys and numbers checked."""
    for sentence, how, expected in NOTES:
        notes = attention_on(service, sentence, **how).notes()
        assert {note.key.rpartition(".")[2]: note.numbers.get("n") for note in notes} == expected
        yield from notes
    for n_padded in (1, 2):  # no model attends to padding
        padded = attention_on(service, TEXT, pad=7 + n_padded)
        (note,) = replace(padded, weights=np.full_like(padded.weights, 0.1)).notes()
        assert note.key == "attention.note.padding_gets"
        assert note.numbers == {"n": n_padded, "most": pytest.approx(0.1)}
        yield note
    for show in ("Layer", "All"):
        yield attention_on(service, TEXT, model="folder:modernbert", show=show, layer=2).notes()[0]


# Whole sentences


def test_the_opening_page_reads(service: EncoderService) -> None:
    attention = attention_on(service, special="Hide")
    claims = [attention.headline(), *attention.claims(), *attention.notes()]
    assert " ".join(map(str, claims)).replace("\\", "").replace("**", "") == (
        "For “my”, one part of the model looks closely at “python”. Head 2 of layer 4, one of 72 "
        "such parts, takes 78% of what it reads for “my” from “python” (an even share: 14%). "
        "Hidden: [CLS], [SEP]. The rows leave out attention to hidden tokens, so a row may sum to "
        "less than 1."
    )


def test_a_head_says_which_one_links_the_two_words_more(service: EncoderService) -> None:
    nurse = Sentence("The nurse told the doctor that she was tired")
    chosen = {"side": "to", "token": 2, "other": 8}
    first = attention_on(service, nurse, **{**chosen, "other": 7})
    assert str(first.headline()) == ("For “she”, one part of the model looks closely at “nurse”.")
    assert str(first.claims()[0]).startswith(
        "Head 12 of layer 6, one of 72 such parts, takes **46%** of what it reads for “she” from"
    )
    other = attention_on(service, nurse, head="1.0", **{**chosen, "other": 7})
    assert str(other.headline()) == "This head hardly links “she” to “nurse”."
    assert str(other.claims()[-1]) == "Head 12 in layer 6 does most: **46%**."


def test_equal_tokens_and_roberta_s_special_tokens_have_their_names(
    tiny_service: EncoderService,
) -> None:
    unknown = Sentence("🦄 and 🦫")
    taken = attention_on(tiny_service, unknown, show="All", special="Hide", token=1).claims()[0]
    assert taken.numbers["row"].replace("\\", "") == "“[UNK]” at position 1"
    roberta = attention_on(tiny_service, PAIR, model="folder:roberta", special="Hide")
    names = roberta.notes()[0].numbers["names"]
    assert names.replace("\\", "") == "<s>, </s>"
