"""Start here, headless: words that part, what that means, and examples that run in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.state.address import decode
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState, from_example
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    alone,
    app_settings,
    arrived,
    bundled_app,
    everything_said,
    framed,
    given,
    messages,
    pick,
    said,
    send,
    sentence,
    settled,
    shown_view,
    type_in,
    typed,
    view_of,
)

ROOT = Path(__file__).parents[3]
PICTURE = "home_story"


def home(view: ViewState | str = DEFAULT) -> Any:
    return framed(view, page="home")


def links(app: Any) -> dict[str, Any]:
    """The links of the page itself, by what they say."""
    return {link.proto.label: link.proto for link in app.main.get("page_link")}


def target(link: Any) -> ViewState:
    """The view that a link opens."""
    return decode(link.query_string.removeprefix("s="))


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


@pytest.mark.parametrize("opened", [lambda: alone(page="home"), home], ids=["alone", "framed"])
def test_the_page_says_what_this_is_and_shows_it_at_work(opened: Callable[[], Any]) -> None:
    app = opened()
    assert not app.exception
    assert not messages(app)
    assert app.title[0].value == "Start here"
    assert say("home.intro") in [caption.value for caption in app.caption]
    app = settled(app)
    assert said(app, "headline") == (
        "A: the animal. B: the language. "
        "The thicker the line from a word, the more that word shapes how the model reads “python”."
    )
    assert [row["says"][-1] for row in given(app, PICTURE)["rows"]] == [
        "“pet” moves “python” most",
        "“coding” moves “python” most",
    ]
    assert everything_said(app).count("one processing step of the model") == 1


def test_it_is_the_first_page_that_a_visitor_sees() -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=300).run()
    assert not app.exception
    assert app.title[0].value == "Start here"


OTHER = view_of(
    sentence("I love my pet snake", "snake"),
    sentence("I love coding in Java", "coding"),
    references=(Sentence("animal"), Sentence("software")),
)
"""Words without labelled senses in common."""


def test_the_browser_has_all_that_play_draws() -> None:
    drawn = given(home(), PICTURE)
    assert drawn["layers"] == list(range(7))
    for row in drawn["rows"]:
        assert np.shape(row["changes"]) == (7, 5)
        assert len(row["says"]) == 7
    assert drawn["rows"][0]["changes"][6][3] == pytest.approx(0.1323, abs=1e-4)


def test_the_line_leads_from_sense_to_sense_and_agrees_with_their_names() -> None:
    tug = given(settled(home()), PICTURE)["tug"]
    assert (tug["left"], tug["right"]) == ("the animal", "the language")
    first, second = tug["uses"]
    assert first["places"][0] == pytest.approx(second["places"][0], abs=1e-4)
    assert tug["start"] == "the same start"
    assert first["places"][-1] < -tug["margins"][-1] < tug["margins"][-1] < second["places"][-1]
    assert first["clear"][-1]
    assert second["clear"][-1]


def test_without_labelled_senses_it_leads_from_reference_to_reference(
    service: EncoderService,
) -> None:
    cosines = expected(service, OTHER)
    tug = given(home(OTHER), PICTURE)["tug"]
    assert (tug["left"], tug["right"]) == ("animal", "software")
    for use, (to_left, to_right) in zip(tug["uses"], ((1, 2), (3, 4)), strict=True):
        places = np.subtract(cosines[to_right][:-1], cosines[to_left][:-1])
        assert use["places"] == pytest.approx(places, abs=1e-4)


def test_without_references_the_similarity_of_the_words_is_drawn(service: EncoderService) -> None:
    view = replace(OTHER, references=())
    drawn = given(home(view), PICTURE)
    assert drawn["tug"] is None
    (line,) = drawn["alike"]["lines"]
    assert line["along"] == pytest.approx(expected(service, view)[0][:-1], abs=1e-4)


def test_one_sentence_is_drawn_with_its_references() -> None:
    one = replace(OTHER, sentences=OTHER.sentences[:1])
    app = home(one)
    assert not app.exception
    assert "“snake” in A and “animal”" in said(app, "headline")
    drawn = given(app, PICTURE)
    assert len(drawn["rows"]) == len(drawn["tug"]["uses"]) == 1
    alone = given(home(replace(one, references=one.references[:1])), PICTURE)
    assert alone["tug"] is None
    assert len(alone["alike"]["lines"]) == 1


def test_a_word_chosen_here_is_chosen_on_the_page_it_leads_to() -> None:
    app = pick(home(), "pet")
    assert shown_view(app).sentences[0] == sentence("I love my pet python", "pet")
    assert not any(card["current"] for card in cards(app).values())
    assert not said(app, "headline").startswith("A: the animal.")
    link = links(app)["See all numbers for these sentences"]
    assert link.page == "meaning"
    assert target(link) == shown_view(app)


def test_new_sentences_share_a_word_and_references_leave_with_the_last_old_one() -> None:
    app = type_in(home(), "The grassy bank of a river")
    assert shown_view(app).sentences[0] == sentence("The grassy bank of a river", "river")
    assert given(app, PICTURE)["rows"][0]["says"][-1].endswith("“river” most")
    assert shown_view(app).references == DEFAULT.references
    app = type_in(app, "A bank lent us money", row=1)
    assert shown_view(app) == view_of(
        sentence("The grassy bank of a river", "bank"), sentence("A bank lent us money", "bank")
    )


@pytest.mark.parametrize("text", ["", "my pyt\x00hon", "<b>x</b>", "python " * 600])
def test_no_text_breaks_the_story(text: str) -> None:
    app = type_in(home(), text)
    assert not app.exception
    assert not app.error
    assert typed(app) == text


def test_where_the_number_cannot_decide_two_fields_ask_for_a_word_for_each_meaning() -> None:
    road = sentence("The road was long and dusty", "road"), sentence("A road to success", "road")
    app = home(replace(DEFAULT, sentences=road, references=()))
    assert said(app, "headline").startswith(
        "The model cannot tell. Add a word for each meaning of “road”."
    )
    app = field(app.text_input, "home_meaning_0").set_value("street").run()
    app = field(app.text_input, "home_meaning_1").set_value("success").run()
    assert shown_view(app).references == (Sentence("street"), Sentence("success"))
    assert said(app, "headline").startswith("A is closer to “street”, B to “success”.")


def test_sentences_without_chosen_words_say_what_is_needed() -> None:
    app = home(ViewState(BUNDLED_ID, (Sentence("one"), Sentence("two"))))
    assert not app.exception
    assert any(said.startswith("To compare, choose a word") for said in messages(app))
    assert "See all numbers for these sentences" in links(app)


# Guess first


def guess(app: Any, sent: object) -> Any:
    """The page after a click on a card."""
    return send(app, "guesses", sent)


def cards(app: Any, key: str = "guesses") -> dict[str, dict[str, Any]]:
    """The cards, by the key of their examples; "" is the visitor's own word."""
    return {card["key"]: card for card in given(app, key)["cards"]}


def test_each_card_asks_first_and_only_the_example_on_the_page_is_answered() -> None:
    shown = cards(home())
    assert list(shown) == [*(example.key for example in EXAMPLES), ""]
    for example in EXAMPLES[1:]:
        card = shown[example.key]
        assert card["question"] == example.question.text
        assert tuple(card["options"]) == example.question.options
        assert not card["verdict"]
    assert [key for key, card in shown.items() if card["current"]] == ["python"]
    assert shown["python"]["verdict"] == "The model gets it"
    assert shown["python"]["says"] == "More like “a snake” (0.51) than “programming” (0.26)."


def test_a_guess_opens_the_example_plays_it_and_says_the_model_s_answer() -> None:
    app = guess(home(replace(DEFAULT, layer=2)), {"key": "order", "option": 0})
    assert not app.exception
    example = next(each for each in EXAMPLES if each.key == "order")
    assert shown_view(app) == from_example(example, BUNDLED_ID)
    assert given(app, "layer")["start"] == 1
    card = cards(app)["order"]
    assert (card["current"], card["verdict"], card["question"]) == (True, "The model is fooled", "")
    assert card["says"].startswith("A fair guess")
    assert given(app, "guesses")["title"] == "Guess first · you 0, the model 0, out of 1"
    app = guess(app.run(), {"key": "bank", "option": 1})
    assert cards(app)["bank"]["says"].startswith("You saw it coming.")
    assert given(app, "guesses")["title"] == "Guess first · you 1, the model 1, out of 2"
    assert given(app, "layer")["start"] == 2
    assert given(app.run(), "layer")["start"] == 0  # it plays once
    app = guess(app, {"key": "order", "option": None})  # to look again
    assert given(app, "guesses")["title"] == "Guess first · you 1, the model 1, out of 2"


def test_an_answer_can_be_seen_without_a_guess() -> None:
    app = guess(home(), {"key": "bat", "option": None})
    assert cards(app)["bat"]["verdict"] == "The model is fooled"
    assert cards(app)["python"]["verdict"] == "The model gets it"  # whose answer was on the page
    assert given(app, "guesses")["title"] == "Guess first"


@pytest.mark.parametrize(
    "sent",
    [
        *("bank", None, 1, {"key": "nothing"}, {"key": ""}, {"key": ["bank"]}, {"option": 0}),
        *({"key": "bank", "option": option} for option in (2, -1, True, "0", [0])),
    ],
)
def test_what_no_card_can_send_changes_nothing(sent: Any) -> None:
    app = guess(home(), sent)
    assert not app.exception
    assert shown_view(app) == DEFAULT


def test_presented_there_are_no_cards() -> None:
    app = home(PRESENT.put(DEFAULT, True))
    assert not app.exception
    assert given(app, PICTURE)["rows"]
    with pytest.raises(StopIteration):
        cards(app)


@pytest.mark.parametrize("model", ["no/such-model", "<b>not a model!</b>"])
def test_a_model_that_cannot_be_had_leaves_the_rest_of_the_page(model: str) -> None:
    app = home(replace(DEFAULT, model=model))
    assert not app.exception
    assert len(app.error) == 1
    assert say("home.intro") in [caption.value for caption in app.caption]
    assert "bank" in cards(app, "guesses_waiting")
    app = arrived(field(app.selectbox, "model").set_value(BUNDLED_ID).run())
    assert not app.error
    assert given(app, PICTURE)["rows"]


def test_where_the_bundled_model_is_not_allowed_the_first_one_that_is_opens(
    tiny_root: Path, tmp_path: Path
) -> None:
    with app_settings(
        DATA_DIR=str(tmp_path),
        MODEL_FOLDERS=str(tiny_root),
        MODELS="folder:bert,folder:roberta",
    ):
        app = home()
        assert not app.exception
        assert not app.error
        assert field(app.selectbox, "model").value == "folder:bert"
        assert given(app, PICTURE)["rows"]
        assert shown_view(guess(app, {"key": "bank", "option": 0})).model == "folder:bert"
