"""The parts of the Layer by layer page: toolbar, picture, reading, shapes, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.analysis.tokens import labels
from components.core import EncoderService, Encoding
from components.features.layers.compute import (
    MEASURES,
    PAGE,
    SECTIONS,
    LayerView,
    encode_all,
    index_of,
)
from components.features.layers.explain import FORMULA, LIMITS
from components.features.layers.figures.tokens import layers_heatmap
from components.features.layers.measures.tokens import layer_rows
from components.features.layers.reading.tokens import layers_picture_title, layers_reading
from components.features.layers.snippet import layers_snippet
from components.ui.state.view import ViewState, letter
from components.ui.widgets import export, inputs, kit, sentences

__all__ = [
    "Arrays",
    "closer",
    "downloads",
    "explain",
    "notes",
    "picture",
    "terms",
    "toolbar",
    "words",
]

CHART = "layers_heatmap"
Arrays = dict[str, NDArray[Any]]
_FILE = "layer-by-layer"


def toolbar(view: ViewState) -> None:
    """Which sentence, what is measured, and the sentences' texts for a phone."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if len(view.sentences) > 1:
            inputs.sentence_choice(view, PAGE)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            sentences.pair_field(view, index_of(view), key="page_pair")
        inputs.choice(
            view,
            PAGE,
            "measure",
            list(MEASURES),
            "Cosine of each token at each layer, or its vector's length",
        )


def picture(view: ViewState, what: LayerView) -> None:
    """The main picture: every token at every layer."""
    title = layers_picture_title(what.measure, what.labels[0])
    followed = view.control(PAGE, "section", SECTIONS[0]) == SECTIONS[0]
    st.plotly_chart(
        layers_heatmap(
            what.measure,
            what.labels,
            layer=what.layer,
            picked=what.picked if followed else None,
            name=what.name,
            scale=what.scale,
            title=title,
        ),
        key=CHART,
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"{title}. The {what.name} of every token at every layer; the table has the numbers.",
    )


def words(what: LayerView) -> None:
    """The reading."""
    mean = None if what.band is None else what.band.mean
    kit.reading(layers_reading(what.measure, what.labels, what.layer, mean))


def notes(what: LayerView) -> None:
    """The shapes, and what this text or model does not have."""
    layers, tokens, dims = what.encoding.hidden.shape
    pooler = what.card.provenance.pooler.state
    pooled = "none" if what.encoding.pooler_output is None else f"({dims},), {pooler}"
    st.caption(
        f"**Shapes** · hidden states ({layers} layers, {tokens} tokens, {dims} dimensions) · one "
        f"token ({dims},) · pooler output {pooled}"
    )
    for note in _notes(what):
        st.caption(note)


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms(
        "hidden state", "layer", "cosine similarity", "vector length", "[CLS]", "anisotropy",
        "linear CKA", "pooler",
    )  # fmt: skip


def closer(
    place: DeltaGenerator, view: ViewState, looks: Mapping[str, Callable[[], Arrays]], more: Arrays
) -> None:
    """The five closer looks, one at a time; what the shown one adds to the download is in `more`.

    It may wait for another model, so it is filled last.
    """
    with place:
        chosen = inputs.choice(view, PAGE, "section", SECTIONS, "Look closer")
        with st.container(border=True):
            more.update(looks[chosen]())


def explain(what: LayerView) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what), LIMITS)


def downloads(
    view: ViewState, what: LayerView, service: EncoderService, place: DeltaGenerator, more: Arrays
) -> None:
    """The page's Download menu: the numbers of every current sentence."""
    sentence = f"{letter(what.index)}: {_cut(what.encoding.text)}"
    with kit.downloads(
        place, f"{sentence}\n{export.caption(what.passport)}", chart=CHART, name=_FILE
    ):
        kit.download_files(
            _FILE,
            what.passport,
            rows=lambda: _rows(what, encode_all(view, service)),
            arrays=lambda: {**_arrays(encode_all(view, service)), **more},
        )


def _notes(what: LayerView) -> list[str]:
    """What a reader should know before trusting what is shown."""
    own, unknown, lost = int(what.own.sum()), what.n_unknown, what.encoding.n_truncated
    said = []
    if unknown:
        many = "The only token" if unknown == own == 1 else f"{unknown} of {own} tokens"
        verb = "is" if unknown == 1 else "are"
        said.append(
            f"{many} of this text {verb} unknown to the model: what the layers hold there is "
            "about an unknown piece, not about what you typed."
        )
    if lost:
        said.append(
            f"The text is longer than the model takes; its last {lost} tokens are left out."
        )
    if what.encoding.pair is not None:
        said.append(
            "Both texts run through the layers together; every token can draw on either."
            if what.card.has_segments
            else "Both texts run through the layers together. This model has no segments: only the "
            "tokens between them tell it where the second begins."
        )
    return said


def _numbers(what: LayerView) -> None:
    found = what.measure
    table = pd.DataFrame(found.values.T, columns=[f"layer {n}" for n in found.layers])
    table.insert(0, "token", what.labels)
    table.insert(0, "position", np.arange(len(table)))
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[2:]}
    st.caption(f"The {what.name}, for each token of sentence {letter(what.index)}.")
    st.dataframe(table, hide_index=True, column_config=numbers, placeholder="", key="layers_table")


def _under_the_hood(what: LayerView) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        snippet = layers_snippet(what.card, what.encoding.text, what.encoding.pair)
        st.code(snippet, language="python", wrap_lines=True)
        st.markdown("**Passport**")
        kit.passport(what.passport)


def _rows(what: LayerView, encodings: list[Encoding]) -> list[dict[str, Any]]:
    return [
        row
        for i, encoding in enumerate(encodings)
        for row in layer_rows(encoding, labels(encoding, what.vocabulary), letter(i))
    ]


def _arrays(encodings: list[Encoding]) -> Arrays:
    """Every layer of every sentence, by the sentence's letter."""
    arrays: Arrays = {"layers": np.array(encodings[0].layers)}
    for i, encoding in enumerate(encodings):
        name = letter(i)
        arrays[f"hidden_{name}"] = encoding.hidden
        arrays[f"tokens_{name}"] = np.array(encoding.tokens)
        arrays[f"token_ids_{name}"] = encoding.token_ids
        arrays[f"text_{name}"] = np.array(
            [encoding.text, *([encoding.pair or ""][: bool(encoding.pair)])]
        )
        if encoding.pooler_output is not None:
            arrays[f"pooler_output_{name}"] = encoding.pooler_output
    return arrays


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 80 else flat[:79] + "…"
