"""The subject bar on the pages about sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from contextlens.features.tokens.controls import SENTENCE
from contextlens.features.why.score import compared_indices
from contextlens.ui.page.navigation import PAGES, neighbours, pages_for, row
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.pages import (
    bundled_app,
    chips,
    choose_letter,
    framed,
    given,
    settled,
    shown_view,
    type_in,
    type_new,
)

SENTENCE_PAGES = [page.name for page in PAGES if page.section in ("", "sentences")]
THREE = replace(DEFAULT, sentences=(*DEFAULT.sentences, Sentence("A third python", word=(8, 14))))


@pytest.fixture(autouse=True, scope="module")
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def letters_with_a_ring(app) -> str:
    return "".join(row["label"] for row in chips(app) if row["shown"])


@pytest.mark.slow
@pytest.mark.parametrize("page", SENTENCE_PAGES)
def test_each_sentence_page_has_the_same_rows_and_a_link_to_the_next_page(page: str) -> None:
    app = settled(framed(page=page))
    texts = [sentence.text for sentence in (*DEFAULT.sentences, *DEFAULT.references)]
    assert [row["text"] for row in chips(app)] == texts
    following = neighbours(row(page), pages_for(DEFAULT.model, page))[1]
    assert following is not None
    links = [link.proto for link in app.main.get("page_link")]
    assert [link.page for link in links if link.label == f"Next: {following.title}"] == [
        following.name
    ]


def test_a_clicked_letter_chooses_the_sentence_of_the_page() -> None:
    app = framed(page="tokens")
    assert letters_with_a_ring(app) == "A"
    app = choose_letter(app, 1)
    assert SENTENCE.of(shown_view(app)) == "B"
    assert letters_with_a_ring(app) == "B"


def test_a_page_that_compares_two_takes_the_last_two_clicked_letters() -> None:
    app = framed(THREE, page="why")
    assert letters_with_a_ring(app) == "AB"
    app = choose_letter(app, 2)
    assert compared_indices(shown_view(app)) == (1, 2)
    assert letters_with_a_ring(app) == "BC"


def test_one_sentence_needs_no_choice_and_no_word_is_asked_for_where_none_counts() -> None:
    app = framed(replace(DEFAULT, sentences=(Sentence("a cat"),)), page="tokens")
    assert not given(app, "chips")["letters"]
    assert not any(row["note"] for row in chips(app))
    app = framed(replace(DEFAULT, sentences=(Sentence("a cat"),)), page="meaning")
    assert chips(app)[0]["note"] == "Choose a word of this sentence."


def test_a_new_sentence_gets_the_shared_word_and_a_blank_one_is_none() -> None:
    app = type_new(framed(page="tokens"), "Another python")
    assert shown_view(app).sentences[2] == Sentence("Another python", word=(8, 14))
    view = shown_view(app)
    assert shown_view(type_new(app, "  ")) == view


def test_a_second_text_can_be_typed_and_taken_away() -> None:
    app = type_in(framed(page="tokens"), "I love my pet python", pair="It sleeps")
    assert shown_view(app).sentences[0].pair == "It sleeps"
    assert chips(app)[0]["pair"] == "It sleeps"
    app = type_in(app, "I love my pet python", pair="")
    assert shown_view(app) == DEFAULT


def test_a_presented_page_has_no_buttons_to_edit() -> None:
    data = given(framed(PRESENT.put(DEFAULT, True), page="tokens"), "chips")
    assert data["plain"]
    assert data["adds"] == []
