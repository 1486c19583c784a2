"""What stands below the picture: terms, tabs, downloads."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
from components.features.corpora.compute.passport import caption_of, passport_of
from components.features.corpora.compute.shown import Shown, shown_of, word_arrays, word_rows
from components.features.corpora.explain import FORMULA, SCHEMA
from components.features.corpora.page.picture import CHART
from components.features.corpora.snippet import export_snippet, texts_snippet
from components.ui.corpora.exports import file_name
from components.ui.state import session
from components.ui.widgets import kit

__all__ = ["downloads", "explain"]

_FILE = "word-counts"


def explain(shown: Shown) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown), say("corpora.limits"))


def downloads(shown: Shown, place: DeltaGenerator) -> None:
    """The page's Download menu: every word with its count."""
    view = session.current()
    with kit.downloads(place, caption_of(shown), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport_of(shown),
            rows=lambda: word_rows(shown_of(view)),
            arrays=lambda: word_arrays(shown_of(view)),
        )


def _numbers(shown: Shown) -> None:
    total = max(1, shown.words.n)
    rows = [
        {
            "word": row.word,
            "occurrences": row.n,
            "share of all words": row.n / total,
            **({"senses": row.n_senses or None} if shown.words.sense else {}),
        }
        for row in shown.words.rows
    ]
    kit.table(rows, key="corpora_table", exact=["share of all words"])
    st.caption(say("corpora.table"))


def _under_the_hood(shown: Shown) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=[_snippet(shown)],
        passport=passport_of(shown),
        shapes=kit.shapes(
            [{"table": table, "columns": own, "type": kind} for table, own, kind in SCHEMA],
            key="corpora_schema",
        ),
    )


def _snippet(shown: Shown) -> tuple[str, str]:
    about = None if shown.kept is None else shown.kept.about
    if about is None:
        return say("corpora.texts_snippet"), texts_snippet(f"{_FILE}.npz")
    return say("corpora.export_snippet"), export_snippet(
        file_name(about.title), word=shown.word, layer=about.indexing.layers[-1]
    )
