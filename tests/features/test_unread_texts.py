"""Texts that people bring and a model reads only in part: no page fails, and each says what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.corpus.readers import read
from contextlens.features.pairs.pair_file import PairColumns, share_pairs
from contextlens.features.tokens.controls import PICKED
from contextlens.ui.corpora.controls import COLLECTION, PAIRS
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.pages import (
    bundled_app,
    framed,
    given,
    plainly_said,
    reading,
    said,
    sentence,
    settled,
    view_of,
)

LONG = "Welcome" * 16  # 112 letters
TEXTS = {
    "emoji on a word": ("So happy😊 about it", "So happy about it"),
    "zero-width space": ("a page\u200bdepth chart", "a pagedepth chart"),
    "nothing but that": ("\u200b", "a break"),
    "one accent": ("Salimos hacia casa", "Salimos hacía casa"),
    "marks and Han": ("京都大学へ行く", "हमारे घर"),
    "Hebrew points": ("שָׁלוֹם לכם", "שלום לכם"),
    "long without spaces": (LONG, "Welcome" * 15),
    "a name with a mark": ("why isn't the Jones' car here", "a three-day trip"),
    "emoji only": ("😀😀", "🎉 🎉 🎉"),
    "swapped": ("The cat chased the dog", "The dog chased the cat"),
}


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def on(page: str, name: str, *words: str) -> AppTest:
    """A page on two texts with their chosen words, the last ones by default."""
    texts = TEXTS[name]
    chosen = words or [text.split()[-1] for text in texts]
    view = view_of(*(sentence(t, w) for t, w in zip(texts, chosen, strict=True)))
    app = settled(framed(view, page))
    assert not app.error
    return app


def pairs_view(*rows: tuple[str, str]) -> ViewState:
    """The view on a file of pairs of whole texts."""
    lines = "\n".join(f"{first}\t{second}" for first, second in (("text1", "text2"), *rows))
    sheet = read("mine.tsv", lines.encode(), max_bytes=10_000)
    digest = share_pairs("somebody", sheet, PairColumns(text1="text1", text2="text2"))
    return PAIRS.put(COLLECTION.put(DEFAULT, "file"), digest)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["home", "tokens", "meaning", "why", "masks", "map"])
@pytest.mark.parametrize("name", TEXTS)
def test_no_page_fails(page: str, name: str) -> None:
    on(page, name)


@pytest.mark.slow
def test_an_unknown_word_is_named_with_the_reason_wherever_it_is_compared() -> None:
    note = "The model cannot read “happy😊” in A: 😊 (U+1F60A) is not in the vocabulary"
    for page in ("home", "meaning", "why", "masks"):
        assert note in plainly_said(on(page, "emoji on a word", "happy", "happy")), page
    meaning = on("meaning", "emoji on a word", "happy", "happy")
    assert reading(meaning).startswith("The model cannot read “happy” in A")
    assert "says nothing about this word" in reading(meaning)
    home = on("home", "emoji on a word", "happy", "happy")
    assert said(home, "headline").startswith("The model cannot read “happy”")
    assert "unrelated words:" not in plainly_said(home)


def test_the_limit_of_a_word_is_said() -> None:
    for page in ("tokens", "meaning", "why"):
        app = on(page, "long without spaces")
        assert "it has more than 100 letters" in plainly_said(app), page


def test_two_spellings_of_the_same_tokens_are_called_the_same() -> None:
    meaning = on("meaning", "one accent", "hacia", "hacía")
    assert "have the same tokens (5292 7405), so both are the same to this model" in reading(
        meaning
    )
    home = on("home", "one accent", "hacia", "hacía")
    assert said(home, "headline").startswith("“hacia” and “hacía” are the same to this model.")
    assert say("why.score.equal", cosine=1.0, a="A", b="B") in plainly_said(on("why", "one accent"))
    tokens = on("tokens", "one accent")
    assert "“í”" not in said(tokens)  # only B has the mark


def test_texts_of_unknown_pieces_alone_have_no_verdict() -> None:
    why = plainly_said(on("why", "emoji only"))
    assert "The model cannot read A and B: it sees only unknown or special tokens there" in why
    assert "is high" not in why
    words = [w["text"] for side in given(on("why", "emoji only"), "why_words")["sides"]
             for w in side["words"]]  # fmt: skip
    assert "😀😀 [UNK]" in words


def test_dropped_signs_and_marks_are_said_and_the_cut_is_that_of_the_strip() -> None:
    tokens = on("tokens", "zero-width space")
    pieces = [t["mark"] + t["text"] for t in given(tokens, "token_strip")["tokens"]]
    assert "The tokenizer drops **1** character, U+200B" in plainly_said(tokens)
    assert pieces == ["[CLS]", "a", "page", "##de", "##pt", "##h", "chart", "[SEP]"]
    assert "## continues a word" in given(tokens, "token_strip")["captions"][1]
    text = Sentence(TEXTS["zero-width space"][0])
    picked = settled(framed(PICKED.put(view_of(text), 3), "tokens"))
    assert "becomes **4** tokens: page (" in plainly_said(picked)
    assert say("tokens.why.longest", word="“pagedepth”") in plainly_said(picked)
    nothing = plainly_said(on("tokens", "nothing but that"))
    assert "No token of the text reaches the model" in nothing
    marks = plainly_said(on("tokens", "Hebrew points"))
    assert "letters lose their marks" in marks


def test_pairs_say_it_of_the_shown_pair_and_of_the_file() -> None:
    rows = [TEXTS[name] for name in ("emoji only", "one accent", "swapped")]
    app = settled(framed(pairs_view(*rows), "pairs"))
    text = plainly_said(app)
    assert "2 texts have tokens that are unknown to the model" in text
    assert "Both texts have the same tokens, so they are the same to this model." in text
