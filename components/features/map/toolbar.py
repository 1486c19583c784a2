"""The parts of the Map page above its picture: what is mapped, how, and the file of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from components.content.wording import escape
from components.core.errors import CorpusError
from components.corpus.readers import FORMATS, Sheet
from components.features.map import corpora
from components.features.map.corpora import Chosen
from components.features.map.request import FOOTINGS, MOST, PAGE, SOURCES, USUAL_MOST, USUAL_WORD
from components.maps.settings import METHODS, method_name
from components.maps.text_rows import SENTENCE_POOLINGS, WORD_POOLINGS
from components.ui.models.services import settings
from components.ui.state import session
from components.ui.state.view import Value, ViewState
from components.ui.widgets import inputs, sentences

__all__ = ["BESIDE", "file_panel", "toolbar"]

_UNITS = ["words", "tokens", "sentences"]
BESIDE = {
    "": "Nothing",
    "layer": "Another layer",
    "model": "Another model",
    "method": "Another method",
    "seed": "Another seed",
}
_N_HEAD = 5


def toolbar(view: ViewState, colors: Sequence[str], usual: str) -> None:
    """What is mapped, what a point is, and its colour; the rest in menus."""
    source = str(view.control(PAGE, "source", "ambiguous"))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="map_bar"):
        inputs.select(view, PAGE, "source", SOURCES, "Map of")
        inputs.choice(view, PAGE, "unit", _UNITS, "Each point is one of the")
        if source == "ambiguous" and chosen_words(view):
            words = list(dict.fromkeys(corpora.ready_made().labels["word"]))
            others = {word: word for word in words if word != USUAL_WORD}
            options = {USUAL_WORD: USUAL_WORD, **others, "all": "all of them"}
            inputs.select(view, PAGE, "word", options, "Word")
        options = {"": usual} | {name: name for name in colors if name != usual}
        inputs.select(view, PAGE, "color", options, "Colour by")
        with st.popover("Texts", type="tertiary"):
            _texts(view)
        with st.popover("Settings", type="tertiary"):
            _settings(view)


def chosen_words(view: ViewState) -> bool:
    """Whether the ready-made corpus is mapped by its ambiguous words."""
    unit = view.control(PAGE, "unit", _UNITS[0])
    return unit == "words" and not view.control(PAGE, "every_word", default=False)


def _texts(view: ViewState) -> None:
    """Which texts and which of their words."""
    source = str(view.control(PAGE, "source", "ambiguous"))
    unit = str(view.control(PAGE, "unit", "words"))
    if source == "sentences":
        sentences.sentence_editor(view, "sentences", where="map", least=1)
    if source == "file":
        _columns(view)
    if unit != "sentences" and not (source == "ambiguous" and chosen_words(view)):
        inputs.text(
            view,
            PAGE,
            "only",
            f"Only these {unit}, with commas between",
            placeholder="python, bank",
        )
    if unit == "words" and source == "ambiguous":
        inputs.switch(view, PAGE, "every_word", "All words of each sentence")
    if unit == "tokens":
        inputs.switch(view, PAGE, "special", "Special tokens too")
    sizes = {str(n): f"{n:,}" for n in (USUAL_MOST, *(n for n in MOST if n != USUAL_MOST))}
    inputs.select(view, PAGE, "at_most", sizes, "Points at most")


def _settings(view: ViewState) -> None:
    """How points are placed."""
    inputs.select(view, PAGE, "footing", FOOTINGS, "Layers")
    unit = str(view.control(PAGE, "unit", "words"))
    if unit != "tokens":
        options = SENTENCE_POOLINGS if unit == "sentences" else {p: p for p in WORD_POOLINGS}
        name = (
            "Sentence vector from its tokens"
            if unit == "sentences"
            else "Word vector from its sub-tokens"
        )
        inputs.select(view, PAGE, f"{unit}_pooling", options, name)
    left, right = st.columns(2, gap="small")
    with left:
        inputs.select(view, PAGE, "method", {m: method_name(m) for m in METHODS}, "Method")
        inputs.number(
            view,
            PAGE,
            "neighbors",
            "Neighbours",
            between=(2, 200),
            default=15,
            help="Few show small groups, many the large picture; t-SNE's perplexity.",
        )
        inputs.number(view, PAGE, "seed", "Seed", between=(0, 2**31 - 1), default=0)
    with right:
        inputs.select(
            view, PAGE, "metric", {"cosine": "cosine", "euclidean": "Euclidean"}, "Distance"
        )
        distances = {d: d for d in ("0.1", "0.0", "0.05", "0.25", "0.5", "0.8")}
        inputs.select(view, PAGE, "min_dist", distances, "Minimum distance")
        inputs.choice(view, PAGE, "dims", ["2-D", "3-D"], "Dimensions")
    inputs.select(view, PAGE, "beside", BESIDE, "Beside this map")
    inputs.choice(
        view,
        PAGE,
        "effort",
        ["quick", "full"],
        "Effort",
        help="Full is as faithful as umap-learn by itself; quick is nearly so, in less time.",
    )


def file_panel(view: ViewState, chosen: Chosen) -> None:
    """Where a file is chosen: what can be read, its first rows, its columns, and the go-ahead."""
    sheet = corpora.sheet_of(str(session.kept("map_pending") or ""))
    is_open = sheet is not None or chosen.corpus is None
    title = "Choose a file" if chosen.corpus is None else "Map another file"
    with st.expander(title, expanded=is_open, icon=":material/upload_file:", key="map_file"):
        st.file_uploader(
            f"A file with one sentence a line or row ({', '.join(FORMATS)})",
            type=[ending.lstrip(".") for ending in FORMATS],
            key="map_upload",
            on_change=_upload,
            max_upload_size=min(
                settings().max_upload_bytes // 1_000_000, st.get_option("server.maxUploadSize")
            ),
        )
        wanted = str(view.control(PAGE, "file", ""))
        if sheet is not None:
            _preview(sheet)
        elif wanted and chosen.corpus is None:
            name = escape(str(view.control(PAGE, "file_name", "a file")))
            st.info(
                f"This view maps “{name}”, which this server does not have, or no longer. Choose "
                "the file again, and you see the same map.",
                icon=":material/upload_file:",
            )
        st.caption(
            "The file is read in this app's memory and stays there while there is room; it is sent "
            "nowhere. Whoever has this page's address sees its map."
        )


def _upload() -> None:
    file = session.value("map_upload")
    if file is None:
        return
    try:
        digest = corpora.keep(file.name, file.getvalue())
    except CorpusError as exc:
        session.remember(str(exc))
    else:
        session.keep("map_pending", digest)


def _preview(sheet: Sheet) -> None:
    """A file's first rows and what it was taken for, before anything is computed."""
    encoding = f", {sheet.encoding}" if sheet.encoding else ""
    st.markdown(f"**{escape(sheet.name)}** · {sheet.format}{encoding} · {sheet.n_rows:,} rows")
    for note in sheet.notes:
        st.caption(escape(note))
    st.dataframe(sheet.head(_N_HEAD), hide_index=True, key="map_head")
    text, labels = _pickers(sheet, sheet.text_column, sheet.label_columns, "map_pending")
    st.button(
        "Map this file",
        icon=":material/scatter_plot:",
        type="primary",
        key="map_use",
        on_click=_use,
        args=(str(session.kept("map_pending")), text, labels),
    )


def _columns(view: ViewState) -> None:
    sheet = corpora.sheet_of(str(view.control(PAGE, "file", "")))
    if sheet is None:
        st.caption("Choose a file first.")
        return
    now = corpora.columns_of(view, sheet)
    text, labels = _pickers(sheet, *now, "map_columns")
    if (text, labels) != now:
        digest = str(view.control(PAGE, "file", ""))
        st.button("Use these columns", key="map_columns_use", on_click=_use,
                  args=(digest, text, labels))  # fmt: skip


def _pickers(
    sheet: Sheet, text: str, labels: Sequence[str], key: str
) -> tuple[str, tuple[str, ...]]:
    """The text column and the label columns that are picked, at first the ones given."""
    columns = list(sheet.columns)
    left, right = st.columns(2, gap="small")
    chosen = left.selectbox("Text", columns, columns.index(text), key=f"{key}_text")
    others = [name for name in columns if name != chosen]
    own = right.multiselect(
        "Labels", others, [name for name in labels if name in others], key=f"{key}_labels"
    )
    return str(chosen), tuple(own)


def _use(digest: str, text: str, labels: tuple[str, ...]) -> None:
    sheet = corpora.sheet_of(digest)
    if sheet is None:
        session.remember("This file is no longer in memory. Choose it again.")
        return
    view = session.current()
    own: dict[str, Value] = {
        "source": "file",
        "file": digest,
        "file_name": sheet.name[:80],
        "text": list(sheet.columns).index(text),
        "labels": corpora.places(sheet, labels),
        "unit": str(view.control(PAGE, "unit", "sentences")),
    }
    controls = {**view.controls, PAGE: {**view.controls.get(PAGE, {}), **own}}
    wanted = replace(view, controls=controls)
    try:
        corpora.chosen(wanted)
    except CorpusError as exc:  # what is mapped now stays
        session.remember(str(exc))
        return
    session.keep("map_pending", None)
    session.write(wanted)
