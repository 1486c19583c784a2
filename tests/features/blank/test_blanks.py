"""Which words are hidden, and the text that the model reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.features.blank.blanks import (
    BlankedSentence,
    blanked_sentences,
    chosen_words,
    with_chosen_words,
)
from contextlens.features.blank.controls import (
    CUT,
    HIDDEN,
    MAX_BLANKS,
    MAX_HIDDEN_WORDS,
    PIECES,
    READ,
    REPLACE,
    WORD,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.texts import LONG
from tests.support.tiny_models import MASKED


def view_of(*sentences: Sentence, model: str = "folder:bert") -> ViewState:
    return replace(DEFAULT, model=model, sentences=sentences or DEFAULT.sentences)


def blanked(view: ViewState, service: EncoderService) -> list[BlankedSentence]:
    return blanked_sentences(view, service, service.vocabulary(view.model))


def written(sentence: BlankedSentence) -> list[str]:
    return [blank.written for blank in sentence.blanks]


@pytest.mark.parametrize("family", MASKED)
def test_the_chosen_words_are_hidden_at_first(family: str, masked_service: EncoderService) -> None:
    found = blanked(view_of(model=f"folder:{family}"), masked_service)
    assert [written(sentence) for sentence in found] == [["python"], ["python"]]
    vocabulary = masked_service.vocabulary(f"folder:{family}")
    for sentence in found:
        (blank,) = sentence.blanks
        is_typed = sentence.read.token_ids[blank.position] == vocabulary.mask_id
        assert is_typed == (blank.n_pieces > 1)
        assert sentence.read.text.startswith(sentence.sentence.text[: blank.span[0]])


def test_a_phrase_is_hidden_word_by_word(masked_service: EncoderService) -> None:
    found = blanked(view_of(Sentence("the bank of the river", None, (4, 21))), masked_service)
    assert written(found[0]) == ["bank", "of", "the", "river"]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("She works by the sea, but he is not!", ["sea"]),
        ("one", ["one"]),
        ("", []),
        ("   ", []),
        ("[MASK] is [MASK]", ["", ""]),
    ],
)
def test_without_a_chosen_word_the_last_one_is_hidden(
    text: str, hidden: list[str], masked_service: EncoderService
) -> None:
    assert written(blanked(view_of(Sentence(text)), masked_service)[0]) == hidden


def test_words_beside_a_typed_blank_can_be_hidden_too(masked_service: EncoderService) -> None:
    view = with_chosen_words(view_of(Sentence("The [MASK] lends money")), 0, [4])
    assert view is not None
    (found,) = blanked(view, masked_service)
    assert written(found) == ["", "lends"]
    assert found.words == (True, False, False, False, True, True)


def test_a_mask_typed_in_the_second_text_is_a_blank(masked_service: EncoderService) -> None:
    (found,) = blanked(view_of(Sentence("one bank", "two [MASK]", (0, 3))), masked_service)
    assert [(blank.text_id, blank.span) for blank in found.blanks] == [(0, (0, 3)), (1, (4, 10))]


def test_words_of_several_pieces_are_one_blank_or_several(masked_service: EncoderService) -> None:
    text = "It was unbelievable, and she was unbelievable."
    view = with_chosen_words(view_of(Sentence(text, None, (33, 45))), 0, [2, 7])
    assert view is not None
    (one,) = blanked(view, masked_service)
    assert one.read.text == "It was [MASK], and she was [MASK]."
    assert [(blank.written, blank.written_id) for blank in one.blanks] == 2 * [
        ("unbelievable", None)
    ]
    (several,) = blanked(CUT.put(view, PIECES), masked_service)
    assert several.read.text == text
    assert len(several.blanks) + several.n_left_out > 2
    assert all(blank.written_id is not None for blank in several.blanks)


def test_another_word_is_read_in_the_place(masked_service: EncoderService) -> None:
    view = WORD.put(READ.put(view_of(), REPLACE), "snakes")
    first, second = blanked(view, masked_service)
    assert (first.read.text, second.read.text) == (
        "I love my pet snakes",
        "I love coding in snakes",
    )
    assert {blank.written for blank in first.blanks} == {"python"}
    missing = WORD.put(view, "  ")
    assert blanked(missing, masked_service)[0].read.text == "I love my pet python"


def test_a_long_text_hides_a_word_that_is_read(masked_service: EncoderService) -> None:
    sentence = Sentence(LONG, None, (len(LONG) - 5, len(LONG)))
    (found,) = blanked(view_of(sentence), masked_service)
    assert found.tokens.n_truncated
    assert len(found.blanks) == 1
    assert not all(found.words)


def test_only_the_first_blanks_are_shown_and_all_pieces_are_hidden(
    masked_service: EncoderService,
) -> None:
    view = with_chosen_words(view_of(Sentence("xyzq wvut qqqq zzzz jjjj")), 0, range(5))
    assert view is not None
    (found,) = blanked(CUT.put(view, PIECES), masked_service)
    assert len(found.blanks) == MAX_BLANKS
    assert len(found.places) == MAX_BLANKS + found.n_left_out
    typed = Sentence("[MASK] " * 20)
    (many,) = blanked(view_of(typed), masked_service)
    assert len(many.places) == MAX_BLANKS
    assert many.n_left_out == 12


# The choice of a visitor, in the address


def test_the_choice_is_read_back_and_belongs_to_its_text() -> None:
    view = with_chosen_words(view_of(), 1, [2, 0])
    assert view is not None
    assert chosen_words(view) == {1: (0, 2)}
    other = replace(view, sentences=(view.sentences[0], Sentence("I love coding in C")))
    assert chosen_words(other) == {}
    moved = replace(view, sentences=(view.sentences[0], replace(view.sentences[1], word=(2, 6))))
    assert chosen_words(moved) == {}
    nothing = with_chosen_words(view, 1, [])
    assert nothing is not None
    assert chosen_words(nothing) == {1: ()}


def test_the_choice_is_bounded() -> None:
    words = range(100, 100 + MAX_HIDDEN_WORDS)
    assert with_chosen_words(view_of(), 0, [*words, 1]) is None
    view: ViewState | None = view_of(*[Sentence(f"sentence {i}") for i in range(8)])
    for index in range(8):
        view = with_chosen_words(view, index, words) if view else None
    assert view is None  # it would not fit into an address


@given(st.text(alphabet="0123456789:,~ abcf-x٣", max_size=60))
def test_any_text_in_an_address_names_words_or_nothing(text: str) -> None:
    chosen = chosen_words(HIDDEN.put(view_of(), text))
    assert set(chosen) <= {0, 1}
    assert all(len(words) <= MAX_HIDDEN_WORDS for words in chosen.values())


def test_a_choice_written_by_hand_needs_no_stamp(masked_service: EncoderService) -> None:
    view = HIDDEN.put(view_of(), "0:1,2 7:1 1:999 x")
    assert [written(s) for s in blanked(view, masked_service)] == [["love", "my"], []]
