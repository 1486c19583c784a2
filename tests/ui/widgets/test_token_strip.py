"""The data that the strip of tokens gets, and what it may send back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from contextlens.analysis.tokens import lost_spans
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens
from contextlens.core.words import split_words
from contextlens.ui.widgets import token_strip
from contextlens.ui.widgets.chips import visible
from tests.support.pages import send, send_pick
from tests.support.tiny_models import TYPICAL

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
by_family = pytest.mark.parametrize("family", TYPICAL)


def covered(tokens: Tokens, which: int, text: str) -> list[set[int]]:
    """For each character, the tokens whose offsets cover it: brute force."""
    owners: list[set[int]] = [set() for _ in text]
    for i in range(tokens.n_tokens):
        if tokens.text_ids[i] == which:
            for place in range(*tokens.offsets[i].tolist()):
                owners[place].add(i)
    return owners


@by_family
@settings(deadline=None)
@given(text=texts, pair=texts, n=st.integers(6, 40))
def test_segments_are_the_whole_text_and_each_tokens_cover_its_offsets(
    tiny_service: EncoderService, family: str, text: str, pair: str, n: int
) -> None:
    tokens = tiny_service.tokenize(f"folder:{family}", [text], pairs=[pair], max_length=n)[0]
    word = next(iter(split_words(text)), None)
    shown = token_strip._texts(tokens, "sentence A", word)
    assert [each["name"] for each in shown] == [
        "sentence A, first text",
        "sentence A, second text",
    ]
    for which, (own, each) in enumerate(zip((text, pair), shown, strict=True)):
        assert "".join(segment["text"] for segment in each["segments"]) == visible(own)
        by_character = [s for s in each["segments"] for _ in s["text"]]
        assert [set(s["tokens"]) for s in by_character] == covered(tokens, which, own)
        lost = lost_spans(tokens)[which]
        start = len(own) if lost is None else lost[0]
        assert [s["lost"] for s in by_character] == [i >= start for i in range(len(own))]
        chosen = range(*word) if word and which == 0 else range(0)
        assert [s["chosen"] for s in by_character] == [i in chosen for i in range(len(own))]
        assert all(segment["text"] for segment in each["segments"])


@by_family
@settings(deadline=None)
@given(text=texts)
def test_tokens_are_plain_values_that_json_and_utf8_can_hold(
    tiny_service: EncoderService, family: str, text: str
) -> None:
    model = f"folder:{family}"
    bare, most = tiny_service.tokenize(model, [text])[0], tiny_service.load(model).max_length
    tokens = tiny_service.tokenize(model, [text], pad_to=min(bare.n_tokens + 3, most))[0]
    words = split_words(text)
    args = tokens, tiny_service.vocabulary(model), words[0] if words else None, {}
    shown = token_strip._tokens(*args, special=True)
    assert json.loads(json.dumps(shown)) == shown
    json.dumps(shown, ensure_ascii=False).encode()
    assert [token["position"] for token in shown] == list(range(tokens.n_tokens))
    assert [token["id"] for token in shown] == tokens.token_ids.tolist()
    assert all(token["says"] for token in shown)
    own = token_strip._tokens(*args, special=False)
    assert own == [token for token in shown if token["kind"] not in ("special", "padding")]


def test_what_a_token_says(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["A python's 🐍 [MASK]"], pad_to=12)[0]
    vocabulary = service.vocabulary(BUNDLED_ID)
    shown = token_strip._tokens(tokens, vocabulary, None, {5: "No snakes."}, special=True)
    assert [token["says"] for token in shown[:8]] == [
        "added by the tokenizer",
        "character 1",
        "characters 3 to 8",
        "character 9, continues the word",
        "character 10, continues the word",
        "character 12: unknown. No snakes.",
        "typed, and read as the special token",
        "added by the tokenizer",
    ]
    assert shown[-1]["says"] == "padding: the mask hides it"


def test_marks_are_told_from_the_rest(tiny_service: EncoderService) -> None:
    def marks(family: str, text: str) -> list[tuple[str, str]]:
        tokens = tiny_service.tokenize(f"folder:{family}", [text])[0]
        vocabulary = tiny_service.vocabulary(f"folder:{family}")
        shown = token_strip._tokens(tokens, vocabulary, None, {}, special=False)
        return [(token["mark"], token["text"]) for token in shown]

    assert marks("bert", "pets")[:2] == [("", "p"), ("##", "ets")]
    assert marks("bert", "##") == [("", "#"), ("", "#")]
    assert marks("albert", "the x") == [("▁", "the"), ("", "▁"), ("", "x")]


def test_tokens_that_share_a_character_say_so(tiny_service: EncoderService) -> None:
    tokens = tiny_service.tokenize("folder:roberta", ["aé"])[0]
    vocabulary = tiny_service.vocabulary("folder:roberta")
    shown = token_strip._tokens(tokens, vocabulary, None, {}, special=False)
    assert [token["text"] for token in shown] == ["a", "é", "é"]
    assert "character 2 (one of 2 tokens for it)" in shown[1]["says"]
    assert "one of" not in shown[0]["says"]


def test_only_the_tokens_of_the_chosen_word_are_chosen(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["my nanorobot"], pairs=["my nanorobot"])[0]
    args = tokens, service.vocabulary(BUNDLED_ID), (3, 12), {}
    shown = token_strip._tokens(*args, special=True)
    chosen = [token["mark"] + token["text"] for token in shown if token["chosen"]]
    assert chosen == list(tokens.tokens[2 : 2 + len(chosen)])
    assert "".join(chosen).replace("##", "") == "nanorobot"


# In a script


def script() -> None:
    import streamlit as st

    from contextlens.core import BUNDLED_ID, Settings, open_service
    from contextlens.ui.widgets.token_strip import token_strip

    service = open_service(Settings(allow_downloads=False))
    tokens = service.tokenize(BUNDLED_ID, ["nul\x00 a🐍b"])[0]

    def keep(position: int) -> None:
        st.session_state["kept"] = position

    vocabulary = service.vocabulary(BUNDLED_ID)
    token_strip(tokens, vocabulary, key="strip", name="A", color="#0072B2", on_pick=keep)
    token_strip(tokens, vocabulary, key="quiet", name="A", color="#0072B2")
    st.text(str(st.session_state.get("kept")))


@pytest.fixture(scope="module")
def app() -> AppTest:
    return AppTest.from_function(script, default_timeout=300).run()


def picked(app: AppTest, value: object, key: str = "strip") -> str:
    """Python's value after the browser sent one."""
    app = send(app, key, value)
    assert not app.exception
    return app.text[0].value


def test_the_component_gets_its_data(app: AppTest) -> None:
    assert not app.exception
    strip, quiet = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    assert "".join(s["text"] for s in strip["texts"][0]["segments"]) == "nul␀ a🐍b"
    assert strip["pickable"]
    assert not quiet["pickable"]
    assert strip["tokens"] == quiet["tokens"]


def test_other_picks_are_ignored() -> None:
    app = AppTest.from_function(script, default_timeout=300).run()
    for value in (-1, 99, 1.0, "1", True, None, [1], {"row": 0}, 10**20):
        assert picked(app, value) == "None", value
    send_pick(app, "strip", row=0)  # of another kind of component
    assert not app.exception
    assert app.text[0].value == "None"


def test_a_pick_reaches_the_callback(app: AppTest) -> None:
    assert picked(app, 1) == "1"
    assert picked(app, 0) == "0"
    assert picked(app, 1, key="quiet") == "0"
