"""The parts of the Padding & masks page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core import EncoderService, ModelCard
from contextlens.features.masks import reading
from contextlens.features.masks.compute import Masks
from contextlens.features.masks.controls import ALL, AVERAGE, MASK, REAL, SENTENCE
from contextlens.features.masks.explain import FORMULA
from contextlens.features.masks.figures import (
    batch_grid,
    cases_grid,
    layer_lines,
    mask_range,
    token_heatmap,
)
from contextlens.features.masks.measures import (
    PaddedBatch,
    arrays,
    shape_steps,
    summary_rows,
    token_rows,
)
from contextlens.features.masks.snippet import PICTURE, masks_snippet
from contextlens.ui.state import session
from contextlens.ui.state.view import Sentence, ViewState
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.unread import unread

_CHART, _CASES = "masks_batch", "masks_cases"
_FILE = "padding-and-masks"


def toolbar(view: ViewState) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draw the controls; return the places for the length and the sentence: they need the model."""
    with kit.box():
        with kit.controls("masks"):
            inputs.switch(view, MASK)
            inputs.choice(view, AVERAGE)
            length = st.container(width=112, key="masks_length")
            sentence = st.container(width="content", key="masks_lit")
            length.empty()  # so that its room is there
            sentence.empty()
            with st.popover("Edit", icon=":material/edit:", type="tertiary"):
                sentences.sentence_editor(view, "sentences", where="page", least=1)
                st.caption(say("masks.page.pair"))
                for i in range(len(view.sentences)):
                    sentences.pair_field(view, i, key=f"masks_pair_{i}")
        st.caption(say("masks.watch"))
    return length, sentence


def choose_text(
    masks: Masks, view: ViewState, length: DeltaGenerator, sentence: DeltaGenerator
) -> None:
    """The controls for the padded length and, lit, for the sentence that the numbers are for."""
    with length:
        inputs.select(view, masks.padding)
    with sentence:
        described = masks.chosen if masks.row is None else masks.row.label
        inputs.sentence(SENTENCE.put(view, described), SENTENCE)


def problems(masks: Masks, service: EncoderService, card: ModelCard) -> None:
    """Notes on what was left out, cut, impossible or unknown to the model, one sentence each."""
    limit = int(list(masks.padding.options)[-1])
    claims = reading.problems(
        masks.lab,
        left_out=masks.left_out,
        unfit=masks.unfit,
        limit=limit,
        labels=(masks.chosen, masks.row.label) if masks.row else ("", ""),
    )
    texts = {} if masks.lab is None else {row.label: row.alone for row in masks.lab.rows}
    kit.notes([*claims, *unread(texts, service, card.id)])


def nothing() -> None:
    """Instructions if there is no text at all."""
    st.info(say("masks.page.nothing"), icon=":material/edit:")


def picture(masks: Masks, view: ViewState) -> None:
    """The batch, and beside it the four cases of the chosen text."""
    left, right = st.columns([11, 9], gap="medium")
    with right:  # first, as it is above the batch on a phone
        _cases(masks, view)
    with left:
        _batch(masks, averaged=AVERAGE.of(view) == ALL)
        if masks.example:
            n_own = len(view.sentences) - len(masks.left_out)
            st.caption(str(reading.example_note(masks.example, n_own)))


def words(masks: Masks, view: ViewState) -> None:
    """The reading, and the meaning of the hatching."""
    selection = (*masks.batch, masks.layer)
    claims = reading.masks_reading(masks.batch[0], masks.cases, _case(view))
    kit.claims(claims, sure=reading.masks_sure(*selection))
    if note := reading.padding_note(*selection):
        st.caption(str(note))


def over_layers(masks: Masks, card: ModelCard) -> None:
    """The chosen text over the layers: its means and tokens, as lines or as a heatmap."""
    _, row = masks.batch
    title, scale = str(reading.layers_title(row)), mask_range(*masks.batches)
    pooler = _pooler_name(card)

    def lines() -> None:
        kit.chart(
            layer_lines(row, masks.layer, scale=scale, pooler=pooler, title=title),
            key="masks_layers",
            alt=say("masks.page.lines_alt", title=title),
        )

    def tokens() -> None:
        kit.chart(
            token_heatmap(row, scale=scale, title=title),
            key="masks_tokens",
            alt=say("masks.page.tokens_alt", title=title),
        )

    looks = {say("masks.page.lines"): lines, say("masks.page.tokens"): tokens}
    kit.one_of(looks, key="masks_looks")


def explain(masks: Masks, card: ModelCard) -> None:
    """The tabs under the picture."""
    limits = say("masks.page.limits")
    kit.tabs(lambda: _numbers(masks), lambda: _under_the_hood(masks, card), limits)


def downloads(
    masks: Masks, card: ModelCard, place: DeltaGenerator, again: Callable[[], Masks]
) -> None:
    """The page's Download menu.

    Args:
        masks: the data of the page.
        card: the model's card.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    lab, _ = masks.batch
    case = "on" if lab.masked else "off"
    case_note = say(f"masks.page.picture.{case}", layer=masks.layer, pad_to=lab.pad_to)
    caption = f"{masks.key}\n{case_note}\n{export.caption(masks.passport)}"
    snippets = [(say("page.same_numbers"), _snippet(masks, card)), ("", PICTURE)]
    shown = {row.label: Sentence(row.alone.text, row.alone.pair) for row in lab.rows}
    with kit.downloads(
        place, caption, page="masks", texts=shown, chart=_CHART, name=_FILE, snippets=snippets
    ):
        kit.download_files(
            _FILE,
            masks.passport,
            rows=lambda: [r for row in again().batch[0].rows for r in token_rows(row)],
            arrays=lambda: arrays(again().batch[0]),
        )


def _batch(masks: Masks, *, averaged: bool) -> None:
    lab, _ = masks.batch
    title, scale = str(reading.batch_title(lab)), mask_range(*masks.batches)
    kit.chart(
        batch_grid(lab, masks.layer, scale=scale, averaged=averaged, title=title),
        key=_CHART,
        alt=say("masks.page.batch_alt", title=title),
    )


def _cases(masks: Masks, view: ViewState) -> None:
    cases = masks.cases
    if cases is None:
        return
    title = str(reading.cases_title(cases, _case(view)))
    kit.chart(
        cases_grid(
            cases,
            masked=MASK.of(view),
            averaged=AVERAGE.of(view) == ALL,
            scale=mask_range(*masks.batches),
            title=title,
        ),
        key=_CASES,
        alt=say("masks.page.cases_alt", title=title),
        on_select=_choose_case,
    )


def _case(view: ViewState) -> str:
    return reading.case_of(masked=MASK.of(view), average=AVERAGE.of(view))


def _choose_case() -> None:
    """Set both switches as in the cell that was clicked."""
    points = (session.value(_CASES) or {}).get("selection", {}).get("points", [])
    if points:
        masked, averaged, _ = points[0]["customdata"]
        view = MASK.put(session.current(), bool(masked))
        session.write(AVERAGE.put(view, ALL if averaged else REAL))


def _pooler_name(card: ModelCard) -> str:
    trained = card.provenance.pooler.state == "trained"
    return say("masks.line.pooler" if trained else "masks.line.pooler_untrained")


def _numbers(masks: Masks) -> None:
    lab, row = masks.batch
    st.markdown(say("masks.page.summary", layer=masks.layer))
    summary = [summary_rows(text, masks.layer) for text in lab.rows]
    kit.table(summary, key="masks_summary", after=3)
    st.markdown(say("masks.page.positions", label=row.label))
    positions = pd.DataFrame(token_rows(row)).drop(columns="sentence")
    kit.table(positions, key="masks_table", after=5)


def _under_the_hood(masks: Masks, card: ModelCard) -> None:
    lab, _ = masks.batch
    st.markdown(say("masks.page.shapes"))
    st.table(pd.DataFrame(_shapes(card, lab)).set_index("code"))
    st.markdown(say("masks.page.outputs"))
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=_snippet(masks, card),
        passport=masks.passport,
    )


def _snippet(masks: Masks, card: ModelCard) -> str:
    lab, _ = masks.batch
    texts = [(row.label, row.alone.text, row.alone.pair) for row in lab.rows]
    return masks_snippet(card, texts, pad_to=lab.pad_to, masked=lab.masked)


def _shapes(card: ModelCard, lab: PaddedBatch) -> list[dict[str, str]]:
    return [
        {
            "code": f"`{step.code}`",
            "axes": f"`{step.axes}`",
            "shape": f"`{list(step.shape)}`" if step.shape else "",
            "what it is": escape(step.meaning),
        }
        for step in shape_steps(card, len(lab.rows), lab.pad_to)
    ]
