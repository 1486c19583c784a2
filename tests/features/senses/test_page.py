"""Senses, headless: the first sight, clicks, other words and corpora, closer looks, files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID, registry
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store import run
from contextlens.features.senses import senses
from contextlens.features.senses.controls import (
    CHOSEN,
    ONLY,
    PAGE,
    PAGE_SIZE,
    ROWS,
    SORT,
)
from contextlens.ui.corpora.controls import WORD
from contextlens.ui.models.background import jobs, store
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.corpus_store import indexed
from tests.support.fields import field
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    framed,
    given,
    offered_files,
    plainly_said,
    press,
    reading,
    said,
    send,
    settled,
    shown_view,
    to_layer,
)
from tests.support.senses import senses_view


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def lines(app: AppTest, key: str = "senses_concordance") -> list[dict[str, Any]]:
    return given(app, key)["lines"]


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert chart(app, "senses_chart")["data"]
    assert reading(app)
    assert lines(app)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


# At first sight


@pytest.mark.parametrize("run", [framed, alone], ids=["framed", "alone"])
def test_a_word_whose_senses_part_is_there_at_once(run: Callable[..., AppTest]) -> None:
    app = settled(run(DEFAULT, PAGE))
    assert_whole(app)
    assert "Each dot is a sentence with" in reading(app)
    assert "30 of 32" in reading(app)
    assert "Python</mark> loose on tram" in "".join(html.body for html in app.get("html"))
    assert "“python” occurs **32** times" in plainly_said(app)
    assert len(lines(app)) == PAGE_SIZE
    assert [trace.get("name") for trace in chart(app, "senses_curve")["data"]] == [
        None,
        "right sense",
    ]
    cards = given(app, "senses_group_cards")["cards"]
    assert sum(card["n"] for card in cards) == 32
    assert all(len(card["examples"]) == 3 and card["words"] for card in cards)
    colors = {(line["mark"], line["color"]) for line in lines(app)}
    assert colors == {("animal", "#0072B2"), ("language", "#E69F00")}


# A click anywhere


def test_a_click_anywhere_is_a_selection_everywhere() -> None:
    app = opened()
    row = lines(app)[2]["row"]
    app = send(app, "senses_concordance", row)
    assert CHOSEN.of(shown_view(app)) == row
    assert given(app, "senses_concordance")["chosen"] == row
    assert chart(app, "senses_chart")["data"][-1]["name"] == "chosen"
    assert lines(app)[2]["cosine"] == 1.0
    assert "similarity to the chosen use" in field(app.selectbox, SORT.key).options
    app = field(app.selectbox, SORT.key).set_value("cosine").run()
    cosines = [line["cosine"] for line in lines(app)]
    assert cosines[0] == 1.0
    assert cosines == sorted(cosines, reverse=True)
    assert 0 < given(app, "senses_concordance")["random"] < 1

    last = given(app, "senses_group_cards")["cards"][-1]
    app = send(app, "senses_group_cards", {"group": last["key"]})
    assert ONLY.asked(shown_view(app)) == last["key"]
    assert given(app, "senses_group_cards")["chosen"] == last["key"]
    assert len(lines(app)) == last["n"]
    own = sum(len(t.get("selectedpoints", [])) for t in chart(app, "senses_chart")["data"])
    assert own == last["n"]
    others = {e["row"] for e in given(app, "senses_group_cards")["cards"][0]["examples"]}
    app = send(app, "senses_group_cards", {"row": min(others)})  # none of the group that is shown
    assert CHOSEN.of(shown_view(app)) == min(others)
    assert ONLY.asked(shown_view(app)) is None

    app = press(app, "senses_next")
    assert ROWS.of(shown_view(app)) == 2
    assert len(lines(app)) == 32 - PAGE_SIZE
    app = press(app, "senses_let_go")
    assert given(app, "senses_concordance")["chosen"] is None
    app = to_layer(app, 1)
    assert "28 of 32" in reading(app)
    assert_whole(app)


def test_what_the_browser_makes_up_selects_nothing() -> None:
    app = opened()
    for sent in (10**9, True, None, "3", {"row": 1}, [1]):
        app = send(app, "senses_concordance", sent)
    for other in ({"group": "g99"}, {"row": 10**9}, {"row": True}, 7, None):
        app = send(app, "senses_group_cards", other)
    assert shown_view(app) == DEFAULT
    assert_whole(app)


# Tabs and files


def test_the_files_have_every_occurrence() -> None:
    with offered_files() as files:
        opened(senses_view(word="bank", chosen=-1))
        table = pd.read_csv(io.BytesIO(files["senses.csv"]()), comment="#")
        arrays = np.load(io.BytesIO(files["senses.npz"]()))
    assert len(table) == 30
    assert set(table["sense"]) == {"river", "money"}
    assert all(row.sentence[row.start : row.end].casefold() == "bank" for row in table.itertuples())
    assert arrays["vectors"].shape == (30, 384)
    np.testing.assert_allclose(np.linalg.norm(arrays["vectors"], axis=1), 1, atol=1e-5)
    assert arrays["places"].shape == (7, 30, 2)
    assert len(arrays["accuracy"]) == 7


def test_tabs_have_numbers_formula_and_a_script() -> None:
    app = opened(replace(senses_view(panel="taken"), layer=2))
    app.session_state["tabs"] = "Numbers"
    app = app.run()
    assert any("accuracy" in d.value.columns for d in app.dataframe)
    assert any("typical words" in d.value.columns for d in app.dataframe)
    app.session_state["tabs"] = "Under the hood"
    app = app.run()
    assert any("accuracy.append" in code.value for code in app.code)
    assert "At layer 2, **88%** of the uses" in said(app, "reading_taken")


RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


# Another word, another corpus


def test_a_word_that_is_not_there_offers_others_and_goes_on() -> None:
    app = opened(senses_view(word="pyth"))
    assert "“pyth” does not occur in Ambiguous words" in plainly_said(app)
    app = settled(press(app, "senses_instead_python"))
    assert WORD.of(shown_view(app)) == "python"
    assert_whole(app)
    app = settled(field(app.selectbox, "senses_collection").set_value("sentiment").run())
    assert WORD.of(shown_view(app)) == ""
    assert "in the corpus “Sentiment”" in plainly_said(app)
    assert_whole(app)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (senses_view(word="noodle"), "occurs once"),
        (senses_view(word="bank", labels="none", groups="3"), "No senses of “bank” are labelled"),
        (senses_view(f"I say python {RUDE}", word="python"), "occurs once"),
        (senses_view("a python", "my python", word="python", labels="0"), "cannot be tested"),
        (senses_view("蛇は眠る", "パイソン 蛇", word="蛇"), "蛇"),
    ],
    ids=["one", "no labels", "rude", "one a text", "another script"],
)
def test_odd_words_and_corpora_have_a_page(view: ViewState, words: str) -> None:
    app = opened(view)
    assert words in plainly_said(app)
    assert not app.exception
    assert not app.error


def test_a_corpus_that_is_not_here_says_so_and_another_can_be_chosen() -> None:
    app = opened(senses_view(corpus="Zm9vYmFyYmF6cXV4"))
    assert "There is no such corpus here" in plainly_said(app)
    app = settled(field(app.selectbox, "senses_collection").set_value("ambiguous").run())
    assert_whole(app)


def test_a_stored_corpus_needs_no_model_but_for_a_sentence_of_ones_own() -> None:
    texts = tuple(f"{i} python {i} sleeps" for i in range(12))
    name = indexed(store(), Corpus("Kept texts", texts, {"sense": ("a", "b") * 6}))
    app = opened(senses_view(corpus=name, word="python"))
    assert_whole(app)
    assert "in the corpus “Kept texts”" in plainly_said(app)
    app = opened(senses_view(corpus=name, word="python", own="my python"))
    assert "which the corpus was read with" in plainly_said(app)
    assert_whole(app)
    store().delete(name)
    app = app.run()
    assert "There is no such corpus here" in plainly_said(app)


def test_a_sentence_is_not_compared_with_vectors_of_other_weights() -> None:
    texts = tuple(f"{i} python {i} sleeps" for i in range(4))
    name = indexed(store(), Corpus("Old weights", texts), model=BUNDLED_ID)
    app = opened(senses_view(corpus=name, word="python", own="my python"))
    assert "its weights have changed" in plainly_said(app)
    assert_whole(app)


def test_what_takes_long_is_a_job_that_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses, "_MAX_AT_ONCE", 0)
    assert_whole(opened(senses_view(word="bass")))
    assert_whole(opened(senses_view(word="bass", groups="4")))
    assert not jobs().under_way(senses.WORDS)


# A sentence of one's own


def test_a_sentence_falls_to_a_sense_and_one_without_the_word_is_said() -> None:
    app = opened(senses_view(own="My python sleeps in its cage after eating a rat."))
    assert "Your sentence is closest to the sense “animal”" in said(app, "reading_own")
    near = lines(app, "senses_near")
    assert len(near) == 10
    assert near[0]["cosine"] >= near[-1]["cosine"]
    assert near[0]["mark"] == "animal"
    app = send(app, "senses_near", near[3]["row"])
    assert CHOSEN.of(shown_view(app)) == near[3]["row"]
    assert "similarity to your sentence" in field(app.selectbox, SORT.key).options
    app = field(app.selectbox, SORT.key).set_value("cosine").run()
    app = press(app, "senses_next")
    row = lines(app)[0]["row"]
    app = send(app, "senses_concordance", row)  # by cosine to the sentence, it stays where it is
    assert row in {line["row"] for line in lines(app)}
    app = field(app.text_input, "senses_own").set_value(f"No such word {RUDE}").run()
    assert "does not occur in your sentence as a word of its own" in plainly_said(app)
    assert_whole(app)


# Beside it


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


def test_the_other_side_fetches_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for a corpus that is read by its model, nor for a sentence, nor for ready texts."""
    away, texts = "google-bert/bert-large-cased", ("a python sleeps", "my python")
    fetched: list[str] = []
    monkeypatch.setattr(registry, "locate", lambda model, *_args, **_more: fetched.append(model))
    monkeypatch.setattr(run, "_check_precision", lambda *_: None)  # the made-up model has one only
    fast, exact = (
        indexed(store(), Corpus(f"Read {kind}", texts), model=away, precision=kind)
        for kind in ("fast", "exact")
    )
    beside: dict[str, Any] = {"panel": "beside", "beside": "corpus", "word": "python"}
    own = {**beside, "own": "my python"}
    app = opened(senses_view(other_corpus=fast, **beside))
    assert "which the corpus was read with" in plainly_said(app)
    app = opened(senses_view(other_corpus=exact, **own))
    assert chart(app, "senses_chart_other")["data"]
    other_word = {**own, "beside": "word", "other_word": "sleeps"}
    app = opened(senses_view(corpus=exact, **other_word))
    assert chart(app, "senses_chart_other")["data"]
    view = senses_view(corpus=exact, other_corpus="ambiguous", **beside)
    app = settled(alone(replace(view, model=away), PAGE))
    assert "It is fetched once" in plainly_said(app)
    assert not fetched


def test_both_sides_are_linked() -> None:
    app = opened(senses_view(panel="beside", beside="layer", other_layer=1, only="s1"))
    both = [chart(app, key)["data"] for key in ("senses_chart_beside", "senses_chart_other")]
    picked = [[trace.get("selectedpoints") for trace in data] for data in both]
    assert picked[0] == picked[1]
    assert any(picked[0])
    row = lines(app)[0]["row"]
    app = send(app, "senses_concordance", row)
    assert chart(app, "senses_chart_other")["data"][-1]["name"] == "chosen"
