"""The parts of the Meaning in context page: toolbar, picture, tabs and downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.ruler import Ruler
from contextlens.analysis.similarity import pair_rows
from contextlens.content.language import say
from contextlens.core import ModelCard
from contextlens.core.errors import JobError
from contextlens.core.schema import FloatArray, Passport
from contextlens.features.meaning.explain import FORMULA
from contextlens.features.meaning.figures import cosine_heatmap
from contextlens.features.meaning.snippet import PICTURE, SnippetWord, cosine_snippet
from contextlens.ui.models import runtime
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.comparison import drawing
from contextlens.ui.widgets.comparison.answer import Answer
from contextlens.ui.widgets.comparison.compute import Portrait, meaning_of, portrait_of
from contextlens.ui.widgets.comparison.controls import CENTRED, LINES, POOLING
from contextlens.ui.widgets.comparison.ruler import ruler_note, ruler_of, ruler_reading
from contextlens.ui.widgets.comparison.senses import NamedUses
from contextlens.ui.widgets.layer_bar import layer_bar

CHART = "meaning_chart"
_FILE = "meaning-in-context"


def toolbar(view: ViewState) -> None:
    """Draw the options."""
    with kit.menu():
        inputs.choice(view, POOLING)
        inputs.choice(view, LINES)
        inputs.switch(view, CENTRED)


def picture(
    view: ViewState, portrait: Portrait, ruler: Ruler | None, uses: NamedUses | None
) -> None:
    """The lines over all layers and their reading; beside them the matrices and the ruler."""
    comparison, on_ruler = portrait.comparison, ruler_of(portrait, ruler)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        drawing.lines(portrait, key=CHART, height=330)
        layer_bar(view, comparison.layers)
        drawing.words(portrait, uses)
    with right:
        kit.one_of(
            {
                say("meaning.in_context"): lambda: _matrix(
                    portrait, comparison.cosines[portrait.row], "here"
                ),
                say("meaning.static"): lambda: _matrix(portrait, comparison.static, "static"),
            },
            key="meaning_matrices",
        )
        if on_ruler is not None and uses is None:
            drawing.ruler(on_ruler, scale=portrait.scale, key="meaning_ruler", height=160)
            st.caption(str(ruler_reading(on_ruler)), help=ruler_note(on_ruler))


def explain(portrait: Portrait, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(
        lambda: _numbers(portrait), lambda: _under_the_hood(portrait, card), say("meaning.limits")
    )


def downloads(
    view: ViewState,
    portrait: Portrait,
    card: ModelCard,
    answer: Answer | None,
    container: DeltaGenerator,
) -> None:
    """The page's Download menu; its picture's finding is the answer, or else the main number."""
    meaning = portrait.meaning
    at = say("meaning.at_layer", layer=portrait.layer)
    caption = f"{meaning.key}\n{at}\n{export.caption(meaning.passport)}"
    scripts = snippets(portrait, card)
    is_open = answer is not None and (answer.asks or answer.key == "answer.pending")
    kit.downloads(
        container,
        caption,
        page="meaning",
        chart=CHART,
        name=_FILE,
        snippets=scripts,
        reading_key="reading" if is_open else "headline",
        files=lambda: files(view, meaning.passport),
    )


def snippets(portrait: Portrait, card: ModelCard) -> list[tuple[str, str]]:
    """Return pairs of a title and Python: the numbers, then a picture of them."""
    return [(say("page.same_numbers"), _snippet(portrait, card)), ("", PICTURE)]


def files(view: ViewState, passport: Passport) -> None:
    """Draw the buttons for the numbers as files; the session keeps the view, not the numbers."""
    kit.download_files(
        _FILE,
        passport,
        rows=lambda: _rows(_restored(view)),
        arrays=lambda: _arrays(_restored(view)),
    )


def _restored(view: ViewState) -> Portrait:
    """Return the comparison of a view as it was shown.

    Raises:
        JobError: the average that centred cosines need is no longer there.
    """
    service = runtime.service()
    card = service.load(view.model)
    baseline = runtime.measured_baseline(card)
    portrait = portrait_of(meaning_of(view, service, card, baseline), view)
    if portrait is None or (CENTRED.of(view) and baseline is None):
        raise JobError(say("why.work.gone"))
    return portrait


def _rows(portrait: Portrait) -> list[dict[str, str | float]]:
    return pair_rows(portrait.comparison, portrait.meaning.shared_band)


def _matrix(portrait: Portrait, matrix: FloatArray, name: str) -> None:
    figure = cosine_heatmap(portrait.comparison, matrix, scale=portrait.scale, title="", height=276)
    kit.chart(figure, key=f"meaning_matrix_{name}", alt=say("meaning.matrix_alt"))


def _numbers(portrait: Portrait) -> None:
    kit.table(_rows(portrait), key="meaning_table", after=2)


def _under_the_hood(portrait: Portrait, card: ModelCard) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=_snippet(portrait, card),
        shapes=kit.shapes(_shapes(portrait), key="meaning_shapes"),
        passport=portrait.meaning.passport,
    )


def _snippet(portrait: Portrait, card: ModelCard) -> str:
    chosen = [
        SnippetWord(c.item.name, c.encoding.text, *c.span, c.item.role == "reference")
        for c in portrait.meaning.chosen
    ]
    return cosine_snippet(
        card, chosen, portrait.meaning.pooling, centred=portrait.comparison.centred
    )


def _shapes(portrait: Portrait) -> Sequence[dict[str, str]]:
    return [
        {
            "word": chosen.item.name,
            "hidden (layers, tokens, dims)": str(chosen.encoding.hidden.shape),
            "word vector (layers, dims)": str(vectors.shape),
        }
        for chosen, vectors in zip(
            portrait.meaning.chosen, portrait.comparison.vectors, strict=True
        )
    ]


def _arrays(portrait: Portrait) -> dict[str, NDArray[Any]]:
    comparison, meaning = portrait.comparison, portrait.meaning
    band = meaning.shared_band
    items = [
        {"name": c.item.name, "text": c.encoding.text, "span": c.span}
        for c in portrait.meaning.chosen
    ]
    return {
        "vectors": comparison.vectors,
        "cosines": comparison.cosines,
        "static_cosines": comparison.static,
        "layers": np.array(comparison.layers),
        "items": np.array(json.dumps(items)),
        **({} if meaning.centre is None else _centre(*meaning.centre)),
        **({} if band is None else {"random_pairs": np.stack([band.low, band.mean, band.high])}),
    }


def _centre(context: FloatArray, static: FloatArray) -> dict[str, NDArray[Any]]:
    return {"baseline_mean": context, "static_mean": static}
