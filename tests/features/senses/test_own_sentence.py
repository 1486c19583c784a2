"""A visitor's sentence: its sense or group, the nearest uses, and their claims."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from contextlens.analysis.sense_names import measure
from contextlens.analysis.separation import LOW_COSINE, LOW_MARGIN
from contextlens.content.wording import quoted
from contextlens.core import EncoderService
from contextlens.features.senses.controls import MAX_SENTENCE_CHARACTERS
from contextlens.features.senses.own_sentence import FORMULA, OwnSentence, SenseMatch
from contextlens.features.senses.senses import Senses, senses_in
from tests.support.odd import Said, assert_said, odd_names
from tests.support.senses import HALF, SENSES, TEXTS, live, senses_view, shown, word_uses

NO_POSITIONS = np.zeros((0, 2), np.float32)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pythons", "“python” does not occur in your sentence"),
        ("python " * 2_000, f"and at most {MAX_SENTENCE_CHARACTERS:,} are compared."),
        ("word " * 200 + "python", "lies beyond the part of your sentence that the model reads."),
    ],
)
def test_a_sentence_that_cannot_be_compared_gives_the_reason(
    tiny_service: EncoderService, text: str, sentence: str
) -> None:
    senses = shown(tiny_service, live(tiny_service, sense=SENSES), own=text)
    assert senses.sentence is not None
    assert sentence in senses.sentence.problem
    assert (senses.cosines, senses.sentence.claims()) == (None, [])
    assert len(senses.concordance.lines) == 8


def test_a_sentence_of_the_corpus_is_nearest_to_itself(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    senses = shown(tiny_service, corpus, own=TEXTS[6], sort="cosine")
    assert senses.sentence is not None
    assert senses.sentence.near[0] == senses.concordance.lines[0].index == 6
    assert senses.sentence.cosines[6] == pytest.approx(1, abs=1e-5)
    positions = senses.by_layer.planes[senses.layer].positions
    np.testing.assert_allclose(senses.sentence.positions[senses.layer], positions[6], atol=1e-4)
    match = senses.sentence.match
    assert match is not None
    assert match.kind == "sense"
    assert set(match.names) == {"snake", "language"}
    assert match.margin == pytest.approx(match.cosines[0] - match.cosines[1], abs=1e-6)
    expected = "in"
    expected = "between" if match.margin < match.low_margin else expected
    expected = "unlike" if match.cosines[0] < match.low_cosine else expected
    assert senses.separation is not None
    low = senses.separation.interval[0]
    expected = "unclear" if round(100 * low) <= round(100 * senses.uses.trial.chance) else expected
    assert match.verdict == expected


def test_the_names_of_the_ready_corpus_decide_where_there_are_any(
    tiny_service: EncoderService,
) -> None:
    corpus = live(tiny_service, sense=SENSES)
    plain = shown(tiny_service, corpus, own=TEXTS[6])
    vectors = np.stack([corpus.vectors(plain.uses.occurrences, n) for n in corpus.layers], axis=1)
    labels = plain.uses.labels
    names = measure([*labels, *labels], np.concatenate([vectors, vectors]), vectors.mean(axis=0))
    assert names is not None
    for margin, verdict in ((0.0, "in"), (2.0, "between"), (np.inf, "unclear")):
        margins = np.full(len(corpus.layers), margin, dtype=np.float32)
        view = senses_view(word="python", own=TEXTS[6])
        senses = senses_in(corpus, view, tiny_service, names=replace(names, margins=margins))
        assert isinstance(senses, Senses)
        assert senses.sentence is not None
        match = senses.sentence.match
        assert match is not None
        naming = names.name(vectors[6, -1], len(corpus.layers) - 1)
        assert (match.verdict, match.names[0]) == (verdict, naming.nearest)
        assert match.margin == pytest.approx(naming.margin, abs=1e-5)
        assert match.cosines[0] - match.cosines[1] == pytest.approx(naming.margin, abs=1e-5)


def test_without_labels_a_sentence_gets_a_group(tiny_service: EncoderService) -> None:
    sentence = shown(tiny_service, live(tiny_service), own=TEXTS[0], groups="2").sentence
    assert sentence is not None
    assert sentence.match is not None
    assert sentence.match.kind == "group"
    alone = shown(tiny_service, live(tiny_service), own=TEXTS[0] + " python").sentence
    assert alone is not None
    assert (alone.match, alone.n_more) == (None, 1)


def test_the_claims_on_a_sentence_are_true() -> None:
    said = Said()
    for seed in range(900):
        chance = random.Random(seed)
        labels = chance.choice((["a"] * 8 + ["b"] * 8, [""] * 16))
        near = tuple(chance.sample(range(16), 10))
        cosines = np.array([chance.uniform(-1, 1) for _ in range(16)])
        kind = chance.choice(("sense", "group"))
        verdict = chance.choice(("in", "between", "unlike", *(["unclear"] * (kind == "sense"))))
        a, b, low = (chance.uniform(-1, 1) for _ in range(3))
        names = tuple(odd_names(chance, 3))
        named = bool(chance.random() < 0.3)
        match = SenseMatch(kind, names, (a, b, b), a - b, 0.03, low, verdict, named)
        n_more = chance.choice((0, 1, 5))
        sentence = OwnSentence(word_uses(labels), 3, n_more, cosines, near, match, NO_POSITIONS)
        sentence = replace(sentence, match=chance.choice((match, None)))
        claims = said(sentence.claims())
        case = "nearest_labelled" if labels[near[0]] else "nearest"
        assert_said(claims, f"senses.own.{case}", cosine=float(cosines[near[0]]))
        if sentence.match is None:
            assert len(claims) == 1
        elif verdict == "unclear":
            assert_said(claims, "senses.own.unclear", layer=3)
        else:
            first = quoted(names[0])
            assert_said(claims, f"senses.own.{kind}.{verdict}", first=first, a=a, b=b, low=low)
        sure = said(sentence.sure())
        has_margin = sentence.match is not None and verdict in {"in", "between"}
        assert len(sure) == has_margin + bool(n_more)
        if has_margin:
            key = "senses.own.named_margin" if named else "senses.own.margin"
            assert_said(sure, key, margin=a - b, low_margin=0.03)
    said.assert_all("senses.own", without=("senses.own.empty", "senses.own.mark"))


def test_the_sense_of_a_sentence_in_whole_sentences() -> None:
    match = SenseMatch("sense", ("animal", "language"), (0.8, 0.7), 0.1, 0.03, 0.5, "in")
    cosines = np.linspace(0.9, 0.1, 32).astype(np.float32)
    sentence = OwnSentence(HALF, 3, 0, cosines, tuple(range(10)), match, NO_POSITIONS)
    assert list(map(str, sentence.claims())) == [
        "Your sentence is closest to the sense “animal” (similarity **0.80**), ahead of "
        "“language” (0.70).",
        "The most similar use is “a python”, labelled “animal”: similarity (cosine) **0.90**.",
    ]
    assert str(sentence.sure()[0]) == (
        "The two similarities differ by 0.100. For 9 in 10 labelled uses, this difference "
        "is at least 0.030."
    )


def test_the_explanation_has_the_numbers_of_the_code() -> None:
    assert LOW_MARGIN == 0.1
    assert "lowest tenth" in FORMULA
    assert LOW_COSINE == 0.05
    assert "lowest twentieth" in FORMULA
