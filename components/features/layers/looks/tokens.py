"""Closer looks on Layer by layer: one token, token pairs, layers compared, the spread, the pooler.

Each gives the arrays that it adds to the page's download.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.tokens import labels
from components.content.wording import quoted
from components.core import EncoderService, Encoding
from components.core.schema import FloatArray
from components.features.layers.compute import (
    PAGE,
    SECTIONS,
    LayerView,
    encode_all,
    sample_words,
    variance_shares,
)
from components.features.layers.explain import SPREAD
from components.features.layers.figures.spread import random_pairs_lines, variance_lines
from components.features.layers.figures.tokens import MAX_PLAYED, pairs_heatmap
from components.features.layers.measures.tokens import nearest, own_tokens, token_pairs
from components.features.layers.page import Arrays
from components.features.layers.reading.spaces import spread_reading, spread_titles
from components.features.layers.reading.tokens import nearest_reading, pairs_reading, pairs_title
from components.features.layers.snippet import variance_snippet
from components.figures.strips import vector_strips
from components.figures.theme import color_of
from components.ui.state import session
from components.ui.state.view import ViewState, letter
from components.ui.widgets import kit
from components.ui.widgets.token_strip import token_strip

__all__ = ["one_token", "spread", "token_pairs_look"]

_BARE = {"displayModeBar": False, "displaylogo": False}
_NEAREST = 2
_LONG = 40  # tokens from which the strip scrolls within itself
_MOST_CELLS = 64 * 64  # of a table of pairs
_COMPONENTS = (1, 3, 10)


def one_token(view: ViewState, what: LayerView, service: EncoderService) -> Arrays:
    """The picked token's vector at every layer, and its nearest tokens there."""
    vectors, label = what.encoding.hidden[:, what.picked], what.labels[what.picked]
    names, places, encodings = _candidates(view, what, service)
    found = nearest(vectors, [e.hidden for e in encodings], places, _NEAREST)
    mean = None if what.band is None else what.band.mean
    _strip(what)
    said = nearest_reading(label, names, found, what.encoding.layers, mean)
    kit.reading(said, key="reading_nearest")
    left, right = st.columns(2, gap="medium")
    with left:
        title = f"The vector of {label} at every layer"
        rows = what.encoding.layers
        chosen = rows.index(what.layer)
        st.plotly_chart(
            vector_strips(
                vectors, [f"layer {n}" for n in rows], title=title, chosen=chosen, height=340
            ),
            key="layers_vector",
            config=_BARE,
            alt=f"{title}: each of its {vectors.shape[1]} numbers as a colour; the download has "
            "them all.",
        )
    with right:
        if not len(places):
            return {"picked_vectors": vectors}
        st.caption(f"Nearest to {quoted(label)} among the tokens of all sentences")
        table = _nearest_table(what, names, found.indices, found.cosines)
        numbers = {
            name: st.column_config.NumberColumn("cosine", format="%.4f", width=70)
            for name in table.columns
            if name.startswith("cosine")
        }
        numbers["layer"] = st.column_config.NumberColumn(width=50)
        if "random pairs" in table.columns:
            numbers["random pairs"] = st.column_config.NumberColumn(
                format="%.4f",
                width=95,
                help="The average cosine of random pairs of words at that layer.",
            )
        st.dataframe(table, hide_index=True, column_config=numbers, key="layers_nearest")
    return {"picked_vectors": vectors}


def token_pairs_look(what: LayerView) -> Arrays:
    """The cosine of every two tokens at the chosen layer; few enough tokens play all layers."""
    n_layers, n_tokens = what.encoding.hidden.shape[:2]
    played = n_layers * n_tokens**2 <= MAX_PLAYED
    layers = what.encoding.layers if played else (what.layer,)
    pairs = token_pairs(what.encoding.hidden if played else what.encoding.layer(what.layer)[None])
    here = pairs[layers.index(what.layer)]
    average = None if what.band is None else float(what.band.mean[what.layer])
    kit.reading(
        pairs_reading(here, what.labels, what.own, what.layer, average), key="reading_pairs"
    )
    titles = [pairs_title(matrix, what.labels, what.own) for matrix in pairs]
    title = titles[layers.index(what.layer)]
    st.plotly_chart(
        pairs_heatmap(
            pairs,
            what.labels,
            layers=layers,
            layer=what.layer,
            scale=what.cosine_scale,
            titles=titles,
        ),
        key="layers_pairs",
        config=_BARE,
        alt=f"{title} at layer {what.layer}. Cosine of every two tokens.",
    )
    if not played:
        st.caption(
            f"{n_tokens} tokens are too many to play all layers in the browser: move the layer "
            "slider above."
        )
    if n_tokens**2 <= _MOST_CELLS:
        with st.expander("As a table"):
            st.dataframe(_square(here, what.labels), key="layers_pairs_table")
    return {"token_pairs": here}


def spread(what: LayerView, service: EncoderService) -> Arrays:
    """Anisotropy at every layer, and the variance that the first components hold."""
    with st.spinner("Encoding the sample sentences…"):
        sample = sample_words(what.card, service)
        shares = variance_shares(what.card, sample, max(_COMPONENTS))
    layers = what.encoding.layers
    kit.reading(
        spread_reading(layers, what.layer, what.band, shares, len(sample.keys)),
        key="reading_spread",
    )
    titles = spread_titles(layers, what.band, shares)
    left, right = st.columns(2, gap="medium")
    with left:
        figure = random_pairs_lines(layers, what.band, layer=what.layer, title=titles[0])
        alt = f"{titles[0]}. Average cosine of random pairs of words at every layer."
        st.plotly_chart(figure, key="layers_random_pairs", config=_BARE, alt=alt)
    with right:
        figure = variance_lines(layers, shares, _COMPONENTS, layer=what.layer, title=titles[1])
        alt = f"{titles[1]}. Share of the variance in the first components at every layer."
        st.plotly_chart(figure, key="layers_variance", config=_BARE, alt=alt)
    with st.expander("Numbers, formula and code"):
        table = _spread_table(what, shares)
        numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[1:]}
        st.dataframe(table, hide_index=True, column_config=numbers, key="layers_spread_table")
        st.markdown(SPREAD)
        st.code(variance_snippet(max(_COMPONENTS)), language="python", wrap_lines=True)
    return {"sample_vectors": sample.vectors, "variance_shares": shares}


def _strip(what: LayerView) -> None:
    """The text and its tokens; a click looks at a token closer."""
    tall = what.encoding.n_tokens > _LONG
    with st.container(height=206 if tall else "content", border=False, key="layers_strip"):
        token_strip(
            what.encoding,
            what.vocabulary,
            key="layers_tokens",
            name=f"sentence {letter(what.index)}",
            color=color_of(what.index),
            word=what.sentence.word,
            picked=what.picked,
            on_pick=_pick,
        )


def _pick(position: int) -> None:
    view = session.current().with_control(PAGE, "token", position, -1)
    session.write(view.with_control(PAGE, "section", SECTIONS[0], SECTIONS[0]))


def _candidates(
    view: ViewState, what: LayerView, service: EncoderService
) -> tuple[list[tuple[str, str]], np.ndarray, list[Encoding]]:
    """Every token's name, the places of those that may be nearest, and what they are from."""
    encodings = encode_all(view, service)
    names = [
        (label, letter(i))
        for i, encoding in enumerate(encodings)
        for label in labels(encoding, what.vocabulary)
    ]
    own = np.concatenate([own_tokens(encoding) for encoding in encodings])
    own[sum(e.n_tokens for e in encodings[: what.index]) + what.picked] = False
    return names, np.flatnonzero(own), encodings


def _nearest_table(
    what: LayerView, names: list[tuple[str, str]], indices: np.ndarray, cosines: FloatArray
) -> pd.DataFrame:
    table: dict[str, object] = {"layer": what.encoding.layers}
    for rank in range(indices.shape[1]):
        table[("nearest", "second")[rank]] = [" in ".join(names[i]) for i in indices[:, rank]]
        table[f"cosine {rank}"] = cosines[:, rank]
    if what.band is not None:
        table["random pairs"] = what.band.mean
    return pd.DataFrame(table)


def _square(matrix: FloatArray, names: tuple[str, ...]) -> pd.DataFrame:
    """Tokens by tokens; a name that comes again gets its position."""
    own = [f"{position} {name}" for position, name in enumerate(names)]
    return pd.DataFrame(np.round(matrix, 4), index=own, columns=own)


def _spread_table(what: LayerView, shares: FloatArray) -> pd.DataFrame:
    table: dict[str, object] = {"layer": what.encoding.layers}
    if what.band is not None:
        table |= {
            "random pairs, average": what.band.mean,
            "5th percentile": what.band.low,
            "95th percentile": what.band.high,
        }
    table |= {f"first {count} of the variance": shares[:, count - 1] for count in _COMPONENTS}
    return pd.DataFrame(table)
