"""What is said of a text's tokens, also where the story that one expects does not hold."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Tokens
from components.features.tokens.reading.tokens import (
    back_reading,
    padding_note,
    tokenizers_reading,
    twins_reading,
    unknown_notes,
)
from tests.features.tokens.reading.odd_tokens import texts

MARKUP = ("**b**", "_i_", "`c`", "[a](http://example.org)", "$x^2$", ":snake:", "<b>x</b>", "# h")


def tokens_of(service: EncoderService, text: str, model: str = BUNDLED_ID) -> Tokens:
    return service.tokenize(model, [text])[0]


# A text's tokens


def test_tokens_are_counted_and_cut_words_spelled(read: Callable[..., str]) -> None:
    said = read("The tokenizer unmasked it")
    assert "becomes **9** tokens, 7 of its own and 2 that the tokenizer adds" in said
    assert "“tokenizer” is cut into **2** (token \\#\\#izer)" in said
    assert "“unmasked” is cut into **3**" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"no token of its own: the model sees only \[CLS\], \[SEP\]."),
        ("   ", "no token of its own"),
        ("\x00", "no token of its own"),
        ("python", "Its word is one token."),
        ("my python", "Every word is one token."),
        ("my python!", "Every word is one token."),
        ("my \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "No word is cut."),
        ("🐍", "**1** token is unknown"),
        ("🐍 🍕", "**2** tokens are unknown"),
        ("nanorobot tokenizer unmasked", "**1** more word is cut too"),
        ("nanorobot tokenizer unmasked photosynthesizing", "**2** more words are cut too"),
    ],
)
def test_one_and_many_and_none(read: Callable[..., str], text: str, said: str) -> None:
    assert said.replace(r"\[", "\\[") in read(text)


def test_a_word_whose_end_does_not_fit_is_said_neither_cut_nor_whole(
    read: Callable[..., str], service: EncoderService
) -> None:
    assert "No word that fits whole is cut." in read("my nanorobot", max_length=4)
    assert "No word that fits whole is cut." in read("my nanorobot", max_length=5)
    one = service.tokenize(BUNDLED_ID, ["token tokenizer"], max_length=4)[0]
    assert one.tokens[1:3] == ("token", "token")
    assert twins_reading(one)[0].startswith("No two words")


def test_nothing_is_said_of_words_where_there_are_none(read: Callable[..., str]) -> None:
    assert "word" not in read("")
    assert "word" not in read("?!")
    assert "word" not in read("   ", model="folder:roberta")


@pytest.mark.parametrize(
    ("length", "said"),
    [(6, "**1** token does not fit and is left out."), (5, "**2** tokens do not fit and are")],
)
def test_what_did_not_fit_is_counted(read: Callable[..., str], length: int, said: str) -> None:
    assert said in read("I love my pet python", max_length=length)


@pytest.mark.parametrize(
    ("length", "said"), [(8, "**1** position is padding."), (9, "**2** positions are padding.")]
)
def test_padding_is_counted(read: Callable[..., str], length: int, said: str) -> None:
    said_of = read("I love my pet python", pad_to=length)
    assert said in said_of
    assert "becomes **7** tokens" in said_of


def test_a_pair_is_called_one(read: Callable[..., str]) -> None:
    assert read("A python", pair="sleeps").startswith("This pair of texts becomes **6** tokens")
    assert read("", pair="").startswith("This pair of texts has no token of its own")


def test_long_words_are_not_spelled_to_their_end(read: Callable[..., str]) -> None:
    said = read("x" * 60)
    assert re.search(r"is cut into \*\*\d+\*\* \(.* …\)", said)
    assert len(said) < 300


@pytest.mark.parametrize("typed", MARKUP)
def test_what_was_typed_is_no_markup(
    read: Callable[..., str], look_up: Callable[..., str], typed: str
) -> None:
    for said in (read(typed + "nanorobot"), look_up(typed)):
        bare = said.replace("**", "")
        for sign in "*_`[]<>$#":
            assert not re.search(rf"(?<!\\){re.escape(sign)}", bare), said
        assert not re.search(r"(?<!\\):snake", said)


@settings(deadline=None)
@given(text=texts, n=st.integers(4, 20))
def test_every_text_is_said_in_one_to_five_sentences(
    read: Callable[..., str], text: str, n: int
) -> None:
    assert 10 < len(read(text, max_length=n)) < 1200


@pytest.mark.parametrize(
    ("asked", "n_tokens", "said"), [(0, 7, False), (7, 7, False), (9, 9, False), (3, 7, True)]
)
def test_padding_in_vain_is_said(asked: int, n_tokens: int, said: bool) -> None:
    text = "Padding to 3 was asked, but there are 7 tokens already: nothing to pad."
    assert padding_note(asked, n_tokens) == (text if said else "")


def test_the_first_three_unknown_tokens_are_explained(service: EncoderService) -> None:
    tokens = tokens_of(service, "<b>")
    notes = unknown_notes(tokens, {i: f"*{i}*" for i in range(5)})
    assert notes == [
        r"Token 0 is unknown, “”: \*0\*",
        r"Token 1 is unknown, “\<”: \*1\*",
        r"Token 2 is unknown, “b”: \*2\*",
    ]


# Two tokenizers


def test_words_that_one_tokenizer_merges_are_named(tiny_service: EncoderService) -> None:
    text = "US told us"
    cased, uncased = (tokens_of(tiny_service, text, m) for m in ("folder:roberta", BUNDLED_ID))
    said = " ".join(tokenizers_reading(uncased, cased, ("small", "big *one*")))
    assert "“US” and “us” have the same token IDs in small, and others in big \\*one\\*." in said
    said = " ".join(tokenizers_reading(cased, uncased, ("big", "small")))
    assert "have the same token IDs in small, and others in big." in said


def test_the_same_tokens_are_said_to_be_the_same(service: EncoderService) -> None:
    one = tokens_of(service, "I love it")
    assert tokenizers_reading(one, one, ("a", "b")) == [
        "Both cut this text into the same **3** tokens."
    ]
    nothing = tokens_of(service, "")
    assert tokenizers_reading(nothing, nothing, ("a", "b")) == [
        "Neither tokenizer finds a token in this text."
    ]
    long = tokens_of(service, "python " * 600)
    assert tokenizers_reading(long, long, ("a", "b")) == [
        "Both make **600** tokens of this text, and those that fit are the same."
    ]


def test_as_many_but_other_tokens(tiny_service: EncoderService) -> None:
    one = tokens_of(tiny_service, "a", BUNDLED_ID)
    other = tokens_of(tiny_service, "A", "folder:roberta")
    (said,) = tokenizers_reading(one, other, ("a", "b"))
    assert said == "Both make **1** token of this text, but not the same."


def test_twins(service: EncoderService) -> None:
    assert twins_reading(tokens_of(service, "Zoë met ZOE")) == [
        "“Zoë” and “ZOE” have the same token IDs: the model cannot tell them apart."
    ]
    (said,) = twins_reading(tokens_of(service, "two words, two"))
    assert said.startswith("No two words")
    assert twins_reading(tokens_of(service, ""))[0].startswith("No two words")


# Back to text


@pytest.mark.parametrize(
    ("decoded", "text", "counts", "said"),
    [
        ("a b", "a b", (0, 0, 0), "exactly as it was typed"),
        ("", "", (0, 0, 0), "There is no text, so nothing comes back."),
        ("", "   ", (0, 0, 0), "Nothing of the text comes back from the IDs."),
        ("", "\x00", (1, 0, 0), "comes back from the IDs: **1** character rewritten or dropped"),
        ("a , b", "a, b", (0, 0, 0), "only spaces are not as they were typed"),
        ("a", "A", (1, 0, 0), "**1** character rewritten or dropped before cutting."),
        ("ab", "AB", (2, 0, 0), "**2** characters rewritten"),
        ("[UNK]", "🐍", (0, 1, 0), "**1** unknown token cannot be read back."),
        ("a", "a b c", (0, 0, 3), "**3** characters did not fit."),
        ("x", "y", (0, 0, 0), "come back written in another way"),
    ],
)
def test_what_came_back(decoded: str, text: str, counts: tuple[int, int, int], said: str) -> None:
    assert said in " ".join(back_reading(decoded, text, *counts))
