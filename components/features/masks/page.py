"""The parts of the Padding & masks page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import ModelCard
from components.features.masks.compute import Masks, color_of_cells
from components.features.masks.controls import MASK, SENTENCE, color_within
from components.features.masks.explain import FORMULA, LIMITS, OUTPUTS
from components.features.masks.figures.batch import batch_grid
from components.features.masks.figures.laboratory import layer_lines, mask_range, token_heatmap
from components.features.masks.measures.laboratory import Lab
from components.features.masks.measures.shapes import shape_steps
from components.features.masks.measures.tables import arrays, summary_rows, token_rows
from components.features.masks.reading import limits
from components.features.masks.reading.batch import (
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
    "choices",
    "downloads",
    "explain",
    "nothing",
    "picture",
    "problems",
    "toolbar",
    "words",
]

_CHART = "masks_batch"
_FILE = "padding-and-masks"


def toolbar(view: ViewState) -> DeltaGenerator:
    """The editor, on screen before the model; gives the place of the choices that need it."""
    with kit.box():
        place = kit.controls()
    with place, st.popover("Edit", icon=":material/edit:", type="tertiary"):
        sentences.sentence_editor(view, "sentences", where="page", least=1)
        st.caption("With a second text, a sentence and it are read as a pair.")
        for i in range(len(view.sentences)):
            sentences.pair_field(view, i, key=f"masks_pair_{i}")
    return place


def choices(masks: Masks, view: ViewState, card: ModelCard, place: DeltaGenerator) -> None:
    """The mask itself, what to pad to, which sentence, and how to colour."""
    with place:
        with st.popover("Options", icon=":material/tune:", type="tertiary"):
            inputs.choice(view, color_within(card))
        inputs.switch(view, MASK)
        inputs.choice(view, masks.padding)
        inputs.sentence(view, SENTENCE)


def problems(masks: Masks) -> None:
    """What was left out, cut or not possible, in a sentence each."""
    limit = list(masks.padding.options)[-1]
    said = limits.problems(masks.lab, left_out=masks.left_out, unfit=masks.unfit, limit=limit)
    for sentence in said:
        st.caption(sentence)


def nothing() -> None:
    """What to do where there is no text at all."""
    st.info("Type a sentence: every one here is blank.", icon=":material/edit:")


def picture(masks: Masks, view: ViewState, card: ModelCard) -> None:
    """The batch, and beside it the chosen text over the layers."""
    lab, _ = masks.batch
    scale = mask_range(lab)
    left, right = st.columns([9, 11], gap="medium")
    with left:
        _batch(masks, view, card, scale)
    with right:
        _layers(masks, card, scale)


def words(masks: Masks) -> None:
    """The reading, and that padding has vectors too."""
    lab, row = masks.batch
    kit.reading(masks_reading(lab, row, masks.layer))
    if note := padding_note(lab, row, masks.layer):
        st.caption(note)


def explain(masks: Masks, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(masks), lambda: _under_the_hood(masks, card), LIMITS)


def downloads(masks: Masks, place: DeltaGenerator, again: Callable[[], Masks]) -> None:
    """The page's Download menu.

    Args:
        masks: what is shown.
        place: of the menu.
        again: computes it once more, for a file: what a session keeps must not refer to it.
    """
    lab, _ = masks.batch
    how = (
        f"Cosine of each token with itself in the sentence alone · layer {masks.layer} · padded to "
        f"{lab.pad_to} · mask {'on' if lab.masked else 'off'}"
    )
    caption = f"{masks.key}\n{how}\n{export.caption(masks.passport)}"
    with kit.downloads(place, caption, chart=_CHART, name=_FILE):
        kit.download_files(
            _FILE,
            masks.passport,
            rows=lambda: [r for row in again().batch[0].rows for r in token_rows(row)],
            arrays=lambda: arrays(again().batch[0]),
        )


def _batch(masks: Masks, view: ViewState, card: ModelCard, scale: tuple[float, float]) -> None:
    lab, row = masks.batch
    color = color_of_cells(view, card)
    cosines = color == "cosine"
    title = batch_title(lab, row, masks.layer) if cosines else share_title(lab)
    kit.chart(
        batch_grid(lab, masks.layer, color=color, scale=scale, title=title),
        key=_CHART,
        alt=f"{title}. The batch: a column for each sentence, padding hatched at its end.",
    )


def _layers(masks: Masks, card: ModelCard, scale: tuple[float, float]) -> None:
    _, row = masks.batch
    title = layers_title(row)
    pooler = _pooler_name(card)

    def lines() -> None:
        kit.chart(
            layer_lines(row, masks.layer, scale=scale, pooler=pooler, title=title),
            key="masks_layers",
            alt=f"{title}. Cosine with the sentence alone at every layer.",
        )

    def tokens() -> None:
        kit.chart(
            token_heatmap(row, scale=scale, title=title),
            key="masks_tokens",
            alt=f"{title}. Cosine of every token with itself at every layer.",
        )

    kit.one_of({"Layer by layer": lines, "Every token": tokens}, key="masks_looks")


def _pooler_name(card: ModelCard) -> str:
    trained = card.provenance.pooler.state == "trained"
    return "pooler_output" if trained else "pooler (untrained?)"


def _numbers(masks: Masks) -> None:
    lab, row = masks.batch
    st.markdown(f"**How like itself each sentence is at layer {masks.layer}** (cosine)")
    summary = [summary_rows(each, masks.layer) for each in lab.rows]
    kit.table(summary, key="masks_summary", after=3)
    st.markdown(f"**Every position of {row.label}**")
    positions = pd.DataFrame(token_rows(row)).drop(columns="sentence")
    kit.table(positions, key="masks_table", after=5)


def _under_the_hood(masks: Masks, card: ModelCard) -> None:
    lab, _ = masks.batch
    st.markdown("**Shapes, step by step**")
    st.table(pd.DataFrame(_shapes(card, lab)).set_index("code"))
    st.markdown(OUTPUTS)
    texts = [(row.label, row.alone.text, row.alone.pair) for row in lab.rows]
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=masks_snippet(card, texts, pad_to=lab.pad_to, masked=lab.masked),
        passport=masks.passport,
    )


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
