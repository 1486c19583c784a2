"""A pair on the ruler: what is said of it holds for what was measured."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.ruler import KINDS, Chance, Range, Ruler, load
from components.core import BUNDLED_ID, EncoderService
from components.ui.models import tasks
from components.ui.state.view import DEFAULT, Sentence, ViewState
from components.ui.widgets.comparison.compute import meaning_of, portrait_of
from components.ui.widgets.comparison.ruler import RulerShown, ruler_note, ruler_of, ruler_reading
from tests.support.measured import measured

RANGES = tuple(
    Range(kind, low, (low + 0.1), low + 0.3, 99)
    for kind, low in zip(KINDS, (-0.1, 0.4, 0.6), strict=True)
)
BOLD = re.compile(r"\*\*(.*?)\*\*")


def shown(cosine: float = 0.7, *, chance: Chance | None = None, same: bool = True) -> RulerShown:
    return RulerShown(cosine, RANGES, same, chance, ("python",))


@st.composite
def chances(draw: st.DrawFn) -> Chance:
    low, share, high = sorted(draw(st.floats(0, 1)) for _ in range(3))
    return Chance(
        share,
        low,
        high,
        draw(st.integers(4, 10)),
        draw(st.sampled_from(["", "", "below", "above"])),
    )


@pytest.mark.slow
@given(st.floats(-1, 1), chances())
@settings(max_examples=500)
def test_every_sentence_of_one_word_is_true(cosine: float, chance: Chance) -> None:
    said = ruler_reading(shown(cosine, chance=chance))
    assert float(BOLD.findall(said)[0]) == pytest.approx(cosine, abs=0.0051)
    assert said.endswith(".")
    if chance.outside:
        assert f"{'less' if chance.outside == 'below' else 'more'} than any two uses" in said
        return
    ends = re.search(r"(\d+) to (\d+) in 10", said)
    assert ends is not None
    assert int(ends[1]) / 10 <= chance.low + 1e-6
    assert int(ends[2]) / 10 >= chance.high - 1e-6
    assert f": {chance.n_words} words, " in ruler_note(shown(chance=chance))
    told = re.search(r"\*\*(about|over|under) (\d+) in 10\*\*", said)
    assert (told is None) == ("tells little" in said)
    if told is None:
        assert not chance.tells or 0.45 <= chance.share <= 0.55
        return
    assert chance.tells
    value = int(told[2]) / 10
    expected = {
        "about": abs(chance.share - value) <= 0.0501,
        "over": chance.share > value,
        "under": chance.share < value,
    }
    assert expected[told[1]]


@given(st.floats(-1, 1))
def test_every_sentence_of_two_words_is_true(cosine: float) -> None:
    said = ruler_reading(shown(cosine, same=False))
    match = re.search(r"\*\*(\S+)\*\* is (.*) what pairs .* lie from (\S+) to (\S+);", said)
    assert match is not None
    printed, low, high = (float(match[i]) for i in (1, 3, 4))
    assert (low, high) == (-0.1, 0.2)
    assert printed == pytest.approx(cosine, abs=0.0051)
    holds = {
        "above": printed > high and cosine > RANGES[0].high,
        "within": low < printed < high and RANGES[0].low <= cosine <= RANGES[0].high,
        "below": printed < low and cosine < RANGES[0].low,
        "at the end of": printed in (low, high),
    }
    assert holds[match[2]]
    assert "two senses" not in said
    assert "“python” left out. Bars" in ruler_note(shown(cosine, same=False))


def test_all_words_that_were_left_out_are_named() -> None:
    both = replace(shown(0.1, same=False), left_out=("python", "bank"))
    assert "“python” and “bank” left out" in ruler_note(both)


def test_with_too_few_words_that_is_said() -> None:
    assert "too few" in ruler_reading(shown())


@pytest.fixture(scope="module")
def ruler(service: EncoderService, tmp_path_factory: pytest.TempPathFactory) -> Ruler:
    card = service.load(BUNDLED_ID)
    found = load(tasks.ruler_path(card, measured(tmp_path_factory)))
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
    assert found.chance == ruler.chance(found.cosine, 6, "mean", centred=False, without=("python",))
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
    assert (found.chance is not None) == same
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
