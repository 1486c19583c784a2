"""The story's sentences: verdicts and numbers against plain numpy, on any cosines."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import KINDS, Calibration, Range, Verdict
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.language import Claim
from contextlens.features.home.reading import (
    drawn_pairs,
    evidence,
    headline,
    how_much,
)
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import NOISE
from contextlens.ui.widgets.comparison.ruler import Fit, RulerShown
from tests.support.claims import read, unreached

PAIR = Pair(0, 1)
EQUAL = 1 - 1e-5


def portrait(
    cosines: np.ndarray,
    words: tuple[str, ...] = ("python", "Python"),
    *,
    layer: int = 0,
    band: Band | None = None,
    unknown: tuple[int, ...] = (),
    twins: bool = False,
    contexts: tuple[bool, ...] = (True, True, True),
) -> Portrait:
    """Two words and references at given cosines: (n_layers, n, n)."""
    n = cosines.shape[-1]
    known = [word.casefold() for word in words]
    ids = [(7 if twins else known.index(word),) for word in known]
    own = [
        Item("ABC"[i], word, "sentence", i, ids[i], i in unknown, contexts[i])
        for i, word in enumerate(words)
    ]
    references = [Item("", f"ref{i}", "reference", i) for i in range(n - len(words))]
    comparison = Comparison(
        items=(*own, *references),
        layers=tuple(range(len(cosines))),
        vectors=np.zeros((n, len(cosines), 2), np.float32),
        cosines=cosines.astype(np.float32),
        static=cosines[0].astype(np.float32),
        centred=False,
    )
    meaning: Any = SimpleNamespace(band=lambda _: band)
    return Portrait(meaning, comparison, comparison.pairs(), layer, (-1.0, 1.0))


def band_of(low: float, mean: float, high: float, n: int = 20) -> Band:
    return Band(*(np.full(n, value, np.float32) for value in (low, mean, high)))


def of(pair: list[float], *references: tuple[float, float]) -> np.ndarray:
    """Cosines over layers; each reference's with A and B are the same at each layer."""
    n = 2 + len(references)
    cosines = np.tile(np.eye(n), (len(pair), 1, 1))
    cosines[:, 0, 1] = cosines[:, 1, 0] = pair
    for j, (a, b) in enumerate(references, start=2):
        cosines[:, 0, j] = cosines[:, j, 0] = a
        cosines[:, 1, j] = cosines[:, j, 1] = b
    return cosines


def ruler(verdict: Verdict, cosine: float = 0.7, *, high: bool = False) -> RulerShown:
    """The cosine on a ruler with this verdict, above all labelled pairs or among them."""
    cuts = {Verdict.SAME: (None, -2), Verdict.DIFFERENT: (2, None)}.get(verdict, (None, None))
    low = cosine - 0.5 if high else cosine - 0.1
    ranges = tuple(Range(kind, low, low + 0.1, low + 0.2, 9) for kind in KINDS)
    return RulerShown(cosine, ranges, True, Calibration(*cuts, 83), 1, ())


SPLIT = [(0.51, 0.28), (0.26, 0.41)]
BAND = band_of(-0.1, 0.0, 0.15)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            portrait(of([1, 0.78], *SPLIT), layer=1, band=BAND),
            "In A, “python” is closer to “ref0”; in B, to “ref1”",
        ),
        (
            portrait(of([1, 0.78], SPLIT[0]), layer=1, band=BAND),
            "For “python”, the number alone cannot decide. "
            "Add a word for each meaning, such as river and money.",
        ),
        (
            portrait(of([0.3, 0.4]), ("pet", "python"), layer=1, band=BAND),
            "To the model, “pet” and “python” are related",
        ),
    ],
)
def test_the_headline_is_what_the_numbers_hold(own: Portrait, expected: str) -> None:
    assert str(headline(own, None)) == expected


def test_every_claim_on_odd_numbers_holds_and_each_is_said() -> None:
    random, said = np.random.default_rng(3), []
    for _ in range(2_000):
        spread = random.choice([1.0, 0.2, 0.02])
        pairs = np.round(0.2 + spread * random.uniform(-1, 0.8, (int(random.integers(6)), 2)), 3)
        along = [random.choice([1.0, 0.3]), *random.uniform(-1, 1, 2), random.choice([1.0, 0.96])]
        words = ("python", random.choice(["Python", "snake"]))
        band = random.choice(np.array([None, BAND]))
        unknown = (0,) if random.random() < 0.05 else ()
        twins = bool(random.random() < 0.05)
        contexts = tuple((random.random(3) < 0.8).tolist())
        along = [1.0] * 4 if twins and random.random() < 0.5 else along
        own = portrait(of(along, *map(tuple, pairs)), words, layer=int(random.integers(4)),
                       band=band, unknown=unknown, twins=twins, contexts=contexts)  # fmt: skip
        cosine = float(np.float32(along[own.layer]))
        verdict = random.choice(list(Verdict)) if random.random() < 0.1 else None
        shown = None if verdict is None else ruler(verdict, cosine, high=random.random() < 0.5)
        head = headline(own, shown)
        check_headline(head, own, pairs, cosine, shown)
        much = how_much(own, PAIR, None)
        assert much.numbers["cosine"] == pytest.approx(cosine)
        said += [head, much]
        said += several(random)
    assert unreached("home.headline", read(said)) == []


def test_the_words_stand_in_the_evidence() -> None:
    two = portrait(of([0.6, 0.5], *SPLIT), ("pet", "python"), layer=1, band=BAND)
    assert [str(own) for own in evidence(two)] == [
        "“ref0” is closer to “pet” (A, **0.51**) than to “python” (B, **0.28**).",
        "“ref1” is closer to “python” (B, **0.41**) than to “pet” (A, **0.26**).",
    ]
    one = portrait(of([1, 0.78], *SPLIT), layer=1, band=BAND)
    first = "“ref0” is closer to “python” in A (**0.51**) than in B (**0.28**)."
    assert str(evidence(one)[0]) == first


def test_look_alikes_with_other_tokens_are_two_words() -> None:
    own = portrait(of([0.3, 0.4]), ("\ufb01ne", "fine"), layer=1, band=BAND)
    other = replace(own.comparison.items[1], token_ids=(99,))
    comparison = replace(own.comparison, items=(own.comparison.items[0], other))
    assert headline(own, None).key == "home.headline.cannot tell"
    split = headline(replace(own, comparison=comparison), None)
    assert str(split) == "To the model, “\ufb01ne” and “fine” are related"


def several(random: np.random.Generator) -> list[Claim]:
    """The headline and the evidence on three sentences, checked."""
    spread = random.choice([0.5, 0.05, 0.02])
    values = np.float32(0.4 + spread * random.uniform(-1, 1, 3))
    cosines = np.eye(3)
    for (i, j), value in zip(combinations(range(3), 2), values, strict=True):
        cosines[i, j] = cosines[j, i] = value
    unknown = (2,) if random.random() < 0.1 else ()
    own = portrait(cosines[None], ("good", "good", "bad"), unknown=unknown)
    head, (numbers,) = headline(own, None), evidence(own)
    low, middle, high = sorted(values.tolist())
    expected = "closest" if high - middle >= NOISE else "no closest"
    expected = "all alike" if high - low < NOISE else expected
    assert head.key == f"home.headline.{'unknown' if unknown else expected}"
    if head.key.endswith(".closest"):
        best = list(combinations("ABC", 2))[int(values.argmax())]
        assert (head.numbers["a"], head.numbers["b"]) == best
    if unknown:
        assert (numbers.key, numbers.numbers["n"]) == ("meaning.pairs.unknown", 1)
    else:
        assert (numbers.numbers["low"], numbers.numbers["high"]) == pytest.approx((low, high))
    return [head]


def check_headline(
    head: Claim, own: Portrait, pairs: np.ndarray, cosine: float, shown: RulerShown | None
) -> None:
    """The first of these that holds, and what the references say on one word's two uses."""
    key = head.key.rsplit(".", 1)[1]
    words = {item.word for item in own.comparison.items[:2] if not item.unknown}
    known = words if key != "unknown" else {i.word for i in own.comparison.items if i.unknown}
    is_one = len({word.casefold() for word in words}) == 1
    assert all(f"“{word}”" in str(head) for word in known if not is_one or word != "Python")
    verdict = None if shown is None else shown.verdict
    unknown, band = own.comparison.has_unknown(PAIR), own.meaning.band(PAIR)
    nearer: dict[str, list[tuple[float, str]]] = {"A": [], "B": []}
    for i, (a, b) in enumerate(np.float32(pairs).reshape(-1, 2).tolist()):
        if band is not None and abs(a - b) >= 0.03 and max(a, b) > np.float32(0.15):
            nearer["A" if a > b else "B"].append((abs(a - b), f"ref{i}"))
    leans = [] if unknown or own.comparison.are_twins(PAIR) else evidence(own)
    if not (unknown or own.comparison.are_twins(PAIR)):
        assert bool(leans) == all(nearer.values())
    for side, claim in zip("AB", leans, strict=False):
        name = max(nearer[side])[1]
        assert (claim.numbers["reference"], claim.numbers["a"]) == (f"“{name}”", side)
        ends = sorted(pairs[int(name[3:])])
        assert [claim.numbers["low"], claim.numbers["high"]] == pytest.approx(ends)
    if own.comparison.items[1].word == "Python":
        decided = verdict not in (None, Verdict.CANNOT_TELL)
        expected = "other references" if len(pairs) > 1 else "cannot tell"
        expected = "nearly equal" if shown and shown.fit is Fit.ABOVE else expected
        expected = "references" if leans else expected
        expected = verdict.value if verdict is not None and decided else expected
        expected = "equal" if cosine >= EQUAL else expected
        assert key == ("unknown" if unknown else expected)
    else:
        expected = "two words" if band is None else "two words, unrelated"
        expected = "two words, similar" if band is not None and cosine > 0.15 else expected
        expected = "two words, equal" if cosine >= EQUAL else expected
        if own.comparison.are_twins(PAIR):
            is_same = own.comparison.along(PAIR).min() >= EQUAL
            expected = "two words, same" if is_same else "two words, twins"
        assert key == ("unknown" if unknown else expected)


def test_how_much_is_said_by_the_ruler_else_by_random_pairs() -> None:
    own = portrait(of([1, 0.78]), layer=1, band=BAND)
    assert how_much(own, PAIR, ruler(Verdict.CANNOT_TELL)).numbers["cosine"] == 0.7
    assert str(how_much(own, PAIR, None)) == (
        "Similarity (cosine) **0.78** is high for unrelated words: 9 in 10 random pairs get "
        "−0.10 to 0.15."
    )


def test_similarities_are_those_of_the_sentences_words_or_of_one_with_its_references() -> None:
    two = portrait(of([1.0, 0.9], (0.5, 0.3)))
    assert drawn_pairs(two.comparison) == [Pair(0, 1)]
    one = portrait(of([1.0, 0.9], (0.5, 0.3)), ("a",))
    assert drawn_pairs(one.comparison) == [Pair(0, 1), Pair(0, 2)]
