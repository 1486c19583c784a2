"""Start here, headless: words that part, what that means, and examples that run in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.state.address import decode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState, from_example
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.hub_server import hub_server
from tests.support.pages import (
    alone,
    app_data,
    app_settings,
    arrived,
    bundled_app,
    chart,
    everything_said,
    finish_background_work,
    framed,
    given,
    messages,
    pick,
    reading,
    said,
    send,
    sentence,
    shown_view,
    type_in,
    typed,
    view_of,
)
from tests.support.tiny_models import build

ROOT = Path(__file__).parents[3]
PICTURE = "home_parting"


def home(view: ViewState | str = DEFAULT) -> Any:
    return framed(view, page="home")


def links(app: Any) -> dict[str, Any]:
    """The links of the page itself, by what they say."""
    return {link.proto.label: link.proto for link in app.main.get("page_link")}


def answers(app: Any) -> dict[str, str]:
    """The answer to each question."""
    said = [markdown.value for markdown in app.main.markdown]
    found = [re.match(r"\*\*([^*]+\?)\*\* (.*)", text) for text in said]
    return {match[1]: match[2] for match in found if match}


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
    assert said(app, "headline") == "A: the animal. B: the language."
    reasons = answers(app)
    assert list(reasons) == ["Why?"]
    assert "The surrounding words cause the whole difference" in reasons["Why?"]
    assert everything_said(app).count("one processing step of the model") == 1


def test_it_is_the_first_page_that_a_visitor_sees() -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=300).run()
    assert not app.exception
    assert app.title[0].value == "Start here"


def test_play_shows_each_layer_s_own_gap_and_title(service: EncoderService) -> None:
    drawn = chart(home(), PICTURE)
    cosines = expected(service, DEFAULT)[0][:-1]
    assert [frame["name"] for frame in drawn["frames"]] == [str(n) for n in range(7)]
    for frame, cosine in zip(drawn["frames"], cosines, strict=True):
        first, second = frame["data"][2]["y"]
        assert (first, second) == pytest.approx((0, 1 - cosine), abs=1e-5)
        title = frame["layout"]["title"]["text"]
        gap = f"Similarity (cosine) {cosine:.2f}"
        layer = frame["name"]
        assert title == f"{'Same vector' if cosine > 0.99999 else gap} at layer {layer}"


def test_one_sentence_is_drawn_with_its_references() -> None:
    app = home(replace(DEFAULT, sentences=DEFAULT.sentences[:1]))
    assert not app.exception
    with pytest.raises(ValueError, match="not enough"):
        said(app, "headline")
    assert "“python” in A and “snake”" in reading(app)
    assert [len(frame["data"][3]["y"]) for frame in chart(app, PICTURE)["frames"]] == [3] * 7


def test_a_word_chosen_here_is_chosen_on_the_page_it_leads_to() -> None:
    app = pick(home(), "pet")
    assert shown_view(app).sentences[0] == sentence("I love my pet python", "pet")
    assert not any(card["current"] for card in cards(app).values())
    assert said(app, "headline") != "A: the animal. B: the language."
    link = links(app)["See all numbers for these sentences"]
    assert link.page == "meaning"
    assert target(link) == shown_view(app)


def test_new_sentences_share_a_word_and_references_leave_with_the_last_old_one() -> None:
    app = type_in(home(), "The grassy bank of a river")
    assert shown_view(app).sentences[0].word is None
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
    assert said(app, "headline").startswith("The number alone cannot decide")
    app = field(app.text_input, "home_meaning_0").set_value("street").run()
    app = field(app.text_input, "home_meaning_1").set_value("success").run()
    assert shown_view(app).references == (Sentence("street"), Sentence("success"))
    assert said(app, "headline") == "A is closer to “street”, B to “success”."


def test_sentences_without_chosen_words_say_what_is_needed() -> None:
    app = home(ViewState(BUNDLED_ID, (Sentence("one"), Sentence("two"))))
    assert not app.exception
    assert any(said.startswith("To compare, choose a word") for said in messages(app))
    assert "See all numbers for these sentences" in links(app)


def pick_card(app: Any, sent: object) -> Any:
    """The page after a click on a card."""
    return send(app, "gallery", sent)


def cards(app: Any, key: str = "gallery") -> dict[str, dict[str, Any]]:
    """The cards of the gallery, by the key of their examples."""
    return {card["key"]: card for card in given(app, key)["cards"]}


HERE = [example for example in EXAMPLES if example.model is None]


def test_each_example_has_its_card_and_the_one_on_the_page_is_marked() -> None:
    app = home()
    shown = cards(app)
    assert list(shown) == [example.key for example in HERE]  # one needs a download: none is allowed
    for example in HERE:
        card = shown[example.key]
        assert (card["title"], card["question"]) == (example.title, example.question)
        assert card["picture"].startswith("data:image/svg")
        assert not card["download"]
    assert [key for key, card in shown.items() if card["current"]] == ["python"]


def test_a_click_runs_an_example_in_place_and_marks_its_card(service: EncoderService) -> None:
    app = home(replace(DEFAULT, layer=2))
    for example in HERE[::-1]:
        app = pick_card(app, example.key)
        assert not app.exception
        view = from_example(example, BUNDLED_ID)
        assert shown_view(app) == view
        assert app.title[0].value == "Start here"
        assert [key for key, card in cards(app).items() if card["current"]] == [example.key]
        drawn = chart(app, PICTURE)["frames"][-1]["data"][len(view.sentences)]["y"]
        assert drawn[1] == pytest.approx(1 - expected(service, view)[0][-2], abs=1e-5)
    assert "s" not in app.query_params  # the first example is the opening view
    app = pick_card(app, "bank")
    assert said(app, "headline") == "A: the river bank. B and C: the money bank."
    assert list(answers(app)) == ["A and B: why?"]


@pytest.mark.parametrize("sent", ["nothing", "case", "", None, 1, ["bank"], {"key": "bank"}])
def test_a_pick_that_is_no_card_changes_nothing(sent: Any) -> None:
    app = pick_card(home(), sent)
    assert not app.exception
    assert shown_view(app) == DEFAULT


@pytest.mark.slow
def test_the_example_about_capitals_offers_its_model_and_runs_when_that_is_there(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = next(each for each in EXAMPLES if each.model)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with (
        hub_server({example.model: build("bert", tmp_path / "cased")}) as server,
        app_settings(DATA_DIR=str(app_data(tmp_path_factory)), HUB_ENDPOINT=server.endpoint),
    ):
        app = home()
        assert cards(app)[example.key]["download"] == "Get bert-base-cased (436 MB)"
        assert not cards(app)[example.key]["picture"]
        assert not server.requests
        app = arrived(pick_card(app, example.key))
        finish_background_work()
        app = app.run()
        assert not app.exception
        assert not app.error
        assert server.requests
        assert shown_view(app) == from_example(example)
        assert chart(app, PICTURE)["frames"]
        assert cards(app)[example.key]["picture"]
        assert cards(app)[example.key]["current"]
        assert not cards(app)[example.key]["download"]


@pytest.mark.parametrize("model", ["no/such-model", "<b>not a model!</b>"])
def test_a_model_that_cannot_be_had_leaves_the_rest_of_the_page(model: str) -> None:
    app = home(replace(DEFAULT, model=model))
    assert not app.exception
    assert len(app.error) == 1
    assert say("home.intro") in [caption.value for caption in app.caption]
    assert "bank" in cards(app, "gallery_waiting")
    app = arrived(field(app.selectbox, "model").set_value(BUNDLED_ID).run())
    assert not app.error
    assert chart(app, PICTURE)["frames"]


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
        assert chart(app, PICTURE)["frames"]
        assert shown_view(pick_card(app, "bank")).model == "folder:bert"
