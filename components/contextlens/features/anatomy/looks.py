"""Closer looks on Anatomy: the model beside others, and the numbers inside one of its arrays."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.anatomy.compute import (
    AnatomyView,
    Measured,
    compared_architectures,
    counts_by_part,
    measure,
    summary,
)
from contextlens.features.anatomy.controls import ARRAY, MODELS, SECTION, TOKENS, WEIGHTS
from contextlens.features.anatomy.figures import model_bars, singular_values, weight_histogram
from contextlens.features.anatomy.measures import WeightStatistics, comparison_row, n_values
from contextlens.features.anatomy.reading import models_claim, models_title, weights_reading
from contextlens.features.anatomy.snippet import weights_snippet
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit

_REFERENCES = ("bert-base-uncased", "bert-large-uncased")
"""Titles of presets to compare the model with; the first that is not the model itself is used."""


def closer(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The two closer looks, one at a time."""
    looks = {
        MODELS: lambda: _models(view, anatomy, service),
        WEIGHTS: lambda: _weights(view, anatomy, service),
    }
    kit.look_closer(view, SECTION, looks)


def _models(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The chosen model beside the loaded model and every preset."""
    architectures, n_tokens = compared_architectures(anatomy, service), anatomy.n_tokens
    with st.container(width=260):
        inputs.number(view, TOKENS)
    rows = [comparison_row(architecture, n_tokens) for architecture in architectures]
    kit.reading([models_claim(rows, n_tokens, references=_REFERENCES)], key="reading_models")
    title = str(models_title(rows))
    names = [architecture.title for architecture in architectures]
    kit.chart(
        model_bars(names, list(map(counts_by_part, architectures)), title=title),
        key="anatomy_models",
        alt=say("anatomy.models.alt", title=title),
    )
    _models_table(pd.DataFrame(rows))
    st.caption(say("anatomy.models.note", n_tokens=n_tokens))


def _models_table(table: pd.DataFrame) -> None:
    formats = {
        **dict.fromkeys(("vocabulary", "parameters"), "localized"),
        **{name: "%.1f" for name in table.columns if name.startswith("MB")},
        "billion multiply-adds": "%.3f",
    }
    columns = {name: st.column_config.NumberColumn(format=form) for name, form in formats.items()}
    kit.table(table, key="anatomy_models_table", columns=columns)


def _weights(view: ViewState, anatomy: AnatomyView, service: EncoderService) -> None:
    """The distribution of one array's numbers, and the number of directions they use."""
    if anatomy.subject_card is None:
        st.info(say("anatomy.weights.none"), icon=":material/visibility_off:")
        return
    largest_first = sorted(anatomy.chosen.parameters, key=n_values, reverse=True)
    arrays = {p.name: p for p in largest_first}
    parameter = arrays[inputs.select(view, ARRAY.among(arrays.keys()))]
    try:
        measured = measure(anatomy, parameter, service)
    except RequestError as exc:
        text = say("anatomy.weights.only_size", reason=escape(str(exc)))
        st.info(text, icon=":material/straighten:")
        return
    _measured(anatomy, measured)


def _measured(anatomy: AnatomyView, measured: Measured) -> None:
    stats, parameter, n_rows = measured.stats, measured.parameter, measured.n_rows
    kit.reading(weights_reading(parameter.name, stats, n_rows), key="reading_weights")
    if n_rows is not None:
        numbers = {"step": measured.step, "n_rows": n_rows, "n_values": n_values(parameter)}
        st.caption(say("anatomy.weights.sampled", **numbers))
    _statistics(stats)
    kit.table([summary(measured)], key="anatomy_weights_table")
    with st.expander(say("anatomy.weights.code")):
        code = weights_snippet(
            anatomy.subject_card or anatomy.card,
            parameter.name,
            is_matrix=bool(stats.singular.size),
            step=measured.step,
        )
        st.code(code, language="python", wrap_lines=True)


def _statistics(stats: WeightStatistics) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(
            weight_histogram(stats, title=say("anatomy.weights.histogram")),
            key="anatomy_histogram",
            alt=say("anatomy.weights.histogram_alt"),
        )
    with right:
        if stats.singular.size:
            kit.chart(
                singular_values(stats, title=say("anatomy.weights.singular")),
                key="anatomy_singular",
                alt=say("anatomy.weights.singular_alt"),
            )
