"""What a comparison looks like: chips to choose words by, lines, reading, problems."""

from __future__ import annotations

import streamlit as st

from components.content.wording import escape, quoted, two
from components.figures.ruler import ruler_figure
from components.figures.similarity import cosine_lines
from components.figures.theme import color_of
from components.ui.state.view import Sentence, ViewState, letter
from components.ui.widgets import kit, sentences
from components.ui.widgets.chips import ChipRow, word_chips
from components.ui.widgets.comparison.compute import (
    Meaning,
    Portrait,
    chosen_span,
    counted_span,
    left_behind,
    missing,
)
from components.ui.widgets.comparison.reading import meaning_in_context, meaning_title
from components.ui.widgets.comparison.ruler import RulerShown, ruler_note

__all__ = ["chips", "lines", "missing_words", "old_references", "problems", "ruler", "words"]


def chips(view: ViewState) -> None:
    """The sentences and references, whose words can be chosen and texts be typed anew."""
    own = [_own_row(i, sentence) for i, sentence in enumerate(view.sentences)]
    n = len(own)
    references = [_reference_row(i, each) for i, each in enumerate(view.references, start=n)]
    word_chips(
        [*own, *references], key="chips", on_pick=sentences.pick_word, on_edit=sentences.retype_row
    )


def old_references(view: ViewState) -> None:
    """A way to be rid of references that an example brought and that fit nothing any more."""
    example = left_behind(view)
    if example is None:
        return
    names = " and ".join(quoted(reference.text) for reference in view.references)
    about = quoted(example.sentences[0].word or example.title)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(f"{names} were there for {about}.", width="content")
        st.button(
            "Remove them",
            icon=":material/close:",
            type="tertiary",
            key="old_references",
            on_click=sentences.remove_references,
        )


def _own_row(index: int, sentence: Sentence) -> ChipRow:
    note = missing(sentence, "sentence")
    name, color = letter(index), color_of(index)
    return ChipRow(name, sentence.text, color, chosen_span(sentence), note=note, warning=True)


def _reference_row(index: int, reference: Sentence) -> ChipRow:
    note, span = missing(reference, "reference"), counted_span(reference)
    return ChipRow("", reference.text, color_of(index), span, "reference", note, warning=True)


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


def missing_words() -> None:
    """What to do where there is nothing to compare."""
    st.info(
        "Two words are needed for a comparison. Choose a word in each of two sentences, or in "
        "one sentence and add a reference.",
        icon=":material/ads_click:",
    )


def lines(portrait: Portrait, *, key: str, height: int = 400) -> None:
    """The main picture."""
    title = meaning_title(portrait.comparison)
    figure = cosine_lines(
        portrait.comparison,
        portrait.pairs,
        layer=portrait.layer,
        band=portrait.meaning.shared_band,
        scale=portrait.scale,
        title=title,
        height=height,
    )
    alt = f"{title}. Cosine of each pair of words at every layer; the table has the numbers."
    kit.chart(figure, key=key, alt=alt)


def ruler(
    shown: RulerShown,
    *,
    scale: tuple[float, float],
    key: str,
    height: int = 160,
    note: bool = True,
) -> None:
    """A pair's cosine among those of pairs of known kinds, and on what these were measured."""
    drawn = ruler_figure(shown.ranges, shown.cosine, scale=scale, height=height)
    kinds = "; ".join(
        f"{each.kind}: {two(each.low)} to {two(each.high)}, median {two(each.median)}"
        for each in shown.ranges
    )
    kit.chart(drawn, key=key, alt=f"Cosine {two(shown.cosine)}. {kinds}.")
    if note:
        st.caption(ruler_note(shown))


def words(portrait: Portrait) -> None:
    """The reading."""
    kit.reading(meaning_in_context(portrait.comparison, portrait.layer, portrait.meaning.band))
