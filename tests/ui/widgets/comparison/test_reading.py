"""Meaning in context in words: verdicts and numbers against plain numpy, on any comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim
from contextlens.ui.widgets.comparison.reading import (
    EQUAL,
    NOISE,
    BandOf,
    leanings,
    meaning_in_context,
    meaning_sure,
    meaning_title,
)
from tests.support.claims import read, unreached

LETTERS = "ABCDEFGH"
N = 2_000


def made(
    values: Mapping[str, Sequence[float]],
    *,
    sentences: Sequence[str] = ("python", "python"),
    references: Sequence[str] = (),
) -> Comparison:
    """A comparison with given cosines: "AB" for two sentences, "A0" for a sentence and the first
    reference, each over the layers from 0 on; what is not given is 0."""
    n = len(sentences) + len(references)
    cosines = np.zeros((len(next(iter(values.values()))), n, n))
    places = {letter: i for i, letter in enumerate(LETTERS[: len(sentences)])}
    places |= {str(i): len(sentences) + i for i in range(len(references))}
    for (a, b), along in values.items():
        cosines[:, places[a], places[b]] = along
    return comparison_of(cosines, sentences, references)


def comparison_of(
    cosines: np.ndarray, sentences: Sequence[str], references: Sequence[str]
) -> Comparison:
    upper = np.triu(cosines, 1)
    whole = (upper + np.swapaxes(upper, 1, 2) + np.eye(cosines.shape[-1])).astype(np.float32)
    own = [Item(LETTERS[i], word, "sentence", i) for i, word in enumerate(sentences)]
    items = (*own, *(Item("", word, "reference", 8) for word in references))
    vectors = np.zeros((len(items), len(whole), 2), np.float32)
    return Comparison(items, tuple(range(len(whole))), vectors, whole, whole[0], centred=False)


def band_of(low: float, mean: float, high: float, n_layers: int = 20) -> BandOf:
    band = Band(*(np.full(n_layers, value, np.float32) for value in (low, mean, high)))
    return lambda _: band


def none(_: Pair) -> None:
    """No random pairs to compare a pair with."""


def odd(random: np.random.Generator) -> Comparison:
    """Any cosines; some so coarse that there are ties, some hardly different."""
    n_sentences = int(random.integers(1, 9))
    n_references = int(random.integers(0 if n_sentences > 1 else 1, 5))
    n = n_sentences + n_references
    spread = random.choice([1.0, 0.3, 0.01, 0.0])
    cosines = 0.5 + spread * random.uniform(-1, 0.5, (int(random.integers(1, 9)), n, n))
    step = random.choice([0.0, 0.005, 0.1, 0.5])
    if step:
        cosines = np.round(cosines / step) * step
    if random.random() < 0.3:
        cosines[0] = 1.0
    if random.random() < 0.05:
        cosines[:] = random.choice([0.98, 1.0])
    names = [f"own{i}" for i in range(n_sentences)], [f"ref{i}" for i in range(n_references)]
    return comparison_of(np.clip(cosines, -1, 1), *names)


STORY = made(
    {
        "AB": [1.0, 0.96, 0.93, 0.78],
        "A0": [0.34, 0.53, 0.56, 0.51],
        "B0": [0.34, 0.47, 0.47, 0.28],
        "A1": [0.25, 0.38, 0.41, 0.26],
        "B1": [0.25, 0.40, 0.43, 0.41],
    },
    references=("snake", "programming"),
)


def test_the_story_is_told_in_three_sentences() -> None:
    assert [str(own) for own in meaning_in_context(STORY, 3, band_of(-0.1, 0.02, 0.15))] == [
        (
            "At layer 3, “python” in A and “python” in B have a similarity (cosine) of **0.78**: "
            "more than random words usually have (−0.10 to 0.15)."
        ),
        "“snake” is closer to “python” in A (**0.51**) than in B (**0.28**).",
        "“programming” is closer to “python” in B (**0.41**) than in A (**0.26**).",
    ]
    assert [own.key for own in meaning_sure(STORY, 3, none)] == [
        "meaning.sure.start", "meaning.sure.holds", "meaning.sure.holds", "meaning.sure.noise",
    ]  # fmt: skip
    assert str(meaning_sure(STORY, 3, band_of(-0.1, 0.02, 0.15))[1]) == (
        "At this layer, 9 in 10 random pairs of English words have a similarity of −0.10 to 0.15."
    )
    assert str(meaning_sure(STORY, 3, none)[1]).startswith("At layers 1 to 3, “snake” is closer")


@pytest.mark.slow
def test_every_claim_on_odd_comparisons_holds_and_each_is_said() -> None:
    random, said = np.random.default_rng(7), []
    for _ in range(N):
        comparison, low = odd(random), float(random.uniform(-0.2, 0.9))
        row = int(random.integers(len(comparison.layers)))
        band = random.choice([none, band_of(low, low + 0.1, low + 0.2)])
        is_equal = comparison.cosines.min() >= EQUAL
        if random.random() < (0.5 if is_equal else 0.1):
            comparison = strange(comparison, random)
        claims = meaning_in_context(comparison, row, band)
        for claim in claims:
            check(claim, comparison, row, None if band is none else (low, low + 0.1, low + 0.2))
        gaps = references(comparison, row)
        spoken = [own.reference for own in leanings(comparison, row, band)[:2]]
        widest = sorted(gaps.values(), reverse=True)[:2]
        assert [gaps[reference] for reference in spoken] == pytest.approx(widest)
        assert len(claims) == (len(own_of(comparison)) > 1) + min(2, len(gaps))
        said += [*claims, *meaning_sure(comparison, row, band), title_of(comparison)]
    keys = read(said)
    named = {"similarity.plain", "similarity.short", "similarity.centred"}
    assert set(unreached("similarity", keys)) <= named
    assert set(unreached("meaning", keys)) <= {"meaning.item", "meaning.reference.closer.uses"}


def strange(comparison: Comparison, random: np.random.Generator) -> Comparison:
    """The same cosines, but some words are unknown, or all have the same tokens."""
    twins = bool(random.random() < 0.5)
    unknown = (random.random(len(comparison.items)) < 0.6) & (not twins)
    items = [
        replace(item, token_ids=(5292, 7405) if twins else (i,), unknown=bool(unknown[i]))
        for i, item in enumerate(comparison.items)
    ]
    return replace(comparison, items=tuple(items))


def own_of(comparison: Comparison) -> list[int]:
    return [i for i, item in enumerate(comparison.items) if item.role == "sentence"]


def references(comparison: Comparison, row: int) -> dict[int, float]:
    """Each reference's range of similarity to the sentences' words."""
    own = own_of(comparison)
    others = [j for j in range(len(comparison.items)) if j not in own]
    return {j: float(np.ptp(comparison.cosines[row, own, j])) for j in others}


def check(
    claim: Claim, comparison: Comparison, row: int, band: tuple[float, float, float] | None
) -> None:
    own, cosines = own_of(comparison), comparison.cosines[row].astype(float)
    pairs = cosines[own][:, own][np.triu_indices(len(own), 1)]
    verdict, numbers = claim.key.removesuffix(".both").removesuffix(".all"), claim.numbers
    verdict = "closer" if ".closer." in verdict else verdict.rsplit(".", 1)[1]
    high, low = numbers.get("high"), numbers.get("low")
    names = {item.word: i for i, item in enumerate(comparison.items)}

    def cosine(first: str, second: str) -> float:
        i, j = (names[name.split("“")[1].split("”")[0]] for name in (first, second))
        return float(cosines[i, j])

    if claim.key.startswith("similarity."):
        value = cosine(numbers["first"], numbers["second"])
        assert numbers["cosine"] == pytest.approx(value)
        assert (verdict == "alone") == (band is None)
        if band is not None:
            near = f"{value:.2f}" == f"{np.float32(band[1]):.2f}"
            side = "above" if value > np.float32(band[2]) else "within"
            side = "below" if value < np.float32(band[0]) else side
            assert verdict == ("within" if near else side)
    elif claim.key in {"meaning.pair.start", "meaning.pair.equal"}:
        assert pairs[0] >= EQUAL
        assert (verdict == "start") == (row == 0)
    elif verdict == "unknown":
        involved = [comparison.items[i] for i in own]
        if claim.key.startswith("meaning.reference."):
            involved = [comparison.items[names[numbers["reference"].strip("“”")]], *involved]
        unknown = [item.word for item in involved if item.unknown]
        assert numbers["words"].startswith(f"“{unknown[0]}”")
    elif claim.key in {"meaning.pair.same", "meaning.pair.twins"}:
        assert numbers["ids"] == "5292 7405"
        is_same = comparison.along(comparison.pairs("sentences")[0]).min() >= EQUAL
        assert (verdict == "same") == is_same
    elif claim.key.startswith("meaning.pairs."):
        assert (low, high) == pytest.approx((pairs.min(), pairs.max()))
        alike = high - low < NOISE or f"{low:.2f}" == f"{high:.2f}"
        assert (verdict == "spread") != alike
        if verdict == "spread":
            assert cosine(numbers["first"], numbers["second"]) == pytest.approx(high)
            assert cosine(numbers["third"], numbers["fourth"]) == pytest.approx(low)
    elif claim.key.startswith("meaning.reference."):
        column = cosines[own, names[numbers["reference"].strip("“”")]]
        assert (low, high) == pytest.approx((column.min(), column.max()))
        if verdict == "closer":
            for word, sentence, value in (("near", "a", high), ("far", "b", low)):
                assert cosine(numbers[word], numbers["reference"]) == pytest.approx(value)
                assert LETTERS.index(numbers[sentence]) == names[numbers[word].strip("“”")]
        if verdict == "neither":
            assert band is not None
            near = f"{np.float32(high):.2f}" == f"{np.float32(band[1]):.2f}"
            assert near or high <= np.float32(band[2])
        else:
            alike = high - low < NOISE or f"{low:.2f}" == f"{high:.2f}"
            assert (verdict in {"alike", "equal"}) == alike


def test_a_similarity_that_rests_on_an_unknown_word_says_nothing() -> None:
    known = made({"AB": [0.19, 0.19], "A0": [0.9, 0.9]}, sentences=("glad😊", "glad"),
                 references=("joy",))  # fmt: skip
    glad, *others = known.items
    comparison = replace(known, items=(replace(glad, unknown=True), *others))
    own, reference = meaning_in_context(comparison, 1, band_of(-0.1, 0.02, 0.15))
    assert (own.key, own.numbers["cosine"]) == ("meaning.pair.unknown", pytest.approx(0.19))
    assert str(own).startswith("The model cannot read “glad😊” in A, which becomes the unknown")
    assert reference.key == "meaning.reference.unknown"
    assert meaning_title(comparison).key == "meaning.title.plain"


def test_two_spellings_of_the_same_tokens_are_the_same_to_the_model() -> None:
    same = made({"AB": [1.0, 1.0]}, sentences=("hacia", "hacía"))
    items = [replace(item, token_ids=(5292, 7405)) for item in same.items]
    same = replace(same, items=tuple(items))
    (claim,) = meaning_in_context(same, 1, none)
    assert (claim.key, claim.numbers["ids"]) == ("meaning.pair.same", "5292 7405")
    assert str(meaning_title(same)) == "At every layer, these words are the same to this model"


# The title


def title_of(comparison: Comparison) -> Claim:
    """The title, checked against plain numpy."""
    along = [(p, comparison.along(p)) for p in comparison.pairs("sentences")]
    title = meaning_title(comparison)
    is_known = not any(comparison.has_unknown(p) for p, _ in along)
    if not along or len(comparison.layers) < 2 or not is_known:
        expected = ("meaning.title.plain", {})
    else:
        falls = [values[0] - values.min() for _, values in along]
        widest = max(falls)
        pair, values = along[falls.index(widest)]
        a, b = LETTERS[pair.first], LETTERS[pair.second]
        steps = -np.diff(values)
        if min(own.min() for _, own in along) >= EQUAL:
            expected = ("meaning.title.same", {})
        elif widest < NOISE:
            key = "apart" if min(own[0] for _, own in along) < 0.95 else "together"
            expected = (f"meaning.title.{key}", {"first": 0})
        elif len(falls) > 1 and widest - sorted(falls)[-2] < NOISE:
            expected = ("meaning.title.several", {"first": 0, "fall": widest})
        elif len(steps) > 1 and np.diff(np.sort(steps))[-1] < NOISE:
            last = int(values.argmin())
            expected = ("meaning.title.slowly", {"first": 0, "last": last, "a": a, "b": b})
        else:
            layer = int(steps.argmax()) + 1
            expected = ("meaning.title.at_once", {"layer": layer, "a": a, "b": b})
    assert title.key == expected[0]
    assert title.numbers == pytest.approx(expected[1])
    return title


@pytest.mark.parametrize(
    ("along", "title"),
    [
        ([1.0, 0.96, 0.93, 0.78], "A and B separate most at layer 3"),
        ([1.0, 1.0, 0.995], "These words stay similar at every layer"),
        ([1.0, 0.983, 0.99], "These words stay similar at every layer"),  # as a full stop makes
        ([0.1, 0.1, 0.1], "These words have different vectors from layer 0 on"),
        ([1.0, 0.636, 0.279], "A and B separate between layers 0 and 2"),
        ([0.5], "How similar the words are at each layer"),
    ],
)
def test_the_title_says_where_the_words_separate(along: list[float], title: str) -> None:
    assert str(meaning_title(made({"AB": along}))) == title


def test_a_typed_word_is_escaped_and_cut_and_stands_in_no_title() -> None:
    rude = made({"AB": [1.0, 0.5]}, sentences=("<b>*$x_1$", "y" * 5000))
    said = str(meaning_in_context(rude, 1, none)[0])
    assert r"\<b\>\*\$x\_1\$" in said.replace("\u2060", "")
    assert len(said) < 200
    assert str(meaning_title(rude)) == "A and B separate most at layer 1"
