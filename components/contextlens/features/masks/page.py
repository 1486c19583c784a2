"""The parts of the Padding & masks page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import claim, say
from contextlens.core import EncoderService, ModelCard
from contextlens.features.masks.batch_grid import batch_grid
from contextlens.features.masks.controls import ALL, AVERAGE, MASK, REAL
from contextlens.features.masks.four_cases import four_cases
from contextlens.features.masks.over_layers import over_layers
from contextlens.features.masks.padded_batch import (
    FORMULA,
    PICTURE,
    Masks,
    batch_arrays,
    position_rows,
    summary_row,
)
from contextlens.features.masks.shapes import shape_rows
from contextlens.features.masks.sorting import sorting
from contextlens.features.masks.token_limit import repetition, token_limit
from contextlens.ui.state import session
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar
from contextlens.ui.widgets.unread import unread

_CHART, _CASES = "masks_batch", "masks_cases"
_FILE = "padding-and-masks"


# --- Toolbar and notes


def toolbar(view: ViewState) -> DeltaGenerator:
    """Draw the controls; return the container for the length, which needs the model."""
    with kit.box(), kit.controls("masks"):
        inputs.two_buttons(view, MASK, say("masks.mask_on"), say("masks.mask_off"))
        inputs.choice(view, AVERAGE)
        length = st.container(width=152, key="masks_length")
        length.empty()  # reserves its space
    return length


def choose_length(masks: Masks, view: ViewState, container: DeltaGenerator) -> None:
    """Draw the control for the padded length."""
    with container:
        inputs.select(view, masks.padding)


def problems(masks: Masks, service: EncoderService, card: ModelCard) -> None:
    """Write notes on what was left out, cut, impossible or unknown to the model."""
    texts = {row.label: row.alone for row in masks.batch.rows} if masks.batches else {}
    kit.notes([*masks.problems(), *unread(texts, service, card.id)])


def nothing() -> None:
    """Write what to do if there is no text at all."""
    st.info(say("masks.page.nothing"), icon=":material/edit:")


# --- The picture


def picture(masks: Masks, view: ViewState) -> None:
    """Draw the finding, the batch and the layer bar."""
    grid, cases = batch_grid(masks), four_cases(masks)
    if cases is None:
        kit.headline(grid.title(), *grid.claims(), key="reading")
    else:
        kit.headline(cases.headline(), *cases.claims(), *grid.most(), key="reading")
    kit.chart(grid.figure(), key=_CHART, alt=grid.alt())
    notes = grid.notes()
    if masks.example:
        n = len(view.sentences) - len(masks.left_out)
        names = {"example": masks.example, "chosen": masks.chosen}
        notes.append(claim("masks.example", n=n, **names))
    st.caption(" ".join(map(str, notes)))
    layer_bar(view, masks.batch.layers)
    sure = [] if cases is None else cases.sure()
    kit.claims([], sure=[*sure, *grid.sure()], key="reading_sure")


def _choose_case() -> None:
    """Set both switches as in the cell that was clicked."""
    points = (session.value(_CASES) or {}).get("selection", {}).get("points", [])
    if points:
        masked, averaged, _ = points[0]["customdata"]
        view = MASK.put(session.current(), bool(masked))
        session.write(AVERAGE.put(view, ALL if averaged else REAL))


def layers(masks: Masks, card: ModelCard) -> None:
    """Draw the described text over the layers, as lines or as a heatmap, and its four cases."""
    result, cases = over_layers(masks, card), four_cases(masks)
    charts = {
        say("masks.page.lines"): lambda: kit.chart(
            result.figure(), key="masks_layers", alt=result.alt()
        ),
        say("masks.page.tokens"): lambda: kit.chart(
            result.heatmap(), key="masks_tokens", alt=result.heatmap_alt()
        ),
    }
    if cases is not None:
        charts[say("masks.page.cases")] = lambda: kit.chart(
            cases.figure(), key=_CASES, alt=cases.alt(), on_select=_choose_case
        )
    kit.one_of(charts, key="masks_looks")


# --- The closer looks


def look_closer(masks: Masks, view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Draw two closed sections: the saving by sorting, and the effect of the model's limit."""
    left, right = st.columns(2, gap="medium")
    with left:
        saved = sorting(masks, service, card)
        with st.expander(str(saved.title()), icon=":material/sort:"):
            st.markdown(" ".join(map(str, saved.claims())))
            st.caption(say("masks.saving.own"))
            kit.table(saved.rows(), key="masks_saving")
    with right:
        row = masks.batch.row(masks.chosen)
        question = say("masks.limit.question", token=card.max_length + 1)
        with st.expander(question, icon=":material/content_cut:"):
            times = inputs.number(view, repetition(service, card, row))
            cut = token_limit(service, card, row.alone, times)
            kit.chart(cut.figure(), key="masks_limit", alt=cut.alt())
            st.markdown(" ".join(map(str, cut.claims())))


# --- Tabs and downloads


def explain(masks: Masks, card: ModelCard) -> None:
    """Draw the tabs under the picture."""
    limits = say("masks.page.limits")
    kit.tabs(lambda: _numbers(masks), lambda: _under_the_hood(masks, card), limits)


def _numbers(masks: Masks) -> None:
    row = masks.row
    st.markdown(say("masks.page.summary", layer=masks.layer))
    summary = [summary_row(text, masks.layer) for text in masks.batch.rows]
    kit.table(summary, key="masks_summary", after=3)
    st.markdown(say("masks.page.positions", label=row.label))
    positions = pd.DataFrame(position_rows(row)).drop(columns="sentence")
    kit.table(positions, key="masks_table", after=5)


def _under_the_hood(masks: Masks, card: ModelCard) -> None:
    rows = shape_rows(card, len(masks.batch.rows), masks.batch.pad_to)
    st.markdown(say("masks.page.shapes"))
    st.table(pd.DataFrame(rows).set_index("code"))
    st.markdown(say("masks.page.outputs"))
    kit.under_the_hood(formula=[FORMULA], snippet=masks.snippet(card), passport=masks.passport)


def downloads(
    masks: Masks, card: ModelCard, container: DeltaGenerator, again: Callable[[], Masks]
) -> None:
    """Draw the Download menu.

    Args:
        masks: the data of the page.
        card: the model's card.
        container: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    key = "masks.page.picture.on" if masks.masked else "masks.page.picture.off"
    case = say(key, layer=masks.layer, pad_to=masks.batch.pad_to)
    caption = f"{masks.key}\n{case}\n{export.caption(masks.passport)}"
    snippets = [(say("page.same_numbers"), masks.snippet(card)), ("", PICTURE)]
    texts = {row.label: Sentence(row.alone.text, row.alone.pair) for row in masks.batch.rows}
    kit.downloads(
        container,
        caption,
        page="masks",
        texts=texts,
        chart=_CHART,
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            masks.passport,
            rows=lambda: [r for row in again().batch.rows for r in position_rows(row)],
            arrays=lambda: batch_arrays(again().batch),
        ),
    )
