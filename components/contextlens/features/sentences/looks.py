"""The search of the page Sentence vectors, on the page."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.features.sentences.explain import SEARCH_FORMULA
from contextlens.features.sentences.reading import hit_line, search_claims
from contextlens.features.sentences.search import Hit, SearchResult, rows
from contextlens.features.sentences.snippet import search_snippet
from contextlens.figures.theme import CATEGORICAL
from contextlens.ui.widgets import export, kit

_FILE = "sentence-search"
_LONGEST = 600  # characters of a text on a card
_DEEPEST = 0.55  # the opacity of the word with the largest share


def draw_search(result: SearchResult) -> None:
    """Draw the reading, and the texts by the model beside those by words."""
    kit.reading(search_claims(result), key="reading_search")
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(say("sentences.search.by_model"))
        _cards(result.by_model, by_words=False)
    with right:
        st.markdown(say("sentences.search.by_words"))
        _cards(result.by_words, by_words=True)
    among = say("sentences.search.among", n=result.n, median=result.median)
    st.caption(f"{among} {say('sentences.search.lit')}")


def _cards(hits: Sequence[Hit], *, by_words: bool) -> None:
    for hit in hits:
        kind = "words" if by_words else "model"
        with st.container(border=True, gap="xsmall", key=f"sentences_{kind}_{hit.place}"):
            st.caption(str(hit_line(hit, by_words=by_words)))
            st.html(f'<p class="use" dir="auto">{lit(hit)}</p>')
            matches = [
                say(
                    "sentences.search.match",
                    query=escape(shortened(match.query_word, 24)),
                    word=escape(shortened(match.text_word, 24)),
                    cosine=match.cosine,
                )
                for match in hit.matches
            ]
            st.caption(" · ".join(matches))


def lit(hit: Hit) -> str:
    """A text as HTML, its words tinted by their shares in the similarity."""
    most = max((share for _, share in hit.shares), default=0.0)
    parts, at = [], 0
    for (start, end), share in sorted(hit.shares):
        if start < at or share <= 0 or start >= _LONGEST:
            continue
        percent = round(100 * _DEEPEST * share / most)
        parts.append(html.escape(hit.text[at:start]))
        parts.append(
            '<span style="border-radius:0.25rem;background:color-mix(in srgb, '
            f'{CATEGORICAL[0]} {percent}%, transparent)">{html.escape(hit.text[start:end])}</span>'
        )
        at = end
    rest = hit.text[at : max(at, _LONGEST)]
    return "".join([*parts, html.escape(rest), "…" if len(hit.text) > _LONGEST else ""])


def explain_search(result: SearchResult, card: ModelCard) -> None:
    """Draw the tabs under the texts."""

    def numbers() -> None:
        kit.table(rows(result), key="sentences_hits", exact=["cosine", "TF-IDF"])

    def hood() -> None:
        texts = [hit.text for hit in result.by_model]
        kit.under_the_hood(
            formula=[SEARCH_FORMULA],
            snippet=[(say("sentences.search.snippet"), search_snippet(card, result.query, texts))],
            passport=result.passport,
        )

    kit.tabs(numbers, hood, say("sentences.search.limits"))


def search_downloads(result: SearchResult, place: DeltaGenerator) -> None:
    """Draw the Download menu: a table of the texts."""
    with place, st.popover(say("page.download.menu"), icon=":material/download:"):
        st.download_button(
            "CSV",
            lambda: export.to_csv(rows(result), result.passport),
            file_name=f"{_FILE}.csv",
            mime="text/csv",
            on_click="ignore",
            width="stretch",
            key=f"{_FILE}.csv",
        )
