"""The looks under "Look closer" on Pairs: pairs to read, the ROC curve, and every pair."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.words import Span
from components.features.pairs.compute import (
    LABEL_NAMES,
    SPLIT_NAMES,
    PairsAtLayer,
    pair_table,
    to_read,
)
from components.features.pairs.controls import (
    ALL,
    FROM,
    LABELLED_PANELS,
    PANEL,
    PLAIN_PANELS,
    ROC,
    TO_READ,
    WRONG,
    WRONGS,
)
from components.features.pairs.figures import roc_figure
from components.features.pairs.measures import roc
from components.features.pairs.reading import roc_claim
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["look_closer"]

_AT_ONCE = 8  # pairs that are shown at once
_AROUND = 110  # characters shown on either side of a word
_MOST_ROWS = 5_000


def look_closer(view: ViewState, at_layer: PairsAtLayer) -> None:
    """Draw the chosen closer look."""
    panels = PLAIN_PANELS if at_layer.scores is None else LABELLED_PANELS
    looks = {
        TO_READ: lambda: _read(view, at_layer),
        ROC: lambda: _roc(at_layer),
        ALL: lambda: _all(at_layer),
    }
    kit.look_closer(view, PANEL.among(panels), {name: looks[name] for name in panels})


def _read(view: ViewState, at_layer: PairsAtLayer) -> None:
    plain = ("most", "least")
    wrong = WRONG.among(plain if at_layer.scores is None else WRONGS)
    with kit.controls("read"):
        which = inputs.select(view, wrong)
        order = to_read(at_layer, which)
        start = min(FROM.of(view) - 1, max(0, len(order) - 1))
        start -= start % _AT_ONCE
        if len(order) > _AT_ONCE:
            inputs.steps("pairs", start, len(order), at_once=_AT_ONCE, on_step=_step)
    if not len(order):
        st.caption(say("pairs.read.none"))
    for pair in order[start : start + _AT_ONCE].tolist():
        _pair(at_layer, pair)


def _step(start: int) -> None:
    session.write(FROM.put(session.current(), start + 1))


def _pair(at_layer: PairsAtLayer, pair: int) -> None:
    """One pair: both texts with their words marked, its cosine, label and verdict."""
    pairs = at_layer.pairs
    with st.container(border=True, gap="xsmall"):
        left, right = st.columns(2, gap="medium")
        for side, place in enumerate((left, right)):
            place.markdown(marked(pairs.text(pair, side), pairs.span(pair, side)))
        st.caption(" · ".join(_known(at_layer, pair)))


def _known(at_layer: PairsAtLayer, pair: int) -> list[str]:
    pairs, called_same = at_layer.pairs, at_layer.called_same
    known = [say("pairs.read.similarity", cosine=float(at_layer.cosines[pair]))]
    gold = LABEL_NAMES.get(int(pairs.gold[pair]), "")
    if gold:
        known.append(say("pairs.read.label", label=gold))
    if called_same is not None:
        known.append(say("pairs.read.judged", label=LABEL_NAMES[int(called_same[pair])]))
    if pairs.split is not None and int(pairs.split[pair]) in SPLIT_NAMES:
        known.append(SPLIT_NAMES[int(pairs.split[pair])])
    return [*known, say("pairs.read.row", n=int(pairs.rows[pair]))]


def marked(text: str, span: Span | None) -> str:
    """A text as Markdown with its word marked; a long text is cut around the word."""
    if span is None:
        return escape(_cut(text, 0, 2 * _AROUND))
    start, end = span
    before, after = text[:start], text[end:]
    if len(before) > _AROUND:
        before = f"…{before[-_AROUND:]}"
    word = " ".join(text[start:end][:_AROUND].split())
    return (
        f"{escape(_flat(before))}:blue-background[**{escape(word)}**]"
        f"{escape(_flat(_cut(after, 0, _AROUND)))}"
    )


def _flat(text: str) -> str:
    """The text on one line, with white space at its ends kept."""
    return "".join(" " if character.isspace() else character for character in text)


def _cut(text: str, start: int, most: int) -> str:
    return text if len(text) <= most else f"{text[start : start + most]}…"


def _roc(at_layer: PairsAtLayer) -> None:
    scores = at_layer.scores
    if scores is None:
        return
    cosines, same = at_layer.cosines[scores.rows], scores.same
    curve = roc(cosines, same)
    if curve is None:
        st.caption(say("pairs.roc.one_kind"))
        return
    called_same = scores.called_same[at_layer.row]
    at = (float(called_same[~same].mean()), float(called_same[same].mean()))
    auc = float(scores.auc[at_layer.row])
    title = say("pairs.roc.title", layer=at_layer.layer, auc=auc)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        kit.chart(roc_figure(*curve, at=at, title=title), key="pairs_roc", alt=f"{title}.")
    with right:
        kit.reading([roc_claim(auc)], key="reading_roc")


def _all(at_layer: PairsAtLayer) -> None:
    kit.table(pair_table(at_layer, _MOST_ROWS), key="pairs_all", exact=["cosine"], height=380)
    if at_layer.pairs.n > _MOST_ROWS:
        st.caption(say("pairs.first_rows", shown=_MOST_ROWS, n=at_layer.pairs.n))
    lost = int(np.isnan(at_layer.cosines).sum())
    if lost:
        st.caption(say("pairs.notes.lost", n=lost))
