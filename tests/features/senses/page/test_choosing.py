"""Senses, headless: another word or corpus, a sentence of one's own, something beside it."""

from __future__ import annotations

from typing import Any

import pytest

from components.core import BUNDLED_ID
from components.corpus.corpus import Corpus
from components.features.senses import page
from components.features.senses.controls import CHOSEN, CORPUS, WORD
from components.ui.models.background import jobs, store
from components.ui.state.view import ViewState
from tests.features.senses.page.headless import assert_whole, lines, opened
from tests.support.corpus_store import indexed
from tests.support.fields import field
from tests.support.pages import chart, plainly_said, press, reading, said, send, settled, shown_view
from tests.support.senses import senses_view

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


# Another word, another corpus


@pytest.mark.slow
def test_a_word_that_is_not_there_offers_others_and_goes_on() -> None:
    app = opened(senses_view(word="pyth"))
    assert "“pyth” does not occur in Ambiguous words" in plainly_said(app)
    app = settled(press(app, "senses_instead_python"))
    assert WORD.of(shown_view(app)) == "python"
    assert_whole(app)
    app = settled(field(app.selectbox, CORPUS.key).set_value("sentiment").run())
    assert WORD.of(shown_view(app)) == ""
    assert "in the corpus “Sentiment”" in reading(app)
    assert_whole(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "words"),
    [
        (senses_view(word="noodle"), "occurs once"),
        (senses_view(word="  "), "“python” occurs"),
        (senses_view(word="bank", labels="none", groups="3"), "No senses of “bank” are labelled"),
        (senses_view(f"I say python {RUDE}", word="python"), "occurs once"),
        (senses_view("a python", "my python", word="python", labels="0"), "cannot be tested"),
        (senses_view("the bank", "a bank", word="bank", labels="none", own="x"), "No senses"),
        (senses_view(" ", "", word="a"), "Your sentences are empty"),
        (senses_view("蛇は眠る", "パイソン 蛇", word="蛇"), "蛇"),
    ],
    ids=["one", "blank", "no labels", "rude", "one a text", "own", "empty", "another script"],
)
def test_odd_words_and_corpora_have_a_page(view: ViewState, words: str) -> None:
    app = opened(view)
    assert words in plainly_said(app)
    assert not app.exception
    assert not app.error


@pytest.mark.slow
def test_a_corpus_that_is_not_here_says_so_and_another_can_be_chosen() -> None:
    app = opened(senses_view(corpus="Zm9vYmFyYmF6cXV4"))
    assert "There is no such corpus here" in plainly_said(app)
    app = settled(field(app.selectbox, CORPUS.key).set_value("ambiguous").run())
    assert_whole(app)


@pytest.mark.slow
def test_a_stored_corpus_needs_no_model_but_for_a_sentence_of_ones_own() -> None:
    texts = tuple(f"{i} python {i} sleeps" for i in range(12))
    name = indexed(store(), Corpus("Kept texts", texts, {"sense": ("a", "b") * 6}))
    app = opened(senses_view(corpus=name, word="python"))
    assert_whole(app)
    assert "in the corpus “Kept texts”" in reading(app)
    app = opened(senses_view(corpus=name, word="python", own="my python"))
    assert "which the corpus was indexed with" in plainly_said(app)
    assert_whole(app)
    store().delete(name)
    app = app.run()
    assert "There is no such corpus here" in plainly_said(app)


@pytest.mark.slow
def test_a_sentence_is_not_compared_with_vectors_of_other_weights() -> None:
    texts = tuple(f"{i} python {i} sleeps" for i in range(4))
    name = indexed(store(), Corpus("Old weights", texts), model=BUNDLED_ID)
    app = opened(senses_view(corpus=name, word="python", own="my python"))
    assert "its weights have changed" in plainly_said(app)
    assert_whole(app)


@pytest.mark.slow
def test_what_takes_long_is_a_job_that_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_AT_ONCE", 0)
    assert_whole(opened(senses_view(word="bass")))
    assert_whole(opened(senses_view(word="bass", groups="4")))
    assert not jobs().under_way(page.WORDS)


# A sentence of one's own


@pytest.mark.slow
def test_a_sentence_falls_to_a_sense_and_one_without_the_word_is_said() -> None:
    app = opened(senses_view(own="My python sleeps in its cage after eating a rat."))
    assert "Your sentence is closest to the sense “animal”" in said(app, "reading_own")
    near = lines(app, "senses_near")
    assert len(near) == 10
    assert near[0]["cosine"] >= near[-1]["cosine"]
    assert near[0]["mark"] == "animal"
    app = send(app, "senses_near", near[3]["row"])
    assert CHOSEN.of(shown_view(app)) == near[3]["row"]
    app = field(app.text_input, "senses_own").set_value(f"No such word {RUDE}").run()
    assert "does not occur in your sentence as a word of its own" in plainly_said(app)
    assert_whole(app)


# Beside it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({"beside": "layer", "other_layer": 0}, "layer 0: with more uses"),
        ({"beside": "word", "other_word": "bank"}, "We cannot tell which does better"),
        ({"beside": "word", "other_word": "xqzt"}, "does not occur in"),
        ({"beside": "corpus", "other_corpus": "Zm9vYmFyYmF6cXV4"}, "There is no such corpus"),
        ({"beside": "model"}, "It is fetched once"),
        ({"beside": "table"}, "The word table holds a single vector for “python”"),
    ],
    ids=["layer", "word", "no such word", "no such corpus", "model", "table"],
)
def test_something_stands_beside_it(controls: dict[str, Any], words: str) -> None:
    app = opened(senses_view(panel="beside", **controls))
    assert words in plainly_said(app)
    assert_whole(app)


@pytest.mark.slow
def test_both_sides_are_linked() -> None:
    app = opened(senses_view(panel="beside", beside="layer", other_layer=1, only="s1"))
    both = [chart(app, key)["data"] for key in ("senses_chart_beside", "senses_chart_other")]
    picked = [[trace.get("selectedpoints") for trace in data] for data in both]
    assert picked[0] == picked[1]
    assert any(picked[0])
    row = lines(app)[0]["row"]
    app = send(app, "senses_concordance", row)
    assert chart(app, "senses_chart_other")["data"][-1]["name"] == "chosen"
