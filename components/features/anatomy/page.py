"""The parts of the Anatomy page: toolbar, map, the chosen part, reading, tabs and downloads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import EncoderService, ModelCard
from components.core.presets import preset_config
from components.features.anatomy.compute import PAGE, PICTURES, Anatomy, subjects
from components.features.anatomy.explain import FORMULA, LIMITS, PARTS, SAID_MILLIONS
from components.features.anatomy.figures import ROOT, part_map
from components.features.anatomy.measures.costs import operations
from components.features.anatomy.measures.parameters import n_values, parameter_rows
from components.features.anatomy.reading import (
    anatomy_reading,
    anatomy_title,
    part_reading,
    search_reading,
)
from components.features.anatomy.snippet import anatomy_snippet, card_lines, config_lines
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit

__all__ = ["downloads", "explain", "picture", "terms", "toolbar", "words"]

_FILE = "anatomy"
_CHART = "anatomy_map"
_PAGES = {
    **dict.fromkeys(
        ("embeddings", "position", "segment", "one-segment", "projection"), "embedding_layer"
    ),
    **dict.fromkeys(("attention", "query", "key", "value", "output", "relative"), "attention"),
    **dict.fromkeys(("layer", "shared", "feed-forward", "widening", "narrowing"), "layers"),
    "word": "tokens",
    "layernorm": "layers",
}
"""The page on which a kind of part is seen at work."""


def toolbar(view: ViewState, service: EncoderService, card: ModelCard) -> None:
    """Which model, drawn how, and what to look for in it."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        inputs.select(view, PAGE, "subject", subjects(view, service, card), "Take apart")
        inputs.choice(view, PAGE, "drawing", list(PICTURES), "Picture")
        inputs.text(view, PAGE, "search", "Find", placeholder="bias, query, layer.3 ...")


def picture(what: Anatomy, view: ViewState) -> None:
    """The map, and beside it the part that was chosen in it."""
    left, right = st.columns([5, 2], gap="medium")
    with left, st.container(key=_CHART):
        _map(what, view)
    with right, st.container(border=True, gap="xsmall", height=460, key="anatomy_part_card"):
        _part(what, view)


def words(what: Anatomy) -> None:
    """The reading; what a search found goes before it."""
    if what.lit is not None:
        kit.reading(search_reading(what.query, what.tree, what.lit), key="reading_search")
    said = SAID_MILLIONS.get(what.architecture.id)
    kit.reading(anatomy_reading(what.tree, what.totals, what.architecture, said))
    for sentence in what.absent:
        st.caption(escape(sentence))


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms(
        "parameter", "layer", "attention", "head", "feed-forward", "LayerNorm", "pooler",
        "multiply-add", "singular value",
    )  # fmt: skip


def explain(what: Anatomy) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what), LIMITS)


def downloads(what: Anatomy, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    with kit.downloads(place, _caption(what), chart=_CHART, name=_FILE):
        kit.download_files(
            _FILE,
            what.passport,
            rows=lambda: parameter_rows(what.tree),
            arrays=lambda: _arrays(what),
        )


def _map(what: Anatomy, view: ViewState) -> None:
    kind = PICTURES.get(str(view.control(PAGE, "drawing", "Treemap")), "treemap")
    title = anatomy_title(what.tree, what.chosen)
    key = f"{_CHART}_{kind}"
    st.plotly_chart(
        part_map(what.tree, kind=kind, chosen=what.chosen, lit=what.lit, title=title),
        key=key,
        on_select=lambda: _pick(key),
        selection_mode="points",
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"{title}. Every part as large as it has parameters; the table has the numbers.",
    )


def _pick(key: str) -> None:
    """Choose the part that was clicked in the map."""
    points = (session.value(key) or {}).get("selection", {}).get("points", [])
    if points:
        path = str(points[0].get("id", ROOT))
        view = session.current()
        session.write(view.with_control(PAGE, "part", "" if path == ROOT else path, ""))


def _part(what: Anatomy, view: ViewState) -> None:
    """The chosen part: what it does, its numbers, and where it is seen at work."""
    names = {node.path: node.title for node in what.tree.walk()}
    inputs.select(view, PAGE, "part", {**names, "": "The whole model"}, "Part")
    part = what.chosen
    kind = part.kind
    if kind == "segment" and part.parameters[0].shape[0] == 1:
        kind = "one-segment"
    st.markdown(PARTS[kind])
    st.markdown(" ".join(part_reading(part, what.tree)))
    st.caption(_how_held(what))
    with st.container(key="anatomy_link", gap="xsmall"):
        for page in navigation.PAGES:
            if page.name == _PAGES.get(kind):
                navigation.link(page, view, label=f"See it at work: {page.title}")
    _below(what)


def _how_held(what: Anatomy) -> str:
    """How the chosen part is held, and whether it was trained."""
    part = what.chosen
    dtypes = " and ".join(sorted({p.dtype for p in part.parameters}))
    held = f"{part.n_bytes / 1e6:,.3f} MB as {dtypes}"
    trained = {p.trained for p in part.parameters}
    if what.own is None:
        return f"{held}. The weights are not here: sizes come from the config."
    if trained == {True}:
        return f"{held}, trained."
    if trained == {False}:
        return f"{held}, **not trained**. {escape(_why_untrained(what))}"
    apart = [c.name for c in part.children if all(p.trained is False for p in c.parameters)]
    return f"{held}. Not trained: {escape(', '.join(apart) or part.name)}."


def _why_untrained(what: Anatomy) -> str:
    states = None if what.own is None else what.own.provenance
    parts = (states.embedding_layer, states.encoder, states.pooler) if states else ()
    return " ".join(part.reason for part in parts if part.state == "untrained")


def _below(what: Anatomy) -> None:
    """The parts or the arrays that the chosen part consists of."""
    part = what.chosen
    if part.children:
        rows = [{"part": c.name, "parameters": c.n_values} for c in part.children]
    else:
        rows = [
            {
                "array": p.name.rpartition(".")[2],
                "shape": " × ".join(map(str, p.shape)),
                "parameters": n_values(p),
            }
            for p in part.parameters
        ]
    columns = {"parameters": st.column_config.NumberColumn(format="localized")}
    height = 35 * min(len(rows) + 1, 5 if part.children else 3) + 3
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=height,
        column_config=columns,
        key="anatomy_below",
    )


def _numbers(what: Anatomy) -> None:
    table = pd.DataFrame(parameter_rows(what.tree))
    if what.lit is not None:
        table = table[table["name"].isin(what.lit)]
        st.caption(f"Only what was found: {len(table)} of {what.totals.n_named} arrays.")
    empty = [name for name in ("tied to",) if not table[name].any()]
    columns = {
        "parameters": st.column_config.NumberColumn(format="localized"),
        "MB": st.column_config.NumberColumn(format="%.3f"),
    }
    st.dataframe(
        table.drop(columns=empty),
        hide_index=True,
        column_config=columns,
        height=360,
        placeholder="",
        key="anatomy_table",
    )


def _under_the_hood(what: Anatomy) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        st.code(_snippet(what), language="python", wrap_lines=True)
        st.markdown("**Shapes**")
        st.markdown(_shapes(what))
        st.markdown("**Passport**")
        kit.passport(what.passport)


def _snippet(what: Anatomy) -> str:
    config = preset_config(what.architecture.id)
    load = card_lines(what.own or what.card)
    if what.own is None and config is not None:
        load = config_lines(config)
    fits = what.n_tokens <= what.architecture.max_length
    return anatomy_snippet(
        load,
        pooler=what.tree.find("pooler") is not None,
        n_tokens=what.n_tokens if fits else None,
    )


def _shapes(what: Anatomy) -> str:
    made = what.architecture
    return (
        f"$L$ = {made.n_layers} layers, {made.n_heads} heads of {made.n_dims // made.n_heads} "
        f"dimensions, $d$ = {made.n_dims}, $f$ = {made.n_inner}, {made.vocabulary_size:,} tokens "
        f"in the vocabulary, texts of up to {made.max_length} tokens"
    )


def _caption(what: Anatomy) -> str:
    if what.own is not None:
        return export.caption(what.passport)
    versions = ", ".join(f"{name} {version}" for name, version in what.passport.versions.items())
    return f"{what.architecture.id} · built from its config, without weights · {versions}"


def _arrays(what: Anatomy) -> dict[str, NDArray[Any]]:
    own = what.architecture.parameters
    work = operations(what.architecture, what.n_tokens)
    return {
        "names": np.array([p.name for p in own]),
        "shapes": np.array([str(p.shape) for p in own]),
        "n_values": np.array([n_values(p) for p in own], dtype=np.int64),
        "n_bytes": np.array([p.n_bytes for p in own], dtype=np.int64),
        "tied_to": np.array([p.tied_to or "" for p in own]),
        "n_tokens": np.array(what.n_tokens),
        "multiply_adds": np.array([work.linear, work.attention, work.pooler], dtype=np.int64),
    }
