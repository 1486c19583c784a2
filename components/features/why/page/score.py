"""The score itself: one large number, and where it lies among those of random pairs."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from components.analysis.baseline import Band, Baseline, kind_of
from components.analysis.ruler import Range, Ruler
from components.content.language import say
from components.content.wording import two
from components.core import ModelCard
from components.core.errors import BusyError
from components.features.why.compute.random_pairs import SentencePairs
from components.features.why.compute.score import Score
from components.features.why.compute.work import random_pairs_task
from components.features.why.edits.english import is_english
from components.features.why.measures.target import What
from components.features.why.reading import score_claim
from components.figures.ruler import ruler_figure
from components.ui.models import waiting
from components.ui.models.background import jobs
from components.ui.models.services import uncached
from components.ui.widgets import kit
from components.ui.widgets.comparison.ruler import pair_on_ruler

__all__ = ["Marks", "against", "await_pairs", "band_of", "marks_of", "score_row"]

_HEIGHT, _ROW = 82, 14  # pixels; of a row beyond the first
_PLACE = "why_pairs"


@dataclass(frozen=True)
class Marks:
    """What a score is held against, where it is known and fits.

    Attributes:
        ranges: of pairs of known kinds, at each one's layer.
        middle: what stands in the middle of a range: "mean" or "median".
        lowest: the lowest end of a range at any layer.
        band: random pairs of the same kind at each layer.
        is_english: True if both texts are, as those pairs are.
    """

    ranges: tuple[Range, ...] = ()
    middle: str = ""
    lowest: float = 0.0
    band: Band | None = None
    is_english: bool = True


def marks_of(
    score: Score, card: ModelCard, baseline: Baseline | None, ruler: Ruler | None
) -> Marks:
    """The ranges for a score: of random sentences, or of labelled words."""
    if not all(map(is_english, _texts(score))):
        return Marks(is_english=False)
    if score.what == "word":
        return _of_words(score, baseline, ruler)
    band = band_of(card, score.what)
    return Marks() if band is None else _of_band(band, score.layer)


def score_row(score: Score, marks: Marks) -> None:
    """The number, and its ruler."""
    left, right = st.columns([2, 5], gap="medium", vertical_alignment="center")
    with left:
        st.metric(_name(score), two(score.cosine))
    with right:
        scale = (min(-0.2, marks.lowest, float(score.cosines.min())), 1.0)
        height = _HEIGHT + _ROW * max(0, len(marks.ranges) - 1)
        drawn = ruler_figure(
            marks.ranges,
            score.cosine,
            scale=scale,
            middle=marks.middle,
            height=height,
        )
        known = "; ".join(f"{r.kind}: {two(r.low)} to {two(r.high)}" for r in marks.ranges)
        alt = say("why.score.alt", cosine=score.cosine, ranges=known)
        kit.chart(drawn, key="why_ruler", alt=alt.strip())


def against(score: Score, marks: Marks) -> None:
    """The score beside random pairs, in words."""
    st.caption(str(score_claim(score, marks.band, is_english=marks.is_english)))


def band_of(card: ModelCard, what: What) -> Band | None:
    """Random pairs of sentences, by the vector compared; None where they are not known yet."""
    pairs = _pairs(card)
    return None if pairs is None else pairs.band(what)


def await_pairs(card: ModelCard) -> None:
    """Say that random pairs are still being measured, and run the page again when they are."""
    job = jobs().get(random_pairs_task(uncached(), card).key)
    if job is not None and job.state not in ("done", "failed"):
        waiting.follow(job, _PLACE, cancel="")


def _name(score: Score) -> str:
    first = score.first.encoding.tokens[0]
    return say(f"why.score.name_{score.what}", first=first, layer=score.layer)


def _texts(score: Score) -> list[str]:
    """What must be English as the samples are."""
    given = [side.sentence for side in score.sides]
    return [text for own in given for text in (own.text, own.pair) if text and text.strip()]


def _of_band(band: Band, layer: int) -> Marks:
    low, mean, high = (float(own[layer]) for own in (band.low, band.mean, band.high))
    name = f"random {band.of}"
    return Marks((Range(name, low, mean, high, 0),), "mean", float(band.low.min()), band)


def _of_words(score: Score, baseline: Baseline | None, ruler: Ruler | None) -> Marks:
    n_tokens = [int((side.weights != 0).sum()) for side in score.sides]
    kind = kind_of(*n_tokens)
    band = None if baseline is None else baseline.band("mean", centred=False, kind=kind)
    shown = None
    if ruler is not None:
        words = [side.word for side in score.sides]
        shown = pair_on_ruler(words, score.cosine, ruler, at=(score.layer, "mean"), band=band)
    if shown is not None:
        lowest = min((own.low for own in shown.ranges), default=0.0)
        return Marks(shown.ranges, "median", lowest, band)
    return Marks() if band is None else _of_band(band, score.layer)


def _pairs(card: ModelCard) -> SentencePairs | None:
    """Random pairs of sentences in a model; None while they are measured, or where they failed."""
    task = random_pairs_task(uncached(), card)
    found = jobs().get(task.key)
    if found is None or found.state != "failed":
        try:
            found = jobs().start(task, waiting.me(_PLACE))
        except BusyError:  # the page goes without for now
            return None
    waiting.shortly(found)
    result: SentencePairs | None = found.result() if found.state == "done" else None
    return result
