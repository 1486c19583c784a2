"""A pair on the ruler: what is said of it holds for what was measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.analysis.kept_arrays import load
from contextlens.analysis.ruler import (
    EVERYDAY,
    KINDS,
    TWO_SENSES,
    Range,
    Ruler,
)
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.models import tasks
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from contextlens.ui.widgets.comparison.compute import meaning_of, portrait_of
from contextlens.ui.widgets.comparison.ruler import (
    Fit,
    RulerShown,
    pair_on_ruler,
    ruler_note,
    ruler_of,
    ruler_reading,
)
from tests.support.measured import measured

RANGES = (
    Range("unrelated words", -0.1, 0.0, 0.2, 0),
    *(
        Range(kind, low, (low + 0.1), low + 0.3, 99)
        for kind, low in zip(KINDS, (0.4, 0.6, 0.65), strict=True)
    ),
)


def shown(cosine: float = 0.7, *, same: bool = True, side: int = 0) -> RulerShown:
    return RulerShown(cosine, RANGES, same, side, ("python",))


def test_one_word_gets_its_place_in_a_whole_sentence() -> None:
    assert str(ruler_reading(shown())) == (
        "Same-meaning pairs score 0.65 to 0.95, different-meaning pairs 0.40 to 0.70. "
        "So **0.70** fits both."
    )
    assert ruler_reading(shown(1.0)).key == "ruler.equal"
    assert "those for “python” were left out" in ruler_note(shown())


@pytest.mark.parametrize(
    ("cosine", "fit"), [(0.3, "below"), (0.5, "two"), (0.7, "both"), (0.8, "one"), (0.97, "above")]
)
def test_a_similarity_is_placed_in_both_ranges(cosine: float, fit: str) -> None:
    assert ruler_reading(shown(cosine)).key == f"ruler.fits.{fit}"


def test_a_similarity_between_the_ranges_is_usual_for_neither() -> None:
    apart = (Range(KINDS[EVERYDAY], 0.8, 0.9, 0.95, 9), Range(KINDS[TWO_SENSES], 0.2, 0.3, 0.4, 9))
    assert ruler_reading(replace(shown(0.6), ranges=apart)).key == "ruler.fits.between"


@pytest.mark.slow
def test_above_095_is_not_usual_for_two_meanings_at_the_last_layer(ruler: Ruler) -> None:
    for word in ruler.words.tolist()[::16]:
        found = pair_on_ruler([word, word], 0.951, ruler, at=(6, "mean"), band=None)
        assert found is not None
        assert found.fit is Fit.ABOVE, word


@pytest.mark.parametrize(("side", "verdict"), [(1, "above"), (0, "within"), (-1, "below")])
def test_two_words_are_held_against_random_pairs(side: int, verdict: str) -> None:
    found = ruler_reading(shown(0.3, same=False, side=side))
    assert found.key == f"ruler.{verdict}"
    assert str(found).endswith("9 in 10 random pairs get −0.10 to 0.20.")


def test_with_too_few_words_that_is_said() -> None:
    few = replace(shown(), ranges=())
    assert ruler_reading(few).key == "ruler.unknown"
    assert ruler_reading(replace(few, same_word=False, side=None)).key == "ruler.unknown"


@pytest.fixture(scope="module")
def ruler(service: EncoderService, tmp_path_factory: pytest.TempPathFactory) -> Ruler:
    card = service.load(BUNDLED_ID)
    found = load(Ruler, tasks.ruler_path(card, measured(tmp_path_factory)))
    assert found is not None
    return found


def on_ruler(service: EncoderService, ruler: Ruler, view: ViewState) -> RulerShown | None:
    card = service.load(BUNDLED_ID)
    portrait = portrait_of(meaning_of(view, service, card, None), view)
    assert portrait is not None
    return ruler_of(portrait, ruler)


def test_the_opening_pair_is_on_the_ruler_without_its_own_word(
    service: EncoderService, ruler: Ruler
) -> None:
    found = on_ruler(service, ruler, DEFAULT)
    assert found is not None
    assert found.cosine == pytest.approx(0.78, abs=0.01)
    assert found.left_out == ("python",)
    assert found.ranges == ruler.ranges(6, "mean", centred=False, without=("python",))
    earlier = on_ruler(service, ruler, replace(DEFAULT, layer=2))
    assert earlier is not None
    assert earlier.ranges == ruler.ranges(2, "mean", centred=False, without=("python",))


@pytest.mark.parametrize(
    ("texts", "same"),
    [(("The Lamp fell", "A lamp"), True), (("The lamp fell", "A chair"), False)],
)
def test_one_word_or_two(
    service: EncoderService, ruler: Ruler, texts: tuple[str, str], same: bool
) -> None:
    spans = [(text.rindex(" ") + 1, len(text)) if i else (4, 8) for i, text in enumerate(texts)]
    view = ViewState(
        BUNDLED_ID, tuple(Sentence(t, word=s) for t, s in zip(texts, spans, strict=True))
    )
    found = on_ruler(service, ruler, view)
    assert found is not None
    assert found.same_word == same
    assert found.left_out == ()


def test_other_scripts_and_single_words_have_no_place_on_it(
    service: EncoderService, ruler: Ruler
) -> None:
    hebrew = ViewState(BUNDLED_ID, (Sentence("שלום", word=(0, 4)), Sentence("سلام", word=(0, 4))))
    assert on_ruler(service, ruler, hebrew) is None
    alone = replace(DEFAULT, sentences=DEFAULT.sentences[:1])
    assert on_ruler(service, ruler, alone) is None
    assert on_ruler(service, None, DEFAULT) is None
    assert np.isfinite(ruler.plain).all()
