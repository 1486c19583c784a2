"""Any view."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from contextlens.ui.state.view import MAX_SENTENCES, Sentence, ViewState

__all__ = ["any_character", "sendable", "sentences", "unhurried", "views"]

unhurried = settings(deadline=None)  # other work may share these cores
any_character = st.characters(exclude_categories=())  # lone surrogates too
sendable = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def sentences(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Sentence]:
    def with_word(text: str, pair: str | None) -> st.SearchStrategy[Sentence]:
        cuts = st.integers(0, len(text))
        spans = st.tuples(cuts, cuts).map(lambda cut: (min(cut), max(cut)))
        words = st.none() | spans.filter(lambda span: span[0] < span[1])
        return words.map(lambda word: Sentence(text, pair, word))

    return st.tuples(texts, st.none() | texts).flatmap(lambda both: with_word(*both))


def views(texts: st.SearchStrategy[str] = sendable) -> st.SearchStrategy[ViewState]:
    names = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    finite = st.floats(-(2**53), 2**53)
    values = st.booleans() | st.integers(-(2**53), 2**53) | finite | sendable
    own = st.dictionaries(names, values, max_size=4)
    several = st.lists(sentences(texts), max_size=MAX_SENTENCES).map(tuple)
    some = several.filter(bool)  # there is always a sentence, if an empty one
    return st.builds(
        ViewState,
        model=sendable,
        sentences=some,
        references=several,
        layer=st.none() | st.integers(0, 1000),
        controls=st.dictionaries(names, own, max_size=3),
    )
