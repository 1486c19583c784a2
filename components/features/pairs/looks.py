"""The looks under "Look closer" on Pairs: pairs to read, the ROC curve, and every pair."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.words import Span
from components.features.pairs.compute import PairsShown, pair_table, to_read
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
from components.features.pairs.measures import DIFFERENT, SAME, TEST, TRAIN, roc
from components.features.pairs.reading import roc_claim
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["look_closer"]

_AT_ONCE = 8  # pairs to read
_AROUND = 110  # characters shown on either side of a word
_MOST_ROWS = 5_000
_LABELS: Mapping[int, str] = {SAME: "same", DIFFERENT: "different"}
_PARTS: Mapping[int, str] = {TRAIN: "train", TEST: "test"}


def look_closer(view: ViewState, shown: PairsShown) -> None:
    """Draw the chosen closer look."""
    panels = PLAIN_PANELS if shown.scores is None else LABELLED_PANELS
    looks = {
        TO_READ: lambda: _read(view, shown),
        ROC: lambda: _roc(shown),
        ALL: lambda: _all(shown),
    }
    kit.look_closer(view, PANEL.among(panels), {name: looks[name] for name in panels})


def _read(view: ViewState, shown: PairsShown) -> None:
    plain = ("most", "least")
    wrong = WRONG.among(plain if shown.scores is None else WRONGS)
    with kit.controls("read"):
        which = inputs.select(view, wrong)
        pairs = to_read(shown, which)
        start = min(FROM.of(view) - 1, max(0, len(pairs) - 1))
        start -= start % _AT_ONCE
        if len(pairs) > _AT_ONCE:
            inputs.steps("pairs", start, len(pairs), at_once=_AT_ONCE, on_step=_step)
    if not len(pairs):
        st.caption(say("pairs.read.none"))
    for pair in pairs[start : start + _AT_ONCE].tolist():
        _pair(shown, pair)


def _step(start: int) -> None:
    session.write(FROM.put(session.current(), start + 1))


def _pair(shown: PairsShown, pair: int) -> None:
    """One pair: both texts with their words marked, its cosine, label and verdict."""
    pairs = shown.pairs
    with st.container(border=True, gap="xsmall"):
        left, right = st.columns(2, gap="medium")
        for side, place in enumerate((left, right)):
            place.markdown(marked(pairs.text(pair, side), pairs.span(pair, side)))
        st.caption(" · ".join(_known(shown, pair)))


def _known(shown: PairsShown, pair: int) -> list[str]:
    pairs, says = shown.pairs, shown.says
    known = [say("pairs.read.similarity", cosine=float(shown.cosines[pair]))]
    gold = _LABELS.get(int(pairs.gold[pair]), "")
    if gold:
        known.append(say("pairs.read.label", label=gold))
    if says is not None:
        known.append(say("pairs.read.judged", label=_LABELS[int(says[pair])]))
    if pairs.split is not None and int(pairs.split[pair]) in _PARTS:
        known.append(_PARTS[int(pairs.split[pair])])
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


def _roc(shown: PairsShown) -> None:
    scores = shown.scores
    if scores is None:
        return
    own, same = shown.cosines[scores.rows], scores.same
    curve = roc(own, same)
    if curve is None:
        st.caption(say("pairs.roc.one_kind"))
        return
    says = scores.says[shown.row]
    at = (float(says[~same].mean()), float(says[same].mean()))
    auc = float(scores.auc[shown.row])
    title = say("pairs.roc.title", layer=shown.layer, auc=auc)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        kit.chart(roc_figure(*curve, at=at, title=title), key="pairs_roc", alt=f"{title}.")
    with right:
        kit.reading([roc_claim(auc)], key="reading_roc")


def _all(shown: PairsShown) -> None:
    kit.table(pair_table(shown, _MOST_ROWS), key="pairs_all", exact=["cosine"], height=380)
    if shown.pairs.n > _MOST_ROWS:
        st.caption(say("pairs.first_rows", shown=_MOST_ROWS, n=shown.pairs.n))
    lost = int(np.isnan(shown.cosines).sum())
    if lost:
        st.caption(say("pairs.notes.lost", n=lost))
