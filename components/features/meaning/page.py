"""The parts of the Meaning in context page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.analysis.similarity import Comparison, Pair, pair_rows
from components.content.wording import escape, quoted
from components.core import ModelCard
from components.core.schema import FloatArray
from components.features.meaning.explain import CENTRED_DEFINITION, FORMULA, LIMITS
from components.features.meaning.snippet import SnippetWord, cosine_snippet
from components.figures.similarity import cosine_heatmap, cosine_lines, cosine_range
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit, sentences
from components.ui.widgets.comparison.compute import Meaning
from components.ui.widgets.comparison.reading import meaning_in_context, meaning_title

__all__ = [
    "Shown",
    "downloads",
    "explain",
    "lines",
    "picture",
    "problems",
    "shown",
    "terms",
    "toolbar",
    "words",
]

PAGE = "meaning"
CHART = "meaning_lines"
_FILE = "meaning-in-context"
_LINES = {"All": "all", "Sentences": "sentences", "References": "references"}


@dataclass(frozen=True, eq=False)
class Shown:
    """A comparison with the choices of how to show it."""

    meaning: Meaning
    comparison: Comparison
    pairs: list[Pair]
    layer: int
    scale: tuple[float, float]


def toolbar(view: ViewState) -> None:
    """Editors for a phone, and the options of how to compare."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
        with st.popover("References", icon=":material/flag:", type="tertiary"):
            st.caption("Words or phrases to compare with. In a reference sentence, click its word.")
            sentences.sentence_editor(view, "references", where="page")
        with st.popover("Options", icon=":material/tune:", type="tertiary"):
            inputs.choice(
                view,
                PAGE,
                "pooling",
                ["mean", "first", "last"],
                "Word vector from its sub-tokens",
                help="How the vectors of a word's sub-tokens become one.",
            )
            inputs.choice(view, PAGE, "lines", list(_LINES), "Lines to show")
            inputs.switch(view, PAGE, "centred", "Centred cosine", help=CENTRED_DEFINITION)


def problems(meaning: Meaning) -> None:
    """What keeps a word out of the comparison though its row looks fine, in a sentence each."""
    for problem in dict.fromkeys(meaning.problems):
        st.warning(escape(problem), icon=":material/content_cut:")
    for chosen in meaning.chosen:
        lost = chosen.encoding.n_truncated
        if lost:
            st.caption(
                f"{quoted(chosen.item.name)}: the text is longer than the model takes; its last "
                f"{lost} tokens were left out."
            )


def shown(meaning: Meaning, view: ViewState) -> Shown | None:
    """What to show, or a word on what is missing for it."""
    comparison = meaning.comparison
    if comparison is None:
        st.info(
            "Two words are needed for a comparison. Choose a word in each of two sentences, or in "
            "one sentence and add a reference.",
            icon=":material/ads_click:",
        )
        return None
    lines = str(view.control(PAGE, "lines", "All"))
    band = meaning.band
    layer = view.layer if view.layer in comparison.layers else comparison.layers[-1]
    return Shown(
        meaning=meaning,
        comparison=comparison,
        pairs=comparison.pairs(_LINES.get(lines, "all")) or comparison.pairs(),  # type: ignore[arg-type]
        layer=int(layer or 0),
        scale=cosine_range(comparison.cosines, comparison.static, *([band.low] if band else [])),
    )


def picture(what: Shown) -> None:
    """The lines over all layers, and beside them the matrices with and without context."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        lines(what, key=CHART)
    with right:
        here, static = st.tabs([f"In context, layer {what.layer}", "Without context"])
        with here:
            _matrix(what, what.comparison.cosines[what.comparison.layers.index(what.layer)], "here")
        with static:
            _matrix(what, what.comparison.static, "static")


def lines(what: Shown, *, key: str, height: int = 400) -> None:
    """The main picture."""
    title = meaning_title(what.comparison)
    st.plotly_chart(
        cosine_lines(
            what.comparison,
            what.pairs,
            layer=what.layer,
            band=what.meaning.band,
            scale=what.scale,
            title=title,
            height=height,
        ),
        key=key,
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"{title}. Cosine of each pair of words at every layer; the table has the numbers.",
    )


def words(what: Shown) -> None:
    """The reading."""
    kit.reading(meaning_in_context(what.comparison, what.layer, what.meaning.band))


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms("word vector", "cosine similarity", "layer", "random-pair baseline", "static vector")


def explain(what: Shown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what, card), LIMITS)


def downloads(what: Shown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    meaning = what.meaning
    caption = f"{meaning.key}\n{export.caption(meaning.passport)}"
    with kit.downloads(place, caption, chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            meaning.passport,
            rows=lambda: pair_rows(what.comparison, meaning.band),
            arrays=lambda: _arrays(what),
        )


def _matrix(what: Shown, matrix: FloatArray, name: str) -> None:
    st.plotly_chart(
        cosine_heatmap(what.comparison, matrix, scale=what.scale, title="", height=344),
        key=f"meaning_matrix_{name}",
        config={"displayModeBar": False, "displaylogo": False},
        alt="The cosine of every word with every other one.",
    )


def _numbers(what: Shown) -> None:
    table = pd.DataFrame(pair_rows(what.comparison, what.meaning.band))
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[2:]}
    st.dataframe(table, hide_index=True, column_config=numbers, placeholder="", key="meaning_table")


def _under_the_hood(what: Shown, card: ModelCard) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        st.code(_snippet(what, card), language="python")
        st.markdown("**Shapes**")
        st.dataframe(pd.DataFrame(_shapes(what)), hide_index=True, key="meaning_shapes")
        st.markdown("**Passport**")
        kit.passport(what.meaning.passport)


def _snippet(what: Shown, card: ModelCard) -> str:
    chosen = [
        SnippetWord(c.item.name, c.encoding.text, c.span[0], c.span[1]) for c in what.meaning.chosen
    ]
    return cosine_snippet(card, chosen, what.meaning.pooling, centred=what.comparison.centred)


def _shapes(what: Shown) -> Sequence[dict[str, str]]:
    return [
        {
            "word": chosen.item.name,
            "hidden (layers, tokens, dims)": str(chosen.encoding.hidden.shape),
            "word vector (layers, dims)": str(vectors.shape),
        }
        for chosen, vectors in zip(what.meaning.chosen, what.comparison.vectors, strict=True)
    ]


def _arrays(what: Shown) -> dict[str, NDArray[Any]]:
    comparison, mean = what.comparison, what.meaning.baseline_mean
    items = [
        {"name": c.item.name, "text": c.encoding.text, "span": c.span} for c in what.meaning.chosen
    ]
    return {
        "vectors": comparison.vectors,
        "cosines": comparison.cosines,
        "static_cosines": comparison.static,
        "layers": np.array(comparison.layers),
        "items": np.array(json.dumps(items)),
        **({} if mean is None else {"baseline_mean": mean}),
    }
