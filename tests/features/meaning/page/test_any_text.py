"""Whatever is typed, the page works or says in one sentence why not, and nothing is lost."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from components.content.language import say
from components.core import BUNDLED_ID, EncoderService
from components.core.words import split_words
from components.ui.state.view import DEFAULT, Sentence
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    address,
    assert_only_own_markup,
    assert_shows,
    chips,
    framed,
    lines,
    messages,
    pick,
    reading,
    send_pick,
    sentence,
    shown_view,
    table,
    type_in,
    view_of,
)

# Every bad input


LONG = " ".join(["python"] * 600)
TYPED = {
    "600 words": LONG,
    "emoji and both directions": "I 💛 my 🐍, say مرحبا to 👩‍👧",
    "HTML and Markdown": "<b>bold</b> <script>alert('python')</script> [a](http://example.org)",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_meets_one_clear_sentence(text: str) -> None:
    app = type_in(framed(), text)
    assert_nothing_lost(app, text)
    words = split_words(text) if text.strip() else ()
    for span in {*words[:2], *words[-1:]}:
        app = send_pick(app, "chips", row=0, start=span[0], end=span[1])
        assert_nothing_lost(app, text)
        assert shown_view(app).sentences[0].word == span
        assert_works_or_says_why(app)
    assert_works_or_says_why(app)


@pytest.mark.parametrize("text", ["", LONG], ids=["an empty text", "600 words"])
def test_any_text_works_as_a_reference(text: str) -> None:
    app = type_in(framed(), text, where="page_references")
    assert_nothing_lost(app, text, "references")
    assert_works_or_says_why(app)


def assert_nothing_lost(app: AppTest, text: str, group: str = "sentences") -> None:
    assert not app.exception
    assert field(app.text_input, f"page_{group}_0").value == text
    assert getattr(shown_view(app), group)[0].text == text


def assert_works_or_says_why(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    said = messages(app)
    names = table(app).iloc[:, 0:2].to_numpy().tolist()
    if said:
        assert len(said) == 1
        assert re.search(r"(Choose|Type) ", said[0])
    else:
        assert len(names) == 5 + 3
        assert np.isfinite(table(app).iloc[:5, 2:].to_numpy(float)).all()


def test_a_word_behind_the_part_that_fits_is_named_with_the_reason() -> None:
    end = len(LONG)
    app = framed(view_of(Sentence(LONG, None, (end - 6, end)), *DEFAULT.sentences))
    assert not app.exception
    assert len(messages(app)) == 1
    assert "“python” stands behind the part of the text that fits the model" in messages(app)[0]
    assert "90 tokens were cut off" in messages(app)[0]
    assert set(lines(app)) == {"B python ~ C python"}
    assert shown_view(app).sentences[0].text == LONG


def test_a_cut_text_is_said_to_be_cut(service: EncoderService) -> None:
    view = view_of(Sentence(LONG, None, (0, 6)), *DEFAULT.sentences)
    app = framed(view)
    said = [caption.value for caption in app.main.caption]
    assert any("the last 90 tokens were left out" in line for line in said)
    assert_shows(app, expected(service, view))


def test_a_cut_reference_is_shown_as_text_and_not_at_full_length() -> None:
    text = "![x](http://example.org/x.png) **bold** " + LONG
    app = framed(replace(DEFAULT, references=(sentence(text),)))
    assert not app.exception
    said = next(c.value for c in app.main.caption if "left out" in c.value)
    assert "![x](" not in said
    assert "**bold**" not in said
    assert len(said) < 300


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "<b>bold</b>", "[a](http://example.org) **b**"]
)
def test_nothing_typed_becomes_markup(text: str) -> None:
    app = framed(replace(DEFAULT, references=(sentence(text),), layer=2))
    specs = [element.proto.spec for element in app.get("plotly_chart")]
    if "<" in text:
        assert not any(text[:4] in spec for spec in specs)
    assert f"“{text[:20]}" in reading(app).replace("\u2060", "")
    assert_only_own_markup(app)
    assert text not in "".join(element.value for element in [*app.markdown, *app.caption])


def test_typing_markup_shows_it_as_it_was_typed() -> None:
    app = type_in(framed(), "<b>bold</b>", where="page_references")
    assert "".join(part["text"] for part in chips(app)[2]["segments"]) == "<b>bold</b>"
    assert "A python ~ &lt;b&gt;bold&lt;/b&gt;" in lines(app)


def test_eight_times_the_same_sentence_is_equally_alike_everywhere(
    service: EncoderService,
) -> None:
    view = view_of(*[DEFAULT.sentences[0]] * 8, references=DEFAULT.references)
    app = framed(view)
    assert not messages(app)
    assert_shows(app, expected(service, view))
    assert "all pairs of words are equally similar" in reading(app)
    assert "is equally close to all of these words" in reading(app)


def test_all_sentences_empty_says_what_to_do() -> None:
    app = framed(view_of(Sentence(""), Sentence(" ")))
    assert not app.exception
    assert len(set(messages(app))) == 2  # at the rows, and what a comparison needs


@pytest.mark.parametrize("group", ["sentences", "references"])
def test_half_characters_from_an_address_are_shown_as_unreadable(group: str) -> None:
    rows = [["my \ud83d python", None, [5, 11]], ["a \udc00 python", None, [4, 10]]]
    data = {"m": BUNDLED_ID, "s": rows, "r": rows if group == "references" else []}
    app = framed(address(json.dumps(data)))
    assert not app.exception
    assert not messages(app)
    assert field(app.text_input, f"page_{group}_0").value == "my \ufffd python"
    app = pick(app, "\ufffd")
    assert not app.exception


def test_two_references_with_the_same_word_are_both_in_the_snippet() -> None:
    view = replace(
        DEFAULT, references=(sentence("a green snake", "snake"), sentence("snake oil", "snake"))
    )
    code = next(block.value for block in framed(view).code if "torch" in block.value)
    words = next(
        node.value
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "words"
    )
    assert len({ast.literal_eval(key) for key in words.keys}) == 4


def test_a_second_text_is_said_to_be_left_out() -> None:
    first = replace(DEFAULT.sentences[0], pair="And another text.")
    app = framed(replace(DEFAULT, sentences=(first, DEFAULT.sentences[1])))
    assert say("meaning.second_text") in [caption.value for caption in app.caption]
    assert reading(app) == reading(framed())
