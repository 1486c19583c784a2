"""The looks under "Look closer" on Pairs: layers, similarities, the ROC curve, and every pair."""

from __future__ import annotations

import numpy as np
import streamlit as st

from contextlens.analysis.baseline import Baseline
from contextlens.content.language import say
from contextlens.features.pairs.compute import PairsAtLayer, pair_table
from contextlens.features.pairs.controls import (
    ALL,
    COSINES,
    LABELLED_PANELS,
    LAYERS,
    PANEL,
    PLAIN_PANELS,
    ROC,
)
from contextlens.features.pairs.figures import (
    accuracy_lines,
    correlation_lines,
    cosine_bands,
    cosine_histogram,
    cosine_scale,
    roc_figure,
)
from contextlens.features.pairs.measures import roc
from contextlens.features.pairs.reading import pairs_title, roc_claim
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import kit

CHARTS = {LAYERS: "pairs_chart", COSINES: "pairs_cosines", ROC: "pairs_roc"}
"""The key of each look's chart."""
HEIGHT = 340
_MOST_ROWS = 5_000


def look_closer(view: ViewState, at_layer: PairsAtLayer, baseline: Baseline | None) -> None:
    """Draw the chosen closer look."""
    panels = PLAIN_PANELS if at_layer.scores is None else LABELLED_PANELS
    looks = {
        LAYERS: lambda: _layers(at_layer),
        COSINES: lambda: _cosines(at_layer, baseline),
        ROC: lambda: _roc(at_layer),
        ALL: lambda: _all(at_layer),
    }
    kit.look_closer(view, PANEL.among(panels), {name: looks[name] for name in panels})


def _layers(at_layer: PairsAtLayer) -> None:
    """The correlation or the accuracy at every layer; without labels, the similarities."""
    title, result = pairs_title(at_layer), at_layer.result
    if at_layer.correlation is not None:
        figure = correlation_lines(
            result.layers, at_layer.correlation, row=at_layer.row, title=title, height=HEIGHT
        )
        alt = "correlation"
    elif at_layer.scores is not None:
        figure = accuracy_lines(
            result.layers, at_layer.scores, row=at_layer.row, title=title, height=HEIGHT
        )
        alt = "accuracy"
    else:
        cosines = result.cosines[:, at_layer.compared_pairs]
        figure = cosine_bands(
            result.layers,
            cosines,
            row=at_layer.row,
            title=title,
            scale=cosine_scale(cosines),
            height=HEIGHT,
        )
        alt = "similarities"
    kit.chart(figure, key=CHARTS[LAYERS], alt=say(f"pairs.alt.{alt}", title=title))


def _cosines(at_layer: PairsAtLayer, baseline: Baseline | None) -> None:
    """How many pairs have which similarity at the layer."""
    comparable = at_layer.compared_pairs
    band = random_range(at_layer, baseline)
    figure = cosine_histogram(
        at_layer.cosines[comparable],
        at_layer.pairs.gold[comparable],
        threshold=at_layer.threshold,
        scale=scale_of(at_layer, baseline),
        band=band,
        title=say("pairs.title.layer", layer=at_layer.layer),
        height=HEIGHT,
    )
    alt = say("pairs.alt.layer", layer=at_layer.layer)
    kit.chart(figure, key=CHARTS[COSINES], alt=alt)


def scale_of(at_layer: PairsAtLayer, baseline: Baseline | None) -> tuple[float, float]:
    """One scale for all layers, with room for the cosines of the pairs and of random words."""
    lowest = 1.0
    if baseline is not None and at_layer.pairs.has_words:
        lowest = float(baseline.band("mean", centred=False).low.min())
    return cosine_scale(at_layer.result.cosines, lowest)


def random_range(at_layer: PairsAtLayer, baseline: Baseline | None) -> tuple[float, float] | None:
    """The range of cosines of random pairs of words at the layer; None for whole texts."""
    if baseline is None or not at_layer.pairs.has_words:
        return None
    band = baseline.band("mean", centred=False)
    low, high = float(band.low[at_layer.row]), float(band.high[at_layer.row])
    return None if np.isnan(low) else (low, high)


def _roc(at_layer: PairsAtLayer) -> None:
    scores = at_layer.scores
    if scores is None:
        return
    cosines, same = at_layer.cosines[scores.rows], scores.same
    curve = roc(cosines, same)
    if curve is None:
        st.caption(say("pairs.roc.one_kind"))
        return
    called_same = scores.called_same[at_layer.row]
    at = (float(called_same[~same].mean()), float(called_same[same].mean()))
    auc = float(scores.auc[at_layer.row])
    title = say("pairs.roc.title", layer=at_layer.layer, auc=auc)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        kit.chart(roc_figure(*curve, at=at, title=title), key=CHARTS[ROC], alt=f"{title}.")
    with right:
        kit.reading([roc_claim(auc)], key="reading_roc")


def _all(at_layer: PairsAtLayer) -> None:
    percentile = st.column_config.NumberColumn(format="%.0f")
    columns = dict.fromkeys(
        ("percentile by score", "percentile by cosine", "percentiles apart"), percentile
    )
    kit.table(
        pair_table(at_layer, _MOST_ROWS),
        key="pairs_all",
        exact=["cosine"],
        height=380,
        columns=columns,
    )
    if at_layer.pairs.n > _MOST_ROWS:
        st.caption(say("pairs.first_rows", shown=_MOST_ROWS, n=at_layer.pairs.n))
    lost = int(np.isnan(at_layer.cosines).sum())
    if lost:
        st.caption(say("pairs.notes.lost", n=lost))
