"""The pictures of Pairs and what they say: all layers, and the cosines at the chosen one."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.analysis.baseline import Baseline
from components.content.language import say
from components.content.wording import escape
from components.features.pairs.compute.shown import PairsShown
from components.features.pairs.figures.cosines import cosine_histogram, cosine_scale
from components.features.pairs.figures.layers import accuracy_lines, cosine_bands
from components.features.pairs.reading import notes, pairs_claims, pairs_sure, pairs_title
from components.ui.widgets import kit

__all__ = ["CHART", "HEIGHT", "has_cosines", "in_words", "picture"]

CHART = "pairs_chart"
HEIGHT = 340


def has_cosines(shown: PairsShown) -> bool:
    """Whether any pair has a cosine; says why none has."""
    if not len(shown.there):
        st.info(say("pairs.no_cosines"), icon=":material/content_cut:")
    return bool(len(shown.there))


def picture(shown: PairsShown, baseline: Baseline | None) -> None:
    """What every layer gives, and beside it the cosines at the one that is looked at."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _layers(shown)
    with right:
        _cosines(shown, baseline)


def in_words(shown: PairsShown) -> None:
    """The reading, and in small type what it rests on."""
    kit.reading(pairs_claims(shown), sure=pairs_sure(shown))
    for note in notes(shown):
        st.caption(escape(note))


def _layers(shown: PairsShown) -> None:
    title, compared = pairs_title(shown), shown.compared
    if shown.scores is not None:
        figure = accuracy_lines(
            compared.layers, shown.scores, row=shown.row, title=title, height=HEIGHT
        )
        alt = "accuracy"
    else:
        own = compared.cosines[:, shown.there]
        figure = cosine_bands(
            compared.layers,
            own,
            row=shown.row,
            title=title,
            scale=cosine_scale(own),
            height=HEIGHT,
        )
        alt = "similarities"
    kit.chart(figure, key=CHART, alt=say(f"pairs.alt.{alt}", title=title))


def _cosines(shown: PairsShown, baseline: Baseline | None) -> None:
    there = shown.there
    band = _random(shown, baseline)
    figure = cosine_histogram(
        shown.cosines[there],
        shown.pairs.gold[there],
        threshold=shown.threshold,
        scale=_scale(shown, baseline),
        band=band,
        title=say("pairs.title.layer", layer=shown.layer),
        height=HEIGHT,
    )
    alt = say("pairs.alt.layer", layer=shown.layer)
    kit.chart(figure, key="pairs_cosines", alt=alt)


def _scale(shown: PairsShown, baseline: Baseline | None) -> tuple[float, float]:
    """For all layers: the pairs' cosines have room, and those of random words."""
    lowest = 1.0
    if baseline is not None and shown.pairs.has_words:
        lowest = float(baseline.band("mean", centred=False).low.min())
    return cosine_scale(shown.compared.cosines, lowest)


def _random(shown: PairsShown, baseline: Baseline | None) -> tuple[float, float] | None:
    """The range of random pairs of words at the layer; there is none for whole texts."""
    if baseline is None or not shown.pairs.has_words:
        return None
    band = baseline.band("mean", centred=False)
    low, high = float(band.low[shown.row]), float(band.high[shown.row])
    return None if np.isnan(low) else (low, high)
