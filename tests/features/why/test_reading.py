"""What Why alike? says of any numbers, held against the numbers themselves."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.content.language import Claim, say
from components.core import EncoderService
from components.features.why import reading
from components.features.why.compute import (
    EditsResult,
    InputShares,
    InputsResult,
    LeaveOutResult,
    LeftOutWord,
    RankedEdit,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    edits_of,
    leave_out,
    swap_in,
    switch_off,
)
from components.features.why.edits import Edit
from components.features.why.measures import Shares, align, by_unit, merged, order_of
from components.features.why.reading import (
    Reading,
    edits_reading,
    reading_of,
    score_claim,
    title_of,
)
from components.features.why.score import Score, Side
from components.ui.state.view import Sentence, ViewState
from tests.features.why.scores import score_on, sentence

N = 420  # of each of seven kinds
SIZES = (0.0, 0.004, 0.02, 0.1, 1.0)
TEXTS = (
    "the bank the bank",
    "A python slept.",
    "I",
    "…",
    "",
    "我喜欢 python",
    "*a_ `b` <i>",
    "a b",
    "\u200b",
)
ENGLISH = Path(reading.__file__).parents[2] / "content/english.toml"

Seen = tuple[object, Claim | None, Reading]


@pytest.fixture(scope="module")
def scores(tiny_service: EncoderService) -> list[Score]:
    """Scores of odd texts; their numbers are made up."""
    both = [(0, 1), (1, 0), (2, 5), (3, 2), (5, 6), (0, 0), (6, 7), (7, 0), (8, 1)]
    pairs = [[Sentence(TEXTS[i]) for i in pair] for pair in both]
    found = [score_on(tiny_service, *pair, model="folder:bert") for pair in pairs]
    words = sentence("A python slept", "python"), sentence("the bank", "bank")
    return [
        *found,
        score_on(tiny_service, *words, model="folder:bert", what="word"),
        score_on(tiny_service, *words, model="folder:bert", what="cls"),
    ]


class Chance:
    """Numbers of all sizes: tied, almost tied, all the same, none."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.size = float(self.random.choice(SIZES))

    def numbers(self, *shape: int) -> np.ndarray:
        values = self.random.normal(size=shape) * self.size
        how = self.random.integers(4)
        if how == 0:
            values = values.round(2)
        elif how == 1:
            values = np.where(self.random.random(shape) < 0.1, values, 0.0)
        return values


def made(scores: list[Score], seed: int) -> list[object]:
    """One of each look."""
    chance = Chance(seed)
    score = scores[seed % len(scores)]
    one, other = score.sides
    score = replace(score, cosines=np.clip(chance.numbers(len(score.cosines)), -1, 1))
    cells = chance.numbers(one.encoding.n_tokens, other.encoding.n_tokens)
    by_token = Shares(cells)
    shares = SharesResult(score, by_token, merged(by_token, one.units, other.units))
    return [
        shares,
        InputsResult(score, _integrated(one, chance), _integrated(other, chance)),
        _left_out(score, chance),
        _switched_off(score, chance),
        _swapped_in(score, chance),
        _edits(score, chance),
    ]


def _integrated(side: Side, chance: Chance) -> InputShares:
    own = chance.numbers(side.encoding.n_tokens)
    missed = float(chance.random.choice([0, 1e-6, -0.0009, 0.0011, -0.3]))
    return InputShares(side, own, by_unit(own, side.units), 0.1, 0.5, missed, 32, (0.0, 1.0))


def _left_out(score: Score, chance: Chance) -> LeaveOutResult:
    units = [(i, unit) for i, side in enumerate(score.sides) for unit in side.words]
    changes, shares = chance.numbers(len(units)), chance.numbers(len(units))
    pairs = chance.numbers(len(units), len(units))
    pairs = pairs + pairs.T
    np.fill_diagonal(pairs, changes)
    words = tuple(
        LeftOutWord(i, unit, score.cosine + float(change), float(change))
        for (i, unit), change in zip(units, changes, strict=True)
    )
    order = order_of(shares, changes) if score.vector_kind == "mean" else None
    how = ("taken", "hidden")[int(chance.random.integers(2))]
    shown = pairs if chance.random.integers(2) else None
    return LeaveOutResult(score, how, words, shown, shares, order, ())  # type: ignore[arg-type]


def _switched_off(score: Score, chance: Chance) -> SwitchOffResult:
    n, each = (
        int(chance.random.integers(4)),
        chance.numbers(int(chance.random.choice([1, 3])), 3, 4),
    )
    return SwitchOffResult(
        score=replace(score, layer=n),
        to="zero",
        sides=score.sides,
        cosine=0.5,
        layers=tuple(range(1, n + 1)),
        heads=each.mean(axis=0)[:n],
        attention=chance.numbers(3)[:n],
        feed_forward=chance.numbers(3)[:n],
        by_pair=each[:, :n],
        notes=(),
    )


def _swapped_in(score: Score, chance: Chance) -> SwapInResult:
    alignment = align(score.first.encoding, score.second.encoding)
    n = int(chance.random.integers(1, 5))
    fractions = chance.numbers(n, len(alignment.pairs)) * float(chance.random.choice([1, 60]))
    if not chance.random.integers(3):
        fractions = fractions.round()
    return SwapInResult(score, "first", alignment, tuple(range(n)), fractions)


def _edits(score: Score, chance: Chance) -> EditsResult:
    kinds = chance.random.permutation(["negation", "typo", "case", "name", "order"])
    drawn = kinds[: chance.random.integers(6)]
    cosines = sorted(chance.random.choice([0.5, 0.505, 0.9, 1.0], size=len(drawn)).tolist())
    edits = tuple(
        RankedEdit(Edit(str(kind), f"text {i}", "what"), c)  # type: ignore[arg-type]
        for i, (kind, c) in enumerate(zip(drawn, cosines, strict=True))
    )
    return EditsResult(
        score, "mean", edits, is_english=bool(edits) or bool(chance.random.integers(2))
    )


def seen(shown: object) -> Seen:
    if isinstance(shown, EditsResult):
        some = np.full(9, 0.1, np.float32)
        return shown, None, edits_reading(shown, Band(some, some, some, "English sentences"))
    return shown, title_of(shown), reading_of(shown)


@pytest.fixture(scope="module")
def every(scores: list[Score]) -> list[Seen]:
    return [seen(shown) for seed in range(N) for shown in made(scores, seed)]


# An oracle of its own


def near(values: Any, least: float = 0.01) -> list[int]:
    """The highest to within 0.01, of those above a bound."""
    values = np.asarray(values, float)
    if not len(values):
        return []
    return [i for i in range(len(values)) if values.max() - values[i] <= 0.01 and values[i] > least]


def verdict(claim: Claim) -> str:
    return claim.key.rsplit(".", 1)[-1]


def test_shares_name_the_largest_alone(every: list[Seen]) -> None:
    for shown, title, told in every:
        if not isinstance(shown, SharesResult):
            continue
        assert title is not None
        score = shown.score
        if score.vector_kind != "mean":
            assert [verdict(own) for own in told.sentences] == [score.vector_kind]
            assert verdict(title) == "neither"
            continue
        sides = zip(score.sides, (shown.by_word.rows, shown.by_word.columns), strict=True)
        alone = [largest(side, sums, told.sentences[i]) for i, (side, sums) in enumerate(sides)]
        assert verdict(title) == ("both" if all(alone) else "neither")


def largest(side: Side, sums: np.ndarray, claim: Claim) -> bool:
    """Checks what is said of one sentence's words; true if one of them has the largest share."""
    values = np.array([v for v, u in zip(sums, side.units, strict=True) if u.span is not None])
    assert claim.numbers["letter"] == side.letter
    expected = "none" if not len(values) else "only" if len(values) == 1 else ""
    top = near(values, -np.inf)
    if not expected:
        is_flat = values.max() - values.min() <= 0.02
        expected = "equal" if is_flat else "largest" if len(top) == 1 else "several"
        if expected == "largest":
            assert claim.numbers["share"] == values.max()
        else:
            assert claim.numbers["n"] == (len(values) if is_flat else len(top))
    assert verdict(claim) == expected
    return expected == "largest"


def test_shares_of_inputs_that_did_not_add_up_are_called_rough(every: list[Seen]) -> None:
    for shown, title, told in every:
        if not isinstance(shown, InputsResult):
            continue
        rough = [abs(own.remainder) > 0.001 for own in shown.sides]
        assert title is not None
        assert (verdict(title) == "rough") == any(rough)
        for own, claim, is_rough in zip(shown.sides, told.sentences, rough, strict=True):
            assert (verdict(claim) == "rough") == is_rough
            if not is_rough:
                largest(own.side, own.by_word, claim)
        assert [claim.numbers.get("sum") for claim in told.sure[1::2]] == [
            own.shares.sum() for own in shown.sides
        ]


def test_leaving_out_tells_nothing_within_the_noise(every: list[Seen]) -> None:
    for shown, title, told in every:
        if not isinstance(shown, LeaveOutResult):
            continue
        changes = np.array([word.change for word in shown.words])
        strongest = near(np.abs(changes))
        assert title is not None
        if len(strongest) == 1:
            way = "lowers" if changes[strongest[0]] < 0 else "raises"
            assert verdict(title) == f"{way}_{shown.how}"
        else:
            assert verdict(title) == ("several" if strongest else "none")
            assert title.numbers["n"] == len(strongest)
        both = {"lowers": near(-changes), "raises": near(changes)}
        expected = [way for way, which in both.items() if which]
        keys = [verdict(claim) for claim in told.sentences]
        assert keys == ([*expected, "alone"] if expected else ["none"])
        for claim, way in zip(told.sentences, expected, strict=False):
            assert claim.numbers["n"] == len(both[way])
            assert claim.numbers["cosine"] == shown.score.cosine
        assert (shown.score.vector_kind == "mean") == (
            verdict(told.sure[0]) in ORDERS if told.sure else False
        )
        pairs = [claim for claim in told.sure if verdict(claim) in ("additive", "together")]
        if shown.pairs is None or len(changes) < 2:
            assert not pairs
        else:
            beyond = shown.pairs - changes[:, None] - changes[None, :]
            np.fill_diagonal(beyond, 0)
            assert (verdict(pairs[0]) == "additive") == (np.abs(beyond).max() < 0.02)


ORDERS = {"same", "opposite", "unrelated", "cannot tell"}


def test_heads_are_told_above_the_noise_alone(every: list[Seen]) -> None:
    for shown, title, told in every:
        if not isinstance(shown, SwitchOffResult):
            continue
        assert title is not None
        if not shown.layers:
            assert (verdict(title), verdict(told.sentences[0])) == ("empty", "empty")
            continue
        changes = shown.heads.ravel()
        strongest = near(np.abs(changes))
        heads, layers, alone = told.sentences
        expected = "several" if strongest else "none"
        if len(strongest) == 1:
            change = changes[strongest[0]]
            expected = "lowers" if change < 0 else "raises"
            assert heads.numbers["without"] == pytest.approx(shown.cosine + change)
            assert heads.numbers["head"] == strongest[0] % 4
            assert heads.numbers["layer"] == strongest[0] // 4 + 1
        else:
            assert heads.numbers["n"] == len(strongest)
        assert (verdict(title), verdict(heads)) == (expected, expected)
        assert alone.numbers["n"] == len(shown.by_pair)
        assert told.sure[0].numbers["n"] == (np.abs(changes) > 0.01).sum()
        parts = [*shown.attention, *shown.feed_forward]
        most = near(np.abs(parts))
        own = "several" if most else "none"
        if len(most) == 1:
            own = "attention" if most[0] < len(shown.layers) else "feed_forward"
            assert layers.numbers["change"] == parts[most[0]]
        assert verdict(layers) == own


def test_swapping_in_speaks_of_tokens_that_were_tried_and_never_of_61_ways(
    every: list[Seen],
) -> None:
    for shown, title, told in every:
        if not isinstance(shown, SwapInResult):
            continue
        bottom, n = shown.fractions[0], len(shown.alignment.pairs)
        furthest = near(bottom, 0.0) if bottom.max() >= 0.05 else []
        beyond = "_beyond" if bottom.max() >= 1.005 else ""
        first = told.sentences[0]
        expected = "none" if not furthest else "one" if len(furthest) == 1 else "several"
        assert title is not None
        is_whole = shown.alignment.same_length
        assert verdict(title) == expected + ("_tried" if expected == "one" and not is_whole else "")
        assert verdict(first) == expected + (beyond if furthest else "")
        if expected == "several":
            assert (first.numbers["n"], first.numbers["tried"]) == (len(furthest), n)
        if furthest:
            assert first.numbers["share"] == bottom.max()
        assert verdict(told.sentences[-1]) == "alone"
        for claim in told.sentences[1:-1]:
            column = [
                k for k in same_of(shown) if shown.fractions[:, k].max() == claim.numbers["share"]
            ]
            assert shown.fractions[int(claim.numbers["layer"]), column[0]] == claim.numbers["share"]
            assert claim.key.endswith("_beyond") == (claim.numbers["share"] >= 1.005)
        assert verdict(told.sure[0]) == ("all" if is_whole else "partly")
        n_away = int((bottom < -0.005).sum())
        assert [own.numbers["n"] for own in told.sure[1:]] == ([n_away] if n_away else [])


def same_of(shown: SwapInResult) -> list[int]:
    ids = shown.receiver.encoding.token_ids, shown.donor.encoding.token_ids
    return [k for k, (i, j) in enumerate(shown.alignment.pairs) if ids[0][i] == ids[1][j]]


def test_edits_are_told_by_their_similarity(every: list[Seen]) -> None:
    for shown, _, told in every:
        if not isinstance(shown, EditsResult):
            continue
        keys = [verdict(claim) for claim in told.sentences]
        if not shown.edits:
            assert keys == ["none" if shown.is_english else "foreign"]
            continue
        own = {each.edit.kind: each.cosine for each in shown.edits}
        is_apart = max(own.values()) - min(own.values()) > 0.01
        is_negated = "negation" in own and "typo" in own
        expected = ["apart" if is_apart else "equal", *["negation"] * is_negated, "random"]
        assert keys == expected
        if is_apart:
            numbers = told.sentences[0].numbers
            assert (numbers["low"], numbers["high"]) == (min(own.values()), max(own.values()))
        if is_negated:
            numbers = told.sentences[1].numbers
            assert (numbers["cosine"], numbers["typo"]) == (own["negation"], own["typo"])


@pytest.mark.parametrize("seed", range(N // 10))
def test_a_score_is_held_against_random_pairs_of_english(scores: list[Score], seed: int) -> None:
    random = np.random.default_rng(seed)
    score = scores[seed % len(scores)]
    ends = np.sort(random.uniform(-1, 1, 3)).astype(np.float32).round(int(random.integers(1, 4)))
    band = Band(*(np.full(9, value, np.float32) for value in ends), "English sentences")
    value = float(random.choice([*ends, random.uniform(-1, 1)]))
    score = replace(score, cosines=np.full_like(score.cosines, value))
    where = "above" if round(value, 2) > round(float(ends[2]), 2) else "within"
    where = "below" if round(value, 2) < round(float(ends[0]), 2) else where
    for given, is_english, expected in (
        (band, True, where), (None, True, "unknown"), (band, False, "foreign"),
    ):  # fmt: skip
        claim = score_claim(score, given, is_english=is_english)
        assert verdict(claim) == ("equal" if score.are_equal else expected)
        assert claim.numbers["cosine"] == value
        assert str(claim)


def test_every_sentence_is_reached_and_whole(every: list[Seen], scores: list[Score]) -> None:
    claims = [
        own
        for _, title, told in every
        for own in (title, *told.sentences, *told.sure)
        if own is not None
    ]
    claims += [problem_of(score, case) for case in ("equal", "stuck") for score in scores[:1]]
    texts = {str(own) for own in claims}
    assert len(every) > 2_000
    for text in texts:
        assert not {"nan", "{", "}", "  "} & {text[i : i + n] for n in (1, 2, 3)
                                              for i in range(len(text))}, text  # fmt: skip
        assert "-" not in text.replace("\\-", "").replace("feed-forward", "")
    said = {own.key for own in claims}
    own = tomllib.loads(ENGLISH.read_text(encoding="utf-8"))["why"]
    missing = {key for key in sentences(own, "why") if key not in said and not is_other(key)}
    assert not missing


def problem_of(score: Score, case: str) -> Claim:
    equal = replace(score, second=score.first) if case == "equal" else score
    alignment = align(equal.first.encoding, equal.second.encoding)
    problem = Claim(f"why.swap_in.{case}", {"a": "A", "b": "B"})
    shown = SwapInResult(equal, "first", alignment, (0,), np.zeros((0, 0)), problem)
    assert reading_of(shown).sentences == (problem,)
    title = title_of(shown)
    assert verdict(title) == case
    return title


def sentences(entry: dict[str, Any], key: str) -> list[str]:
    """The keys of sentences; a table of "one" and "several" is one of them."""
    found = []
    for name, value in entry.items():
        if not isinstance(value, dict) or value.keys() == {"one", "several"}:
            found.append(f"{key}.{name}")
        else:
            found += sentences(value, f"{key}.{name}")
    return found


def is_other(key: str) -> bool:
    """True if it belongs to a picture or control, or is a problem that other tests reach."""
    words = ("controls", "note", "score", "missing", "work", "limits")
    last = ("quantity", "between", "low", "high", "hint", "hint_one", "alt", "alt_pairs", "axis",
            "predicted", "strongest", "hover", "hover_beyond", "hover_away", "scale", "more",
            "equal", "stuck", "long", "unpaired")  # fmt: skip
    is_picture = key.rsplit(".", 1)[-1] in last and "title" not in key
    return is_picture or any(word in key.split(".") for word in words)


def test_the_opening_sentences_are_explained_in_these_words(service: EncoderService) -> None:
    pet, code = Sentence("I love my pet python"), Sentence("I love coding in python")
    score, view = score_on(service, pet, code), ViewState(score_model(), (pet, code))
    left, swapped = leave_out(score, service), swap_in(score, service)
    assert str(title_of(left)) == "Removing “python” from A lowers the similarity most"
    assert str(title_of(swapped)) == "Swapping in “in” for “pet” moves A furthest towards B"
    off = title_of(switch_off(view, score, service))
    assert str(off) == "Switching off head 3 of layer 6 lowers the similarity most"
    edits = edits_of(score, service)
    assert say("why.edits.foreign").endswith("it is not clearly English.")
    assert "“I do not love my pet python”" in str(edits_reading(edits, None).sentences[1])


def test_equal_sentences_are_said_to_be_equal(service: EncoderService) -> None:
    cat = Sentence("My cat"), Sentence("my CAT")
    shown = swap_in(score_on(service, *cat), service)
    assert str(title_of(shown)) == "To the model, both sentences are the same"
    assert "To the model, A and B are the same" in str(reading_of(shown).sentences[0])


def score_model() -> str:
    from components.core import BUNDLED_ID

    return BUNDLED_ID
