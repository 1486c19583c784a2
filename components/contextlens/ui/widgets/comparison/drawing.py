"""The parts of a comparison on a page: chips to choose words, lines, reading, problems."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Baseline
from contextlens.content.language import say
from contextlens.content.wording import escape, quoted
from contextlens.core import ModelCard
from contextlens.figures.ruler import ruler_figure
from contextlens.figures.theme import color_of
from contextlens.ui.models import runtime
from contextlens.ui.state.view import Sentence, ViewState, letter
from contextlens.ui.widgets import kit, sentences
from contextlens.ui.widgets.chips import ChipRow, word_chips
from contextlens.ui.widgets.comparison.answer import Answer, answer, evidence
from contextlens.ui.widgets.comparison.compute import (
    Meaning,
    Portrait,
    chosen_span,
    counted_span,
    missing,
)
from contextlens.ui.widgets.comparison.figures import portrait_lines
from contextlens.ui.widgets.comparison.reading import (
    meaning_in_context,
    meaning_sure,
    meaning_title,
    visible_claims,
)
from contextlens.ui.widgets.comparison.ruler import RulerShown
from contextlens.ui.widgets.comparison.senses import NamedUses, covered_word, named_uses


def chips(view: ViewState) -> None:
    """Draw the sentences and references, with chips to choose words and fields to edit texts."""
    rows = [_sentence_row(i, sentence) for i, sentence in enumerate(view.sentences)]
    n = len(rows)
    references = [
        _reference_row(i, reference) for i, reference in enumerate(view.references, start=n)
    ]
    word_chips(
        [*rows, *references],
        key="chips",
        on_pick=sentences.pick_word,
        on_edit=sentences.retype_row,
        flows=True,
    )


def _sentence_row(index: int, sentence: Sentence) -> ChipRow:
    note = missing(sentence, "sentence")
    name, color = letter(index), color_of(index)
    return ChipRow(name, sentence.text, color, chosen_span(sentence), note=note, warning=True)


def _reference_row(index: int, reference: Sentence) -> ChipRow:
    note, span = missing(reference, "reference"), counted_span(reference)
    return ChipRow("", reference.text, color_of(index), span, "reference", note, warning=True)


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


def uses_of(portrait: Portrait, card: ModelCard, baseline: Baseline | None) -> NamedUses | None:
    """Return the senses of the sentences' words; None without any, or until they are there."""
    word = covered_word(portrait.comparison)
    return named_uses(portrait, runtime.sense_names(card, baseline, word))


def answer_of(portrait: Portrait, card: ModelCard, uses: NamedUses | None) -> Answer | None:
    """Return the answer to the page's question; None for a single sentence."""
    if not portrait.comparison.pairs("sentences"):
        return None
    word = covered_word(portrait.comparison)
    is_pending = uses is None and runtime.are_senses_pending(card, word)
    return answer(portrait, uses, is_pending=is_pending)


def headline(
    container: DeltaGenerator, portrait: Portrait, card: ModelCard, uses: NamedUses | None
) -> None:
    """Draw the answer in its place; nothing for a single sentence."""
    found = answer_of(portrait, card, uses)
    if found is not None:
        container.header(escape(str(found)), anchor=False)


def words(portrait: Portrait, uses: NamedUses | None = None) -> None:
    """Draw the numbers behind the answer, or else the main claim; all others folded."""
    of = portrait.comparison, portrait.layer, portrait.meaning.band
    claims = meaning_in_context(*of)
    has_pair = bool(portrait.comparison.pairs("sentences"))
    visible = (evidence(portrait, uses) if has_pair else []) or visible_claims(claims)
    kit.claims(visible, sure=[*(c for c in claims if c not in visible), *meaning_sure(*of)])
