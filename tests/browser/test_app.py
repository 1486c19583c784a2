"""The real app as its readers use it: first visits, choosing, history, any text, downloads."""

from __future__ import annotations

import csv
import io
import json
import random
import string
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from components.content.examples import EXAMPLES
from components.core import EncoderService
from components.core.registry import BUNDLED_ID
from components.ui.state.address import MAX_ADDRESS, encode, to_json
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.browser import HOSTILE

if TYPE_CHECKING:
    from tests.support.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)
OPENING = ["python, word 5 of sentence A", "python, word 5 of sentence B"]


@pytest.fixture
def similarity(visit: Callable[..., Visit]) -> Visit:
    return visit("/meaning")


def address_of(view: ViewState) -> str:
    return "/meaning?" + urlencode({"s": encode(view)})


def with_texts(*texts: str, references: Sequence[str] = ()) -> ViewState:
    """A view on texts, the first word of each chosen."""
    sentences = tuple(Sentence(text, word=(0, len(text.split()[0]))) for text in texts)
    return replace(DEFAULT, sentences=sentences, references=tuple(map(Sentence, references)))


def table_of(data: bytes) -> dict[tuple[str, str], list[float]]:
    """The downloaded rows: (first, second) to the cosines at each layer and without context."""
    lines = data.decode("utf-8-sig").splitlines(keepends=True)
    _, *rows = csv.reader(line for line in lines if not line.startswith("# "))
    return {(a, b): [float(value) for value in values if value] for a, b, *values in rows}


def passport_of(data: bytes) -> dict[str, object]:
    lines = data.decode("utf-8-sig").splitlines()
    pairs = (line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# "))
    return {key: json.loads(value) for key, value in pairs}


def cosines(
    service: EncoderService, words: dict[str, tuple[str, int, int]], pooling: str = "mean"
) -> dict[tuple[str, str], list[float]]:
    """What the table must say, from the service's numbers alone."""
    take = {"mean": lambda v: v.mean(-2), "first": lambda v: v[..., 0, :]}[pooling]
    vectors = {}
    for name, (text, start, end) in words.items():
        encoding = service.encode(BUNDLED_ID, [text])[0]
        at = [i for i, (a, b) in enumerate(encoding.offsets) if a < end and b > start]
        table = service.word_rows(BUNDLED_ID, encoding.token_ids[at])
        vectors[name] = [*take(encoding.hidden[:, at].astype(float)), take(table.astype(float))]
    return {
        (a, b): [
            float(u @ v / np.sqrt(u @ u) / np.sqrt(v @ v))
            for u, v in zip(vectors[a], vectors[b], strict=True)
        ]
        for a, b in combinations(words, 2)
    }


def assert_agrees(
    found: dict[tuple[str, str], list[float]], expected: dict[tuple[str, str], list[float]]
) -> None:
    for pair, values in expected.items():
        np.testing.assert_allclose(found[pair], values, atol=2e-5, err_msg=" ~ ".join(pair))


# First visits


def test_a_first_visit_shows_a_live_miniature_and_six_examples(visit: Callable) -> None:
    here = visit("/")
    expect(here.main.get_by_role("heading", level=1)).to_have_text("Start here")
    assert here.chosen[:2] == OPENING
    expect(here.figure).to_be_visible()
    assert "“python” in A" in here.reading
    for example in EXAMPLES:
        kind = "button" if example.model else "link"
        expect(here.main.get_by_role(kind, name=example.title, exact=True)).to_be_visible()
        expect(here.main.get_by_text(example.question)).to_be_visible()


def test_the_miniature_is_live(visit: Callable) -> None:
    here = visit("/")
    before = here.reading
    here.pick("sentence A", "pet")
    assert "“pet” in A" in here.reading
    assert here.reading != before


def test_an_example_opens_meaning_in_context_on_itself(visit: Callable) -> None:
    here = visit("/")
    here.main.get_by_role("link", name="Bank, river or money").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    bank = next(example for example in EXAMPLES if example.key == "bank")
    assert here.rows == [s.text for s in (*bank.sentences, *bank.references)]
    assert [c.split(",")[0] for c in here.chosen] == ["bank", "bank", "bank", "river", "money"]
    assert "/meaning?s=" in here.page.url


def test_an_example_that_needs_another_model_says_so(visit: Callable) -> None:
    here = visit("/")
    cased = next(example for example in EXAMPLES if example.model)
    button = here.main.get_by_role("button", name=cased.title)
    expect(button).to_be_disabled()
    button.locator("..").hover()
    expect(here.page.get_by_role("tooltip")).to_contain_text(cased.model)


def test_the_first_request_to_a_fresh_server_shows_the_frame_on_any_page(
    visit: Callable, run_app: Callable[..., str], app_settings: dict[str, str]
) -> None:
    fresh = run_app("app.py", {**app_settings, "CONTEXTLENS_CACHE_MB": "100"})
    here = visit("/meaning", address=fresh)
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    for name in ("Start here", "Meaning in context"):
        expect(here.side.get_by_role("link", name=name)).to_be_visible()
    expect(here.side.get_by_role("textbox", name="Sentence A")).to_have_value(A)
    expect(here.figure).to_be_visible()
    assert here.chosen[:2] == OPENING


# Choosing words


def test_a_click_changes_the_word_the_address_and_the_reading(similarity: Visit) -> None:
    here = similarity
    before = here.page.url, here.reading
    here.pick("sentence A", "pet")
    assert here.chosen[:2] == ["pet, word 4 of sentence A", OPENING[1]]
    assert here.page.url != before[0]
    assert here.reading != before[1]
    assert "“pet” in A" in here.reading


def test_the_keyboard_alone_changes_the_word_the_address_and_the_reading(
    similarity: Visit,
) -> None:
    here, keyboard = similarity, similarity.page.keyboard
    before = here.page.url
    for _ in range(60):
        keyboard.press("Tab")
        if here.words("sentence A").last.evaluate("word => word.matches(':focus-visible')"):
            break
    else:
        pytest.fail("Tab never came to the words of sentence A")
    keyboard.press("ArrowLeft")
    with here.rerun():
        keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.press("Home")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    with here.rerun():
        keyboard.press("Space")
    assert here.chosen[:2] == ["pet, word 4 of sentence A", "coding, word 3 of sentence B"]
    assert here.page.url != before
    assert "“pet” in A and “coding” in B" in here.reading


def test_the_numbers_are_the_services_own(similarity: Visit, service: EncoderService) -> None:
    a, b = A.index("python"), B.index("python")
    expected = cosines(
        service,
        {
            "A python": (A, a, a + 6),
            "B python": (B, b, b + 6),
            "snake": ("snake", 0, 5),
            "programming": ("programming", 0, 11),
        },
    )
    del expected["snake", "programming"]
    found = table_of(similarity.download("CSV"))
    assert_agrees(found, expected)
    random_pairs = [values for (name, _), values in found.items() if name == "random pairs"]
    assert len(found) == len(expected) + len(random_pairs)
    mean, low, high = map(np.array, random_pairs)
    assert ((low < mean) & (mean < high)).all()
    last = expected["A python", "B python"][6]
    assert f"{last:.2f}" in similarity.reading


def test_any_occurrence_and_words_of_several_sub_tokens(
    visit: Callable, service: EncoderService
) -> None:
    text, other = "The python ate a python", "We like tokenization a lot"
    here = visit(address_of(with_texts(text, other)))
    here.pick("sentence A", "python", 1)
    here.pick("sentence B", "tokenization")
    assert here.chosen == ["python, word 5 of sentence A", "tokenization, word 3 of sentence B"]
    first, second = (text.index("python", at) for at in (0, 5))
    at = other.index("tokenization")
    tokens = service.tokenize(BUNDLED_ID, [other])[0].tokens
    assert [token for token in tokens if "token" in token or "##" in token] == [
        "token",
        "##ization",
    ]
    for start, pooling in ((second, "mean"), (second, "first"), (first, "first")):
        if pooling == "first" and start == second:
            here.option("first")
        if start == first:
            here.pick("sentence A", "python", 0)
        words = {
            "A python": (text, start, start + 6),
            "B tokenization": (other, at, at + len("tokenization")),
        }
        assert_agrees(table_of(here.download("CSV")), cosines(service, words, pooling))


def test_a_reference_is_its_whole_text_or_a_word_of_it(
    visit: Callable, service: EncoderService
) -> None:
    phrase, a = "a big snake", A.index("python")
    here = visit(address_of(replace(DEFAULT, references=(Sentence(phrase),))))

    def compared() -> dict[tuple[str, str], list[float]]:
        return table_of(here.download("CSV"))

    whole = cosines(service, {"A python": (A, a, a + 6), phrase: (phrase, 0, len(phrase))})
    word = cosines(service, {"A python": (A, a, a + 6), "snake": (phrase, 6, len(phrase))})
    assert_agrees(compared(), whole)
    here.pick("reference 1", "snake")
    assert_agrees(compared(), word)
    here.pick("reference 1", "snake")  # again: no word, so the whole text
    assert_agrees(compared(), whole)


# History and addresses


def test_back_forward_and_reload_restore_the_view(similarity: Visit) -> None:
    here = similarity

    def seen() -> tuple[object, ...]:
        return here.rows, here.chosen, here.layer, here.title, here.reading

    steps = [seen()]
    actions: list[Callable[[], object]] = [
        lambda: here.pick("sentence A", "pet"),
        lambda: here.to_layer(5),
        lambda: here.option("Sentences"),
        lambda: here.type("Sentence B", "We like coding in a new python"),
        lambda: here.add("Two words"),
    ]
    begun = here.page.evaluate("history.length")
    for act in actions:
        act()
        steps.append(seen())
    assert here.page.evaluate("history.length") == begun + 6  # one each, two of the last
    for back, expected in zip((2, 1, 1, 1, 1), steps[-2::-1], strict=True):
        here.back(back)
        assert seen() == expected
    for expected in steps[1:4]:
        here.forward()
        assert seen() == expected
    here.reload()
    assert seen() == steps[3]
    expect(here.menu("Options").get_by_role("radio", name="Sentences")).to_be_checked()
    here.leave_menu()
    here.forward()
    assert seen() == steps[4]


def test_menus_opened_later_show_the_view_and_change_only_what_is_changed(
    similarity: Visit,
) -> None:
    here = similarity
    here.pick("sentence A", "pet")
    here.pick("sentence B", "coding")
    edit = here.menu("Edit").get_by_role("textbox")
    assert [box.input_value() for box in edit.all()] == [A, B]
    here.type("Sentence A", "Our pet python", within=here.page.get_by_role("dialog"))
    here.click("Add a sentence", within=here.page.get_by_role("dialog"))
    here.leave_menu()
    assert here.rows == ["Our pet python", B, "empty", "snake", "programming"]
    references = here.menu("References").get_by_role("textbox")
    assert [box.input_value() for box in references.all()] == ["snake", "programming"]
    here.leave_menu()
    options = here.menu("Options")
    for name in ("mean", "All"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()
    here.leave_menu()
    here.option("Sentences")
    address = here.page.url
    here.reload()
    assert here.rows == ["Our pet python", B, "empty", "snake", "programming"]
    assert here.page.url == address
    options = here.menu("Options")
    for name in ("mean", "Sentences"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()


def test_back_pressed_quickly_goes_back_each_time(similarity: Visit) -> None:
    here = similarity
    for text in ("one python", "two python", "three python"):
        here.type("Sentence A", text)
    slow = here.page.context.new_cdp_session(here.page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 20})
    here.page.evaluate("for (const wait of [0, 120, 240]) setTimeout(() => history.back(), wait)")
    here.page.wait_for_timeout(4000)  # a phone is still busy drawing the first step by then
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    expect(here.words("sentence A").first).to_have_text("I")
    here.wait()
    assert here.page.url.endswith("/meaning")
    assert here.rows[0] == A
    expect(here.side.get_by_role("textbox", name="Sentence A")).to_have_value(A)


def test_the_menu_keeps_the_view(similarity: Visit) -> None:
    here = similarity
    here.type("Sentence A", "My python sleeps all day")
    here.pick("sentence B", "coding")
    here.to_layer(4)
    before = here.rows, here.chosen
    here.side.get_by_role("link", name="Start here").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    assert (here.rows, here.chosen) == before
    here.main.get_by_role("link", name="Open in Meaning in context").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    assert (here.rows, here.chosen) == before
    assert here.layer == 4
    here.page.go_back()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    assert (here.rows, here.chosen) == before


def test_a_copied_address_shows_another_reader_the_same(visit: Callable) -> None:
    here = visit("/meaning")
    here.type("Sentence A", "Naïve 🐍 & “python” + 100%")
    here.pick("sentence B", "love")
    here.to_layer(3)
    here.option("last")
    here.option("References")
    here.option("Centred cosine")
    address = here.link()
    assert address == here.page.url
    other = visit(address)
    assert other.rows == here.rows
    assert other.chosen == here.chosen
    assert other.layer == 3
    assert (other.title, other.reading) == (here.title, here.reading)
    assert other.download("CSV") == here.download("CSV")
    options = other.menu("Options")
    for name in ("last", "References"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()
    expect(options.get_by_role("switch")).to_be_checked()


def test_reset_gives_the_opening_example(visit: Callable) -> None:
    here = visit(address_of(with_texts("Something else", "entirely", "here")))
    here.to_layer(2)
    here.option("Sentences")
    here.click("Reset", within=here.side)
    assert here.rows == [A, B, "snake", "programming"]
    assert here.chosen[:2] == OPENING
    assert here.layer == 6
    assert here.side.get_by_role("textbox").count() == 2
    expect(here.menu("Options").get_by_role("radio", name="All")).to_be_checked()


def test_a_broken_address_gives_the_defaults_and_a_notice(visit: Callable) -> None:
    here = visit("/")
    for given in ("garbage", "1AAAA", "1" + "A" * 19_999):
        here.goto(f"/meaning?s={given}")
        assert here.rows == [A, B, "snake", "programming"]
        notice = here.main.get_by_test_id("stAlert")
        expect(notice).to_contain_text("You see the opening example instead")
        here.pick("sentence A", "pet")
        assert here.chosen[:2] == ["pet, word 4 of sentence A", OPENING[1]]
        assert f"s={given}" not in here.page.url
        expect(notice).to_have_count(0)


# Any text


def test_a_new_sentence_is_typed_and_its_word_chosen(similarity: Visit) -> None:
    here = similarity
    here.click("Add a sentence", within=here.side)
    assert here.rows[2] == "empty"
    here.type("Sentence C", "The snake bit me")
    expect(here.main.get_by_text("Choose a word of this sentence")).to_be_visible()
    here.pick("sentence C", "snake")
    assert here.chosen[2] == "snake, word 2 of sentence C"
    expect(here.main.get_by_text("Choose a word of this sentence")).to_have_count(0)
    assert ("B python", "C snake") in table_of(here.download("CSV"))
    here.type("Sentence C", "Yesterday the snake bit me")  # the word moves along
    assert here.chosen[2] == "snake, word 3 of sentence C"


def test_eight_sentences_are_all_there_is_room_for(similarity: Visit) -> None:
    here = similarity
    for i in range(3, 9):
        expect(here.side.get_by_role("button", name="Add a sentence")).to_be_enabled()
        here.add(f"The python number {i}")
    expect(here.side.get_by_role("button", name="Add a sentence")).to_be_disabled()
    assert [c.split(",")[0] for c in here.chosen] == ["python"] * 8 + ["snake", "programming"]
    found = table_of(here.download("CSV"))
    assert len(found) == 8 * 7 // 2 + 8 * 2 + 3
    here.take_away(7)
    expect(here.side.get_by_role("button", name="Add a sentence")).to_be_enabled()
    assert here.rows[6:8] == ["The python number 7", "snake"]


def test_empty_sentences_are_said_and_the_rest_goes_on(similarity: Visit) -> None:
    here = similarity
    here.type("Sentence A", "")
    assert here.rows[0] == "empty"
    expect(here.main.get_by_text("This sentence is empty")).to_have_count(1)
    assert "“python” in B" in here.reading
    here.type("Sentence B", "   ")
    expect(here.main.get_by_text("This sentence is empty")).to_have_count(2)
    expect(here.main.get_by_text("Two words are needed for a comparison")).to_be_visible()
    expect(here.figure).to_have_count(0)
    here.type("Sentence A", A)
    here.pick("sentence A", "python")
    assert "“python” in A" in here.reading


def test_emoji_right_to_left_and_marks_are_compared(
    visit: Callable, service: EncoderService
) -> None:
    texts = [
        "👩‍👩‍👧 𝒳 loves 🐍 python",
        "אני אוהב את הפייתון שלי",
        "*My* `python` [MASK] $x$ :snake:",
        "=1+1 python",
    ]
    here = visit("/meaning")
    here.type("Sentence A", texts[0])
    here.type("Sentence B", texts[1])
    here.add(texts[2])
    here.add(texts[3])
    assert here.rows[:4] == texts
    here.pick("sentence A", "🐍")
    here.pick("sentence B", "הפייתון")
    here.pick("sentence C", "MASK")
    here.pick("sentence D", "=")
    names = ["🐍", "הפייתון", "MASK", "="]
    assert [c.split(",")[0] for c in here.chosen[:4]] == names
    words = {
        f"{label} {name}": (text, text.index(name), text.index(name) + len(name))
        for label, name, text in zip("ABCD", names, texts, strict=True)
    }
    assert_agrees(table_of(here.download("CSV")), cosines(service, words))
    assert here.link() == here.page.url
    here.reload()
    assert here.rows[:4] == texts


def test_html_is_text_everywhere(similarity: Visit) -> None:
    here = similarity
    here.type("Sentence A", HOSTILE)
    here.pick("sentence A", "script")
    references = here.menu("References")
    here.type("Reference 1", HOSTILE, within=references)
    here.leave_menu()
    assert here.rows[0] == here.rows[2] == HOSTILE
    assert "“script” in A" in here.reading
    assert "“<img src=x onerror=aler…”" in here.reading
    labels = here.main.locator(".annotation-text").all_text_contents()
    assert any("A ~ <img src=x" in label for label in labels)
    for figure in here.main.get_by_role("figure").all()[:2]:
        area = figure.locator(".nsewdrag").first.bounding_box()
        assert area is not None
        for x in range(10, int(area["width"]), 60):
            for y in range(10, int(area["height"]), 60):
                here.page.mouse.move(area["x"] + x, area["y"] + y)
    here.page.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + area["height"] * 0.6)
    expect(here.main.locator(".hovertext")).to_contain_text("<img src=x")
    for tab in ("Under the hood", "Without context", "Numbers"):
        here.main.get_by_role("tab", name=tab).click()
    here.menu("Copy link")
    assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
    assert here.main.locator("b", has_text="python").count() == 0


def test_half_characters_and_nul_are_shown_and_compared(similarity: Visit) -> None:
    here = similarity
    texts = '[["half \\ud83d python",null,[7,13]],["nul\\u0000byte python",null,[9,15]]]'
    here.open_file(f'{{"m":"{BUNDLED_ID}","s":{texts},"r":[]}}'.encode())
    expect(here.words("sentence B").last).to_have_text("python")
    assert here.rows == ["half \ufffd python", "nul␀byte python"]
    assert [c.split(",")[0] for c in here.chosen] == ["python", "python"]
    assert ("A python", "B python") in table_of(here.download("CSV"))
    here.reload()
    assert here.rows == ["half \ufffd python", "nul␀byte python"]


def test_600_tokens_are_cut_and_said(similarity: Visit) -> None:
    here = similarity
    text = " ".join(["python"] * 600)
    here.type("Sentence A", text)
    expect(here.main.get_by_text("its last 90 tokens were left out")).to_be_visible()
    assert "“python” in A" in here.reading
    here.pick("sentence A", "python", 599)
    problem = here.main.get_by_test_id("stAlert")
    expect(problem).to_contain_text("90 tokens were cut off")
    assert here.chosen[0] == "python, word 600 of sentence A"
    expect(here.side.get_by_role("textbox", name="Sentence A")).to_have_value(text)
    here.pick("sentence A", "python", 509)
    expect(problem).to_have_count(0)
    assert ("A python", "B python") in table_of(here.download("CSV"))


def test_nothing_typed_is_lost_where_the_model_fails(visit: Callable) -> None:
    view = with_texts("My own words", "and some more", references=["a thought"])
    here = visit(address_of(replace(view, model="nobody/has-this")))
    expect(here.main.get_by_test_id("stAlert")).to_contain_text("nobody/has-this")
    assert here.rows == ["My own words", "and some more", "a thought"]
    here.type("Sentence B", "and some more of them")
    assert here.rows == ["My own words", "and some more of them", "a thought"]
    here.side.get_by_role("combobox").click()
    with here.rerun():
        here.page.get_by_role("option", name=BUNDLED_ID).click()
    assert here.rows == ["My own words", "and some more of them", "a thought"]
    expect(here.figure).to_be_visible()
    expect(here.main.get_by_test_id("stAlert")).to_have_count(0)


def test_a_view_too_long_for_an_address_travels_as_a_file(visit: Callable) -> None:
    source = random.Random(0)
    texts = [
        " ".join("".join(source.choices(string.ascii_letters, k=9)) for _ in range(500))
        for _ in range(8)
    ]
    here = visit("/meaning")
    here.open_file(to_json(with_texts(*texts[:7])).encode())
    here.add(texts[7])
    with here.rerun():
        here.words("sentence H").first.click()
    assert here.rows == texts
    assert len(here.page.url) < MAX_ADDRESS
    menu = here.menu("Copy link")
    expect(menu).to_contain_text("too long for an address")
    expect(menu.get_by_test_id("stCode")).to_have_count(0)
    with here.page.expect_download() as download:
        menu.get_by_role("button", name="Save the view as a file").click()
    assert download.value.suggested_filename == "contextlens-view.json"
    other = visit("/meaning")
    other.open_file(download.value.path().read_bytes())
    assert other.rows == texts
    assert other.chosen == here.chosen
    other.back()
    assert other.rows == [A, B, "snake", "programming"]


def test_a_file_that_is_no_view_is_refused_in_words(similarity: Visit) -> None:
    here = similarity
    for data in (b"\xff\xfe\x00", b"[1, 2]", b'{"m": 3}'):
        here.open_file(data)
        expect(here.main.get_by_test_id("stAlert")).to_contain_text("not")
        assert here.rows == [A, B, "snake", "programming"]


def test_buttons_say_what_they_take_away(similarity: Visit) -> None:
    for label in "AB":
        name = f"Take sentence {label} away"
        expect(similarity.side.get_by_role("button", name=name)).to_be_visible()


# Downloads


def test_every_download_is_a_file_with_its_passport(
    similarity: Visit, service: EncoderService
) -> None:
    here = similarity
    encoding = service.encode(BUNDLED_ID, [A])[0]
    passport = passport_of(here.download("CSV"))
    assert passport["model"] == BUNDLED_ID
    assert passport["checksum"] == encoding.passport.checksum
    with np.load(io.BytesIO(here.download("NPZ")), allow_pickle=False) as arrays:
        assert json.loads(str(arrays["passport"])) == passport
        assert arrays["vectors"].shape == (4, 7, 384)
        np.testing.assert_allclose(arrays["vectors"][0], encoding.hidden[:, 5], atol=1e-5)
    root = ET.fromstring(here.download("SVG"))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert here.title in texts
    assert any("random pairs" in text for text in texts)
    caption = " ".join(texts)
    assert f"weights {encoding.passport.checksum[:12]}" in caption
    for name, version in encoding.passport.versions.items():
        assert f"{name} {version}" in caption
    png = here.download("PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(png) > 30_000


# A whole visit


def test_a_whole_visit_is_quiet_and_stays_on_this_machine(visit: Callable) -> None:
    here = visit("/")  # what went wrong on the way fails in the fixture
    here.main.get_by_role("link", name="Who bit whom").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    for label in ("first", "References"):
        here.option(label)
    here.option("Centred cosine")
    here.to_layer(1)
    for tab in here.main.get_by_role("tab").all():
        tab.click()
    here.side.get_by_role("button", name="bundled, checked").click()
    expect(here.page.get_by_role("dialog")).to_contain_text("22,713,216")
    here.leave_menu()
    here.side.get_by_role("button", name="Examples").click()
    here.page.get_by_role("dialog").get_by_role("link", name="Good and not good").click()
    here.wait()
    assert here.rows[1] == "The food was not good"
    here.page.keyboard.press("Escape")
    for kind in ("CSV", "NPZ", "SVG", "PNG"):
        assert here.download(kind)
    here.click("Reset", within=here.side)
    here.side.get_by_role("link", name="Start here").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    assert here.page.get_by_test_id("stAlert").count() == 0


def test_two_readers_do_not_meet(visit: Callable) -> None:
    first, second = visit("/meaning"), visit("/meaning")
    first.type("Sentence A", "Only mine")
    first.pick("sentence A", "mine")
    second.pick("sentence B", "coding")
    assert second.rows[0] == A
    assert first.chosen[1] == OPENING[1]
    assert first.rows[0] == "Only mine"
