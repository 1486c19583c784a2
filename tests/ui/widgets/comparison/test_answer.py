"""The answer of a comparison: verdicts and numbers against plain numpy, on any cosines."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.analysis.sense_names import Naming, SenseNames
from contextlens.analysis.similarity import Comparison, Item, Pair
from contextlens.content.glossary import unmarked
from contextlens.content.language import Claim
from contextlens.ui.widgets.comparison.answer import (
    Answer,
    answer,
    answer_of_single,
    evidence,
    source,
)
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import NOISE
from contextlens.ui.widgets.comparison.senses import NamedUses, OwnSenses, verdict_of
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
    meaning: Any = SimpleNamespace(band=lambda _: band, yardstick=None, pooling="mean")
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


SPLIT = [(0.51, 0.28), (0.26, 0.41)]
BAND = band_of(-0.1, 0.0, 0.15)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            portrait(of([1, 0.78], *SPLIT), layer=1, band=BAND),
            "A is closer to “ref0”, B to “ref1”.",
        ),
        (
            portrait(of([1, 0.78], SPLIT[0]), layer=1, band=BAND),
            "The model cannot tell. Add a word for each meaning of “python”, "
            "such as animal and language.",
        ),
        (
            portrait(of([0.3, 0.4]), ("pet", "python"), layer=1, band=BAND),
            "To the model, “pet” and “python” are related.",
        ),
    ],
)
def test_without_senses_the_answer_is_what_the_numbers_hold(own: Portrait, expected: str) -> None:
    assert str(answer(own, None)) == expected


@pytest.mark.parametrize(
    ("references", "unknown", "expected"),
    [
        ((0.2, 0.5), (), "To the model, “python” and “ref1” are related."),
        ((0.1,), (), "To the model, “python” and “ref0” are no closer than unrelated words."),
        ((0.5, 0.2), (0,), "The model cannot read “python”."),
    ],
)
def test_a_single_sentence_is_answered_by_its_nearest_reference(
    references: tuple[float, ...], unknown: tuple[int, ...], expected: str
) -> None:
    cosines = np.eye(1 + len(references))[None]
    cosines[0, 0, 1:] = cosines[0, 1:, 0] = references
    own = portrait(cosines, ("python",), band=BAND, unknown=unknown)
    assert str(answer_of_single(own)) == expected


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
        is_pending = bool(random.random() < 0.05)
        head = answer(own, None, is_pending=is_pending)
        check(head, own, pairs, cosine, is_pending=is_pending)
        said += head.claims
        said += several(random)
    left = {key for key in unreached("answer", read(said)) if ".evidence." not in key}
    of_senses = {"answer.sense", "answer.unclear", "answer.one_meaning"}
    of_senses |= {"answer.source.all", "answer.source.sample"}
    assert left == {*of_senses, "answer.cannot_tell.plain"}, "these are tested below"


def test_the_words_stand_in_the_evidence() -> None:
    two = portrait(of([0.6, 0.5], *SPLIT), ("pet", "python"), layer=1, band=BAND)
    assert [str(own) for own in evidence(two, None)] == [
        "“ref0” is closer to “pet” (A, **0.51**) than to “python” (B, **0.28**).",
        "“ref1” is closer to “python” (B, **0.41**) than to “pet” (A, **0.26**).",
    ]
    one = portrait(of([1, 0.78], *SPLIT), layer=1, band=BAND)
    first = "“ref0” is closer to “python” in A (**0.51**) than in B (**0.28**)."
    assert str(evidence(one, None)[0]) == first


def test_look_alikes_with_other_tokens_are_two_words() -> None:
    own = portrait(of([0.3, 0.4]), ("\ufb01ne", "fine"), layer=1, band=BAND)
    other = replace(own.comparison.items[1], token_ids=(99,))
    comparison = replace(own.comparison, items=(own.comparison.items[0], other))
    assert answer(own, None).key == "answer.cannot_tell.plain"
    split = answer(replace(own, comparison=comparison), None)
    assert str(split) == "To the model, “\ufb01ne” and “fine” are related."


def several(random: np.random.Generator) -> list[Claim]:
    """The headline and the evidence on three sentences, checked."""
    spread = random.choice([0.5, 0.05, 0.02])
    values = np.float32(0.4 + spread * random.uniform(-1, 1, 3))
    cosines = np.eye(3)
    for (i, j), value in zip(combinations(range(3), 2), values, strict=True):
        cosines[i, j] = cosines[j, i] = value
    unknown = (2,) if random.random() < 0.1 else ()
    own = portrait(cosines[None], ("good", "good", "bad"), unknown=unknown)
    (head,), (numbers,) = answer(own, None).claims, evidence(own, None)
    low, middle, high = sorted(values.tolist())
    expected = "closest" if high - middle >= NOISE else "no_closest"
    expected = "all_alike" if high - low < NOISE else expected
    assert head.key == f"answer.{'unknown' if unknown else expected}"
    if head.key.endswith(".closest"):
        best = list(combinations("ABC", 2))[int(values.argmax())]
        assert (head.numbers["a"], head.numbers["b"]) == best
    if unknown:
        assert (numbers.key, numbers.numbers["n"]) == ("meaning.pairs.unknown", 1)
    else:
        assert (numbers.numbers["low"], numbers.numbers["high"]) == pytest.approx((low, high))
    return [head]


def check(
    head: Answer, own: Portrait, pairs: np.ndarray, cosine: float, *, is_pending: bool
) -> None:
    """The first of these that holds, and what the references say on one word's two uses."""
    key = head.key.removeprefix("answer.")
    words = {item.word for item in own.comparison.items[:2] if not item.unknown}
    unknown, band = own.comparison.has_unknown(PAIR), own.meaning.band(PAIR)
    nearer: dict[str, list[tuple[float, str]]] = {"A": [], "B": []}
    for i, (a, b) in enumerate(np.float32(pairs).reshape(-1, 2).tolist()):
        if band is not None and abs(a - b) >= 0.03 and max(a, b) > np.float32(0.15):
            nearer["A" if a > b else "B"].append((abs(a - b), f"ref{i}"))
    leans = [] if unknown or own.comparison.are_twins(PAIR) else evidence(own, None)
    if not (unknown or own.comparison.are_twins(PAIR)):
        assert bool(leans) == all(nearer.values())
    for side, claim in zip("AB", leans, strict=False):
        name = max(nearer[side])[1]
        assert (claim.numbers["reference"], claim.numbers["a"]) == (f"“{name}”", side)
        ends = sorted(pairs[int(name[3:])])
        assert [claim.numbers["low"], claim.numbers["high"]] == pytest.approx(ends)
    if own.comparison.items[1].word == "Python":
        expected = "other_references" if len(pairs) > 1 else "cannot_tell.such"
        assert head.asks == (key in {"other_references", "cannot_tell.such"})
        assert head.suggestions == (("animal", "language") if head.asks else ())
        expected = "references" if leans else expected
        expected = "start" if own.layer == 0 else expected
        expected = "pending" if is_pending else expected
        expected = "equal" if cosine >= EQUAL else expected
    else:
        expected = "plain" if band is None else "unrelated"
        expected = "similar" if band is not None and cosine > 0.15 else expected
        expected = "equal" if cosine >= EQUAL else expected
        if own.comparison.are_twins(PAIR):
            is_same = own.comparison.along(PAIR).min() >= EQUAL
            expected = "same" if is_same else "twins"
        expected = f"two_words.{expected}"
        assert unknown or all(f"“{word}”" in str(head) for word in words)
    assert key == ("unknown" if unknown else expected)


def named(*senses: str | None, alike: float = 0.5) -> NamedUses:
    """Uses of "bat" with these clear senses, or None for one between the two."""
    namings = tuple(
        Naming(sense or "animal", 0.1 if sense else 0.001, sense is not None) for sense in senses
    )
    n = len(senses)
    angles = np.arccos(alike) * np.arange(n) / 2
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None].astype(np.float32)
    cosines = np.full((n, n), alike)
    names = SenseNames(
        np.array(["animal", "sport"]),
        np.zeros((1, 2), np.float32),
        np.eye(2, dtype=np.float32)[None],
        np.array([0.05], np.float32),
    )
    letters = tuple("ABCDEFGH"[:n])
    verdict = verdict_of(namings, cosines)
    return NamedUses("bat", names, 0, tuple(range(n)), letters, vectors, namings, verdict)


@pytest.mark.parametrize(
    ("uses", "expected", "evidence_key"),
    [
        (named("animal", "sport"), "A: the animal. B: the sports bat.", "named"),
        (named("animal", "animal"), "A and B: the animal.", "named"),
        (named("animal", None), "A: the animal. B: cannot tell.", "between"),
        (named("sport", "animal", "sport"), "A and C: the sports bat. B: the animal.", "named"),
        (named(None, None, alike=0.97), "A and B: one meaning.", "alike"),
        (named("animal", None, alike=0.97), "A and B: the animal.", "alike"),
    ],
)
def test_senses_are_the_answer(uses: NamedUses, expected: str, evidence_key: str) -> None:
    n = len(uses.letters)
    cosines = np.where(np.eye(n, dtype=bool), 1.0, 0.6)[None]
    own = portrait(cosines, ("bat",) * n)
    found = answer(own, uses, is_pending=True)
    assert str(found) == expected
    assert not found.asks
    (numbers,) = evidence(own, uses)
    assert numbers.key == f"answer.evidence.{evidence_key}"
    assert "{" not in str(numbers)


def test_uses_between_two_senses_ask_for_a_word_for_each() -> None:
    own = portrait(of([1, 0.78]), ("bat", "Bat"), layer=1, band=BAND)
    found = answer(own, named(None, None))
    assert (found.key, found.suggestions) == ("answer.cannot_tell.such", ("animal", "sport"))
    namings = (Naming("sport", 0.001, is_clear=False),) * 2
    assert answer(own, replace(named(None, None), namings=namings)).suggestions[0] == "sport"
    assert answer(portrait(of([1, 0.78], *SPLIT), layer=1, band=BAND), named(None, None)).key == (
        "answer.references"
    )


def test_labels_of_the_visitor_are_shown_as_typed_with_where_they_come_from() -> None:
    ready = named("animal", "sport")
    names = replace(ready.names, senses=np.array(["<i>", "*b*"]))
    namings = (Naming("<i>", 0.1, is_clear=True), Naming("*b*", 0.001, is_clear=False))
    own = OwnSenses("bat", names, "my_bats.csv", "my `label`", 200, 4_000)
    uses = replace(ready, names=names, namings=namings, own=own)
    pair = portrait(of([1, 0.78]), ("bat", "Bat"), layer=1, band=BAND)
    assert unmarked(str(answer(pair, uses))) == "A: “<i>”. B: cannot tell."
    assert unmarked(str(source(uses))) == (
        "The names come from the label “my `label`” of “my_bats.csv”: a sample of 200 of 4,000 "
        "texts with “bat”."
    )
    assert source(ready) is None
    neither = replace(uses, namings=(namings[1],) * 2)
    assert answer(pair, neither).suggestions == ("animal", "sport"), "a label is no word"
