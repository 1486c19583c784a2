"""The parts of the Padding & masks page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import ModelCard
from components.features.masks.compute import Masks, color_of_cells
from components.features.masks.downloads import arrays, summary_rows, token_rows
from components.features.masks.explain import FORMULA, LIMITS, MASK_HELP, OUTPUTS, PAD_TO_HELP
from components.features.masks.figures.batch import batch_grid
from components.features.masks.figures.laboratory import layer_lines, mask_range, token_heatmap
from components.features.masks.measures.laboratory import Lab, LabRow
from components.features.masks.measures.shapes import shape_steps
from components.features.masks.reading import (
    batch_title,
    layers_title,
    masks_reading,
    padding_note,
    share_title,
)
from components.features.masks.snippet import masks_snippet
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit, sentences

__all__ = [
    "controls",
    "downloads",
    "explain",
    "nothing",
    "picture",
    "problems",
    "terms",
    "toolbar",
    "words",
]

PAGE = "masks"
CHART = "masks_batch"
_FILE = "padding-and-masks"
_PLAIN: dict[str, Any] = {"displayModeBar": False, "displaylogo": False}


def toolbar(view: ViewState) -> DeltaGenerator:
    """The editor, on screen before the model; gives the place of the controls that need it."""
    place = st.container(horizontal=True, gap="small", vertical_alignment="bottom")
    with place, st.popover("Edit", icon=":material/edit:", type="tertiary"):
        sentences.sentence_editor(view, "sentences", where="page", least=1)
        st.caption("With a second text, a sentence and it are read as a pair.")
        for i in range(len(view.sentences)):
            sentences.pair_field(view, i, key=f"masks_pair_{i}")
    return place


def controls(masks: Masks, view: ViewState, card: ModelCard, place: DeltaGenerator) -> None:
    """The mask itself, what to pad to, which sentence, and how to colour."""
    with place:
        colors = ["Cosine", "Mask", *(["Segment"] if card.has_segments else [])]
        with st.popover("Options", icon=":material/tune:", type="tertiary"):
            inputs.choice(view, PAGE, "color", colors, "Colour the batch by")
        inputs.switch(view, PAGE, "mask", "Mask", help=MASK_HELP)
        options, default = masks.pad_options, masks.pad_default
        inputs.choice(view, PAGE, "pad_to", options, "Pad to", default=default, help=PAD_TO_HELP)
        inputs.sentence_choice(view, PAGE)


def problems(masks: Masks) -> None:
    """What was left out, cut or not possible, in a sentence each."""
    if masks.left_out:
        names, verb = ", ".join(masks.left_out), "is" if len(masks.left_out) == 1 else "are"
        st.caption(f"{names} {verb} empty and left out of the batch.")
    if masks.lab is None:
        return
    if masks.unfit:
        st.caption(
            f"Padding to {escape(masks.unfit)} is not possible here: the longest sentence has "
            f"{max(masks.lab.lengths)} tokens and the model takes {masks.pad_options[-1]}. "
            f"Padded to {masks.lab.pad_to} instead."
        )
    for row in masks.lab.rows:
        if row.alone.n_truncated:
            st.caption(
                f"{row.label}: the text is longer than the model takes; its last "
                f"{row.alone.n_truncated} tokens were left out."
            )


def nothing() -> None:
    """What to do where there is no text at all."""
    st.info("Type a sentence: every one here is empty.", icon=":material/edit:")


def picture(masks: Masks, view: ViewState, card: ModelCard) -> None:
    """The batch, and beside it the chosen text over the layers."""
    lab, row = _shown(masks)
    scale, color = mask_range(lab), color_of_cells(view, card)
    left, right = st.columns([9, 11], gap="medium")
    with left:
        title = batch_title(lab, row, masks.layer) if color == "cosine" else share_title(lab)
        figure = batch_grid(lab, masks.layer, color=color, scale=scale, title=title)
        alt = f"{title}. The batch: a column for each sentence, padding hatched at its end."
        st.plotly_chart(figure, key=CHART, config=_PLAIN, alt=alt)
    with right:
        title = layers_title(row, masked=lab.masked)
        lines, tokens = st.tabs(["Layer by layer", "Every token"])
        with lines:
            figure = layer_lines(
                row, masks.layer, scale=scale, pooler=_pooler_name(card), title=title
            )
            alt = f"{title}. Cosine with the sentence alone at every layer."
            st.plotly_chart(figure, key="masks_layers", config=_PLAIN, alt=alt)
        with tokens:
            figure = token_heatmap(row, scale=scale, title=title)
            alt = f"{title}. Cosine of every token with itself at every layer."
            st.plotly_chart(figure, key="masks_tokens", config=_PLAIN, alt=alt)


def words(masks: Masks) -> None:
    """The reading, and that padding has vectors too."""
    lab, row = _shown(masks)
    kit.reading(masks_reading(lab, row, masks.layer))
    note = padding_note(lab, row, masks.layer)
    if note:
        st.caption(note)


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms(
        "batch", "padding", "attention mask", "segment", "[CLS]", "pooler", "cosine similarity"
    )


def explain(masks: Masks, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(masks), lambda: _under_the_hood(masks, card), LIMITS)


def downloads(masks: Masks, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    lab, _ = _shown(masks)
    how = (
        f"Cosine of each token with itself in the sentence alone · layer {masks.layer} · padded to "
        f"{lab.pad_to} · mask {'on' if lab.masked else 'off'}"
    )
    caption = f"{masks.key}\n{how}\n{export.caption(masks.passport)}"
    with kit.downloads(place, caption, chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            masks.passport,
            rows=lambda: [r for row in lab.rows for r in token_rows(row)],
            arrays=lambda: arrays(lab),
        )


def _shown(masks: Masks) -> tuple[Lab, LabRow]:
    if masks.lab is None or masks.row is None:
        raise ValueError("There is no sentence to show; ask `masks.lab` first.")
    return masks.lab, masks.row


def _pooler_name(card: ModelCard) -> str:
    trained = card.provenance.pooler.state == "trained"
    return "pooler_output" if trained else "pooler (untrained)"


def _numbers(masks: Masks) -> None:
    lab, row = _shown(masks)
    summary = pd.DataFrame([summary_rows(each, masks.layer) for each in lab.rows])
    four = st.column_config.NumberColumn(format="%.4f")
    st.markdown(f"**How like itself each sentence is at layer {masks.layer}** (cosine)")
    st.dataframe(
        summary,
        hide_index=True,
        column_config=dict.fromkeys(summary.columns[3:], four),
        key="masks_summary",
    )
    tokens = pd.DataFrame(token_rows(row)).drop(columns="sentence")
    st.markdown(f"**Every position of {row.label}**")
    st.dataframe(
        tokens,
        hide_index=True,
        column_config=dict.fromkeys(tokens.columns[5:], four),
        placeholder="",
        key="masks_table",
    )


def _under_the_hood(masks: Masks, card: ModelCard) -> None:
    lab, _ = _shown(masks)
    st.markdown("**Shapes, step by step**")
    st.table(pd.DataFrame(_shapes(card, lab)).set_index("code"))
    st.markdown(OUTPUTS)
    formula, code = st.columns(2, gap="large")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        texts = [(row.label, row.alone.text, row.alone.pair) for row in lab.rows]
        snippet = masks_snippet(card, texts, pad_to=lab.pad_to, masked=lab.masked)
        st.code(snippet, language="python")
        st.markdown("**Passport**")
        kit.passport(masks.passport)


def _shapes(card: ModelCard, lab: Lab) -> list[dict[str, str]]:
    return [
        {
            "code": f"`{step.code}`",
            "axes": f"`{step.axes}`",
            "shape": f"`{list(step.shape)}`" if step.shape else "",
            "what it is": escape(step.meaning),
        }
        for step in shape_steps(card, len(lab.rows), lab.pad_to)
    ]
