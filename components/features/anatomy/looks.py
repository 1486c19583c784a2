"""Closer looks on Anatomy: the model beside others, and the numbers inside one of its arrays."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from components.core import EncoderService
from components.core.errors import RequestError
from components.core.schema import Architecture, Parameter
from components.features.anatomy.compute import (
    DEFAULT_TOKENS,
    MAX_TOKENS,
    PAGE,
    SECTIONS,
    Anatomy,
    Measured,
    measure,
    others,
)
from components.features.anatomy.figures import model_bars, singular_values, weight_histogram
from components.features.anatomy.measures.costs import comparison_row
from components.features.anatomy.measures.parameters import build_tree, n_values
from components.features.anatomy.reading import models_reading, models_title, weights_reading
from components.features.anatomy.snippet import weights_snippet
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["closer"]

_BASE, _LARGE = "bert-base-uncased", "bert-large-uncased"
_CONFIG = {"displayModeBar": False, "displaylogo": False}


def closer(view: ViewState, what: Anatomy, service: EncoderService) -> None:
    """The two closer looks, one at a time."""
    chosen = inputs.choice(view, PAGE, "section", SECTIONS, "Look closer")
    with st.container(border=True):
        if chosen == SECTIONS[0]:
            _models(view, what, service)
        else:
            _weights(view, what, service)


def _models(view: ViewState, what: Anatomy, service: EncoderService) -> None:
    """The model beside the loaded one and every preset."""
    made = others(what, service)
    with st.container(width=260):
        inputs.number(
            view,
            PAGE,
            "tokens",
            "Tokens of a text",
            between=(1, MAX_TOKENS),
            default=DEFAULT_TOKENS,
            help="How long a text is, special tokens included, for which operations are counted.",
        )
    rows = [comparison_row(one, what.n_tokens) for one in made]
    kit.reading(models_reading(rows, what.n_tokens, base=_BASE, large=_LARGE), key="reading_models")
    title = models_title(rows)
    st.plotly_chart(
        model_bars([one.title for one in made], list(map(_by_part, made)), title=title),
        key="anatomy_models",
        config=_CONFIG,
        alt=f"{title}. The table below has the numbers.",
    )
    _models_table(rows)
    st.caption(
        f"Multiply-adds are those for one text of {what.n_tokens} tokens; empty where it does not "
        "fit. Memory is that of the parameters alone. What is not loaded is built from its config."
    )


def _by_part(made: Architecture) -> dict[str, int]:
    parts = {"Embedding layer": 0, "Layers": 0, "Pooler": 0}
    names = {"embeddings": "Embedding layer", "pooler": "Pooler"}
    for child in build_tree(made).children:
        parts[names.get(child.kind, "Layers")] += child.n_values
    return parts


def _models_table(rows: Sequence[dict[str, str | int | float | None]]) -> None:
    table = pd.DataFrame(rows)
    whole = ("vocabulary", "parameters")
    columns = {
        **{name: st.column_config.NumberColumn(format="localized") for name in whole},
        **{
            name: st.column_config.NumberColumn(format="%.1f")
            for name in table.columns
            if name.startswith("MB")
        },
        "billion multiply-adds": st.column_config.NumberColumn(format="%.3f"),
    }
    st.dataframe(table, hide_index=True, column_config=columns, key="anatomy_models_table")


def _weights(view: ViewState, what: Anatomy, service: EncoderService) -> None:
    """How the numbers of one array are spread, and in how many directions."""
    if what.own is None:
        st.info(
            "This model stands here without its weights, so there are no numbers to look into. "
            "Choose it as the model in the sidebar to load them.",
            icon=":material/visibility_off:",
        )
        return
    options = _by_size(what)
    name = inputs.select(view, PAGE, "array", {p.name: p.name for p in options}, "Array")
    parameter = next(p for p in options if p.name == name)
    try:
        measured = measure(what, parameter, service)
    except RequestError as exc:
        st.info(f"{exc} Only its size is shown.", icon=":material/straighten:")
        return
    _measured(what, measured)


def _by_size(what: Anatomy) -> list[Parameter]:
    """The chosen part's arrays, the largest first."""
    return sorted(what.chosen.parameters, key=n_values, reverse=True)


def _measured(what: Anatomy, measured: Measured) -> None:
    stats, parameter = measured.stats, measured.parameter
    n_rows = parameter.shape[0] if measured.step > 1 else None
    kit.reading(weights_reading(parameter.name, stats, n_rows), key="reading_weights")
    if n_rows is not None:
        st.caption(
            f"Every {measured.step}th of {n_rows:,} rows: the whole array has "
            f"{n_values(parameter):,} values, more than are measured at once."
        )
    left, right = st.columns(2, gap="medium")
    with left:
        st.plotly_chart(
            weight_histogram(stats, title="How often each value stands there"),
            key="anatomy_histogram",
            config=_CONFIG,
            alt="Histogram of the values. The reading and the table have the numbers.",
        )
    with right:
        if stats.singular.size:
            st.plotly_chart(
                singular_values(stats, title="Directions, from the strongest"),
                key="anatomy_singular",
                config=_CONFIG,
                alt="Singular values from the largest, beside those of a random matrix.",
            )
    st.dataframe(pd.DataFrame([_summary(measured)]), hide_index=True, key="anatomy_weights_table")
    with st.expander("The same numbers with transformers alone"):
        code = weights_snippet(
            what.own or what.card,
            parameter.name,
            is_matrix=bool(stats.singular.size),
            step=measured.step,
        )
        st.code(code, language="python", wrap_lines=True)


def _summary(measured: Measured) -> dict[str, str | int | float]:
    stats = measured.stats
    spectrum = (
        {"largest singular value": stats.singular[0], "smallest": stats.singular[-1]}
        if stats.singular.size
        else {}
    )
    return {
        "measured": " × ".join(map(str, stats.shape)),
        "mean": stats.mean,
        "standard deviation": stats.std,
        "least": stats.low,
        "most": stats.high,
        "Frobenius norm": stats.norm,
        **spectrum,
        "beyond the histogram": stats.n_outside,
    }
