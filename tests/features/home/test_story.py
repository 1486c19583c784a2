"""Start here and Meaning on real pairs of words of many kinds: no sentence says what is not so."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import partial

import pytest

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.kept_arrays import load
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.similarity import Pair
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.home.reading import how_much
from contextlens.ui.models import tasks
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from contextlens.ui.widgets.comparison.answer import answer, evidence
from contextlens.ui.widgets.comparison.compute import meaning_of, portrait_of
from contextlens.ui.widgets.comparison.reading import meaning_in_context, meaning_sure
from contextlens.ui.widgets.comparison.ruler import ruler_of
from tests.support.claims import read
from tests.support.measured import measured

WORDS = (
    *("python", "Python", "pet", "bank", "unbelievability", "MachineLearning", "x", "fine", "🐍"),
    *("\ufb01ne", "caf\u00e9", "cafe\u0301", "hacia", "hac\u00eda", "नमस्ते", "1,000.5"),
)
FRAMES = ("{}", "{}", "I love my {}", "I love coding in {}", "{} is here", "{} {}", "a {}, 🐍")
REFERENCES = ("snake", "programming", "money", "python", "🐍", "a long green snake")

Measures = tuple[Baseline, Ruler]


@pytest.fixture(scope="module")
def measures(service: EncoderService, tmp_path_factory: pytest.TempPathFactory) -> Measures:
    card, folder = service.load(BUNDLED_ID), measured(tmp_path_factory)
    baseline, ruler = (
        load(Baseline, tasks.baseline_path(card, folder)),
        load(Ruler, tasks.ruler_path(card, folder)),
    )
    assert baseline is not None
    assert ruler is not None
    return baseline, ruler


def view_of(chance: random.Random) -> ViewState:
    """Two to eight sentences: any words, equal ones, or equal sentences; some with references."""
    n = chance.choice((2, 2, 2, 2, 3, 8))
    words = chance.choices(WORDS, k=n) if chance.random() < 0.6 else [chance.choice(WORDS)] * n
    frames = chance.choices(FRAMES, k=n) if chance.random() < 0.8 else [chance.choice(FRAMES)] * n
    texts = [frame.replace("{}", word) for frame, word in zip(frames, words, strict=True)]
    sentences = [
        Sentence(text, None, (text.index(word), text.index(word) + len(word)))
        for text, word in zip(texts, words, strict=True)
    ]
    references = map(Sentence, chance.sample(REFERENCES, chance.randrange(4)))
    layer = chance.choice((None, None, 0, 3))
    return replace(DEFAULT, sentences=tuple(sentences), references=tuple(references), layer=layer)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_sentence_says_what_is_not_so(
    service: EncoderService, measures: Measures, seed: int
) -> None:
    chance = random.Random(seed)
    for view in map(view_of, [chance] * 60):
        assert_true(view, service, measures)


def assert_true(view: ViewState, service: EncoderService, measures: Measures) -> None:
    baseline, ruler = measures
    portrait = portrait_of(meaning_of(view, service, service.load(BUNDLED_ID), baseline), view)
    assert portrait is not None, view
    comparison, band = portrait.comparison, portrait.meaning.band
    shown = ruler_of(portrait, ruler)
    head = answer(portrait, None)
    on_meaning = meaning_in_context(comparison, portrait.layer, band)
    sure = meaning_sure(comparison, portrait.layer, band)
    much = how_much(portrait, Pair(0, 1), shown)
    assert read([*head.claims, *evidence(portrait, None), *on_meaning, *sure, much])
    sentences = [item for item in comparison.items if item.role == "sentence"]
    if len(sentences) == 2:
        first, second = sentences
        said = re.findall("“([^”]*)”", str(head).replace("\\", ""))
        unknown = [item.word for item in sentences if item.unknown]
        if unknown:
            assert said == list(dict.fromkeys(unknown))
        elif first.token_ids != second.token_ids:
            assert said[:2] == [first.word, second.word]
        elif head.key not in {"answer.references", "answer.one_meaning"}:
            assert first.word in said
    for claim in on_meaning:
        if ".closer." in claim.key:
            values = {s.label: partial(cosine_of, portrait, s.label) for s in sentences}
            reference = claim.numbers["reference"].strip("“”").replace("\\", "")
            assert claim.numbers["high"] == max(value(reference) for value in values.values())
            assert f"({claim.numbers['a']}, " in str(claim) or " in " in str(claim)


def cosine_of(portrait: object, label: str, reference: str) -> float:
    comparison = portrait.comparison  # type: ignore[attr-defined]
    i = next(i for i, item in enumerate(comparison.items) if item.label == label)
    j = next(
        j
        for j, item in enumerate(comparison.items)
        if item.role == "reference" and item.word == reference
    )
    return float(comparison.cosines[portrait.row, i, j])  # type: ignore[attr-defined]
