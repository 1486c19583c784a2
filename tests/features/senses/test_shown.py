"""What the page selects, suggests and colours, on made-up texts."""

from __future__ import annotations

import pytest

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute import (
    WordResult,
    color_of_code,
    concordance,
    lines_at,
    name_of,
    result_of,
)
from components.features.senses.corpora import suggested
from components.features.senses.figures import kinds_of
from components.figures.theme import NEUTRAL
from tests.support.senses import senses_view

MODEL = "folder:bert"
TEXTS = tuple(f"{i} the python {i} and the cat" for i in range(10))


@pytest.fixture
def corpus(tiny_service: EncoderService) -> LiveCorpus:
    own = Corpus("Ten", TEXTS, {"sense": ("a", "b") * 5})
    return LiveCorpus(own, tiny_service, MODEL)


def shown(corpus: LiveCorpus, service: EncoderService, *rows: int, name: str = "") -> WordResult:
    view = senses_view(word="python", groups="2")
    first = result_of(view, corpus, service)
    assert isinstance(first, WordResult)
    found = result_of(view, corpus, service, (name or name_of(first.senses), rows))
    assert isinstance(found, WordResult)
    return found


def test_what_was_drawn_around_is_shown_alone(
    corpus: LiveCorpus, tiny_service: EncoderService
) -> None:
    every = shown(corpus, tiny_service).every_row
    own = shown(corpus, tiny_service, every[7], every[2])
    assert own.selected == (2, 7)
    assert own.rows == (every[2], every[7])
    assert [line.place for line in own.senses.concordance.lines] == [2, 7]


def test_what_was_drawn_around_on_another_map_selects_nothing(
    corpus: LiveCorpus, tiny_service: EncoderService
) -> None:
    every = shown(corpus, tiny_service).every_row
    assert shown(corpus, tiny_service, every[2], name="another").selected is None
    assert shown(corpus, tiny_service, 10**9).selected is None


def test_a_lasso_within_a_sense_shows_what_is_in_both(
    corpus: LiveCorpus, tiny_service: EncoderService
) -> None:
    senses = shown(corpus, tiny_service).senses
    groups = senses.grouping.groups
    found = concordance(senses.uses, groups, None, only="s0", within=[0, 1, 2])
    assert found.order.tolist() == [i for i in (0, 1, 2) if senses.uses.codes[i] == 0]
    assert [line.place for line in lines_at(senses.uses, groups, None, [3, 1])] == [3, 1]


def test_colours_are_those_of_the_points(corpus: LiveCorpus, tiny_service: EncoderService) -> None:
    own = shown(corpus, tiny_service)
    for kind in kinds_of(own.word_map.names, own.word_map.codes, none=own.word_map.none):
        assert {own.color(place) for place in kind.places.tolist()} == {kind.color}
        assert {own.mark(place) for place in kind.places.tolist()} == {kind.name}
    assert color_of_code(-1, 2) == NEUTRAL
    assert color_of_code(30, 40) == color_of_code(39, 40)


def test_words_that_mean_something_are_suggested_first(corpus: LiveCorpus) -> None:
    words = [own.word for own in suggested(corpus)]
    assert set(words[:2]) == {"python", "cat"}
    assert {"the", "and"} < set(words[2:])
    assert {own.word: own.n for own in suggested(corpus)}["the"] == 20
