"""Pages draw the same conclusions from the same uses of a word, over all words that ship."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.analysis.separation import verdict_of
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import ambiguous_corpus, sample_corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.map.finding import sense_tests
from contextlens.features.map.point import pinned_pair, sensed_word
from contextlens.features.senses.layers import word_layers
from contextlens.features.senses.occurrences import WordUses, word_in
from contextlens.features.senses.senses import Senses, senses_in
from contextlens.maps.vectors import gather
from contextlens.ui.corpora.controls import WORD
from contextlens.ui.models import tasks
from contextlens.ui.state.view import Sentence
from contextlens.ui.widgets.comparison.answer import answer
from contextlens.ui.widgets.comparison.compute import meaning_of, portrait_of
from contextlens.ui.widgets.comparison.senses import named_uses
from tests.support.maps import map_view, shown_map
from tests.support.measured import measured

WORDS_OF_TEXTS = ambiguous_corpus().labels["word"]
WORDS = tuple(dict.fromkeys(sample_corpus().labels["word"]))


@pytest.mark.slow
def test_senses_and_map_conclude_the_same_of_every_word(service: EncoderService) -> None:
    service.load(BUNDLED_ID)
    corpus = sample_corpus()
    live = LiveCorpus(corpus, service, BUNDLED_ID)
    spans = corpus.spans or ()
    for word in WORDS:
        found = word_in(live, word, "sense")
        assert isinstance(found, WordUses)
        on_senses = verdict_of(word_layers(found, live).curve, found.trial)
        rows = [i for i, own in enumerate(corpus.labels["word"]) if own == word]
        gathered = gather(
            service.encode(BUNDLED_ID, [corpus.texts[i] for i in rows]),
            unit="words",
            spans=[spans[i] for i in rows],
            labels={name: [own[i] for i in rows] for name, own in corpus.labels.items()},
        )
        tests = sense_tests(gathered.points, gathered.vectors, gathered.layers)
        assert tests is not None
        on_map = verdict_of(tests.curve, tests.trial)
        assert on_map.state == on_senses.state, word
        assert (on_map.n, on_map.baseline) == (on_senses.n, on_senses.baseline)
        assert on_map.accuracy == pytest.approx(on_senses.accuracy, abs=1.5 / on_map.n), word


@pytest.mark.slow
def test_two_uses_of_bank_have_the_same_senses_on_all_pages(
    service: EncoderService, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Meaning and Start here, pins on the map, and a typed sentence on Senses."""
    card, word = service.load(BUNDLED_ID), "bank"
    baseline = tasks.read_baseline(card, service, measured(tmp_path_factory))
    names = tasks.measure_senses(card, service, baseline, word, tmp_path).work(None)
    rows = [i for i, own in enumerate(WORDS_OF_TEXTS) if own == word]
    chosen = [rows[0], rows[-1]]
    texts, spans = ambiguous_corpus().texts, ambiguous_corpus().spans or ()
    pair = tuple(Sentence(texts[i], word=spans[i]) for i in chosen)
    view = replace(map_view(word=word, method="pca"), sentences=pair, references=())
    portrait = portrait_of(meaning_of(view, service, card, baseline), view)
    assert portrait is not None
    uses = named_uses(portrait, names)
    assert uses is not None
    headline = str(answer(portrait, uses))
    assert headline == "A: the river bank. B: the money bank."

    display = shown_map(service, view)
    points = [display.points.texts.index(texts[i]) for i in chosen]
    assert sensed_word(display, *points) == word
    pins = pinned_pair(display, points[0], points[1], None, None, names)
    assert " ".join(map(str, pins.claims())).startswith(headline)

    corpus = LiveCorpus(ambiguous_corpus(), service, BUNDLED_ID)
    for text, naming in zip(pair, uses.namings, strict=True):
        on_senses = WORD.put(replace(view, controls={"senses": {"own": text.text}}), word)
        found = senses_in(corpus, on_senses, service, names=names)
        assert isinstance(found, Senses)
        assert found.sentence is not None
        match = found.sentence.match
        assert match is not None
        assert (match.verdict, match.names[0]) == ("in", naming.sense)
        assert match.margin == pytest.approx(naming.margin, abs=1e-4)
