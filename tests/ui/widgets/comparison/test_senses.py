"""The senses of a word's uses in a comparison: which word is covered, and the conclusion."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from contextlens.analysis.sense_names import Naming, Verdict
from contextlens.content.bundled_texts import ambiguous_words, sense_titles
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.models import tasks
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets.comparison.compute import meaning_of, portrait_of
from contextlens.ui.widgets.comparison.senses import (
    NamedUses,
    covered,
    covered_word,
    named_uses,
    senses_of,
    verdict_of,
)
from tests.support.measured import measured


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("Python", "python"),
        ("banks", "bank"),
        ("Mice", "mouse"),
        ("flies", "fly"),
        ("matches", "match"),
        ("bass", "bass"),
        ("glasses", None),
        ("snake", None),
        ("s", None),
        ("", None),
    ],
)
def test_a_word_of_the_ready_corpus_counts_in_its_plural_too(word: str, base: str | None) -> None:
    assert covered(word) == base


def test_every_sense_has_a_name_of_its_own() -> None:
    assert set(sense_titles()) == {(row.word, row.sense) for row in ambiguous_words()}
    for word in {row.word for row in ambiguous_words()}:
        titles = [sense_titles()[word, sense] for sense in senses_of(word)]
        assert len(set(titles)) == len(titles) >= 2
        assert all(title.isascii() and len(title) <= 32 for title in titles)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the model's baseline, to write to."""
    return Path(shutil.copytree(measured(tmp_path_factory), tmp_path_factory.mktemp("x") / "data"))


def naming(sense: str, *, is_clear: bool = True) -> Naming:
    return Naming(sense, 0.1, is_clear)


def test_the_conclusion_is_on_all_uses() -> None:
    a, b, unclear = naming("a"), naming("b"), naming("a", is_clear=False)
    alike = np.full((3, 3), 0.99)
    assert verdict_of([a, a, a]) is Verdict.SAME
    assert verdict_of([a, unclear, b]) is Verdict.DIFFERENT
    assert verdict_of([a, a, unclear]) is Verdict.CANNOT_TELL
    assert verdict_of([a, unclear, unclear], alike) is Verdict.SAME
    assert verdict_of([a]) is Verdict.CANNOT_TELL


def shown(
    service: EncoderService, folder: Path, *words: str, layer: int | None = None
) -> NamedUses | None:
    """The senses of a word in these sentences, which mark it by brackets."""
    sentences = []
    for text in words:
        start, end = text.index("["), text.index("]")
        sentences.append(Sentence(text.replace("[", "").replace("]", ""), word=(start, end - 1)))
    view = ViewState(model=BUNDLED_ID, sentences=tuple(sentences), layer=layer)
    card = service.load(BUNDLED_ID)
    portrait = portrait_of(meaning_of(view, service, card, None), view)
    assert portrait is not None
    word = covered_word(portrait.comparison)
    if word is None:
        return None
    baseline = tasks.read_baseline(card, service, folder)
    names = tasks.measure_senses(card, service, baseline, word, folder).work(lambda *_: None)
    assert tasks.senses_path(card, word, folder).exists()
    return named_uses(portrait, names)


@pytest.mark.slow
def test_uses_of_a_word_get_their_names(service: EncoderService, folder: Path) -> None:
    pet, code = "I love my pet [python]", "She writes [Python] at work"
    uses = shown(service, folder, pet, code)
    assert uses is not None
    assert [n.sense for n in uses.namings] == ["animal", "language"]
    assert (uses.verdict, uses.letters, uses.items) == (Verdict.DIFFERENT, ("A", "B"), (0, 1))
    assert uses.by_sense == {"animal": ["A"], "language": ["B"]}
    assert uses.title("animal") == "the animal"
    cosines = uses.cosines()
    assert cosines.shape == (2, 7, 2)
    margins = cosines[:, 6].max(axis=1) - cosines[:, 6].min(axis=1)
    np.testing.assert_allclose(margins, [n.margin for n in uses.namings], atol=1e-5)
    start = shown(service, folder, pet, code, layer=0)
    assert start is not None
    assert start.verdict is Verdict.CANNOT_TELL


def test_words_that_differ_or_have_no_senses_have_no_names(
    service: EncoderService, tmp_path: Path
) -> None:
    assert shown(service, tmp_path, "a [bank] here", "a [bat] here") is None
    assert shown(service, tmp_path, "a [road] here", "the [road] there") is None
