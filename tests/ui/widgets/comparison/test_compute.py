"""From a view to what is compared: any text and word works or is named with what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import split_words
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from contextlens.ui.widgets.comparison.compute import (
    Meaning,
    chosen_span,
    meaning_of,
    missing,
    portrait_of,
)
from contextlens.ui.widgets.comparison.controls import LINES, POOLING
from tests.support.cosines import expected
from tests.support.pages import view_of
from tests.support.texts import TYPED


def meaning(view: ViewState, service: EncoderService) -> Meaning:
    return meaning_of(view, service, service.load(view.model), None)


def whole_words(text: str) -> list[tuple[int, int]]:
    words = split_words(text) if text.strip() else ()
    return sorted({*words[:2], *words[-1:]})


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_word_of_any_text_is_compared_or_named_with_the_reason(
    text: str, service: EncoderService
) -> None:
    for span in whole_words(text):
        view = replace(DEFAULT, sentences=(Sentence(text, None, span), DEFAULT.sentences[1]))
        assert not missing(view.sentences[0], "sentence")
        found = meaning(view, service)
        assert found.comparison is not None
        assert len(found.chosen) + len(found.problems) == 4
        assert np.isfinite(found.comparison.cosines).all()
        assert np.isfinite(found.comparison.static).all()
        if found.problems:
            assert len(found.problems) == 1
            assert "Choose" in found.problems[0]


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_compared_as_a_reference_or_named_with_the_reason(
    text: str, service: EncoderService
) -> None:
    view = replace(DEFAULT, references=(Sentence(text), DEFAULT.references[1]))
    found = meaning(view, service)
    assert found.comparison is not None
    lacking = missing(view.references[0], "reference")
    assert len(found.chosen) + len(found.problems) + bool(lacking) == 4
    assert bool(lacking) == (not text.strip())
    assert np.isfinite(found.comparison.cosines).all()


@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_cosines_are_those_of_the_model_s_word_vectors(
    pooling: str, service: EncoderService
) -> None:
    view = POOLING.put(DEFAULT, pooling)
    found = meaning(view, service).comparison
    assert found is not None
    for pair, row in zip(found.pairs(), expected(service, view, pooling), strict=True):
        np.testing.assert_allclose(found.along(pair), row[:-1], atol=1e-5)
        assert found.static[pair.first, pair.second] == pytest.approx(row[-1], abs=1e-5)


def test_a_word_is_chosen_only_where_it_is_a_whole_one() -> None:
    assert chosen_span(Sentence("my python", None, (3, 9))) == (3, 9)
    for span in [(3, 8), (4, 9), (0, 1)]:
        sentence = Sentence("my python", None, span)
        assert chosen_span(sentence) is None
        assert missing(sentence, "sentence") == "Choose a word of this sentence."
    assert missing(Sentence(" "), "reference").startswith("This reference is empty.")


def test_without_two_words_there_is_nothing_to_show(service: EncoderService) -> None:
    only = view_of(Sentence("my python", None, (3, 9)))
    references = replace(DEFAULT, sentences=(Sentence("no word is chosen here"),))
    for view in (only, references, view_of(Sentence(""))):
        assert portrait_of(meaning(view, service), view) is None


def test_the_portrait_follows_the_view_where_it_can(service: EncoderService) -> None:
    found = meaning(DEFAULT, service)
    for layer, shown in [(None, 6), (0, 0), (3, 3), (999, 6)]:
        view = replace(DEFAULT, layer=layer)
        portrait = portrait_of(found, view)
        assert portrait is not None
        assert portrait.layer == shown
    counts = {}
    for kind in LINES.options:
        portrait = portrait_of(found, LINES.put(DEFAULT, kind))
        assert portrait is not None
        counts[kind] = len(portrait.pairs)
    assert counts == {"Main": 3, "All": 5, "Sentences": 1, "References": 4}


def test_lines_of_a_kind_that_there_is_none_of_are_not_an_empty_picture(
    service: EncoderService,
) -> None:
    view = LINES.put(replace(DEFAULT, references=()), "References")
    portrait = portrait_of(meaning(view, service), view)
    assert portrait is not None
    assert len(portrait.pairs) == 1


def test_the_passport_says_how_words_were_compared(service: EncoderService) -> None:
    passport = meaning(POOLING.put(DEFAULT, "last"), service).passport
    assert passport.model == BUNDLED_ID
    assert passport.settings["pooling"] == "last"
    assert passport.settings["centred"] is False
    assert "baseline_pairs" not in passport.settings  # none was measured yet
