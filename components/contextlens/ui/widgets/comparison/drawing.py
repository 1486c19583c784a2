"""The parts of a comparison on a page: chips to choose words, lines, reading, problems."""

from __future__ import annotations

import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, quoted
from contextlens.figures.ruler import ruler_figure
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.comparison.answer import Answer, answer_of_single, evidence, source
from contextlens.ui.widgets.comparison.compute import (
    Meaning,
    Portrait,
)
from contextlens.ui.widgets.comparison.figures import portrait_lines
from contextlens.ui.widgets.comparison.reading import (
    meaning_in_context,
    meaning_sure,
    meaning_title,
    visible_claims,
)
from contextlens.ui.widgets.comparison.ruler import RulerShown
from contextlens.ui.widgets.comparison.senses import NamedUses


def problems(view: ViewState, meaning: Meaning) -> None:
    """Draw the reasons why words or texts cannot be compared though their rows look fine."""
    if any(sentence.pair for sentence in view.sentences):
        st.caption(say("meaning.second_text"))
    for problem in dict.fromkeys(meaning.problems):
        st.warning(escape(problem), icon=":material/content_cut:")
    kit.notes(meaning.unread)
    for chosen in meaning.chosen:
        lost = chosen.encoding.n_truncated
        if lost:
            st.caption(say("meaning.too_long", n=lost, word=quoted(chosen.item.name)))


def missing_words() -> None:
    """Tell the visitor what to do if there is nothing to compare."""
    st.info(say("meaning.missing"), icon=":material/ads_click:")


def lines(portrait: Portrait, *, key: str, height: int = 400) -> None:
    """Draw the cosine of each pair over the layers."""
    alt = say("meaning.alt", title=str(meaning_title(portrait.comparison)))
    kit.chart(portrait_lines(portrait, height=height), key=key, alt=alt)


def ruler(pair: RulerShown, *, scale: tuple[float, float], key: str, height: int = 160) -> None:
    """Draw a pair's cosine beside the usual ones of known kinds of pairs."""
    figure = ruler_figure(pair.ranges, pair.cosine, scale=scale, height=height)
    kinds = [
        say("ruler.range", kind=usual.kind, low=usual.low, high=usual.high, median=usual.median)
        for usual in pair.ranges
    ]
    alt = " ".join([say("ruler.alt", cosine=pair.cosine), *kinds])
    kit.chart(figure, key=key, alt=alt)


def headline(portrait: Portrait, found: Answer | None, uses: NamedUses | None) -> None:
    """Draw the answer and where its names come from."""
    more = source(uses) if found else None
    kit.headline(*filter(None, (found or answer_of_single(portrait), more)))


def words(portrait: Portrait, uses: NamedUses | None = None) -> None:
    """Draw the numbers behind the answer, or else the main claim; all others folded."""
    of = portrait.comparison, portrait.layer, portrait.meaning.band
    claims = meaning_in_context(*of)
    has_pair = bool(portrait.comparison.pairs("sentences"))
    visible = (evidence(portrait, uses) if has_pair else []) or visible_claims(claims)
    kit.claims(visible, sure=[*(c for c in claims if c not in visible), *meaning_sure(*of)])
