"""The tokens of a view: every measured fact, any text, any address; in words and as a drawing."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.analysis.tokens import TokenKind, kinds, labels, source, token_rows
from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.schema import Tokens
from contextlens.features.tokens.controls import HIDE, PAD, PICKED, SENTENCE
from contextlens.features.tokens.rewriting import Change
from contextlens.features.tokens.tokenized_sentence import (
    padding_note,
    tokens_claims,
    tokens_snippet,
    tokens_sure,
    tokens_svg,
)
from contextlens.features.tokens.vocabulary_search import look_up
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from contextlens.ui.widgets.unread import unknown_reason
from tests.features.tokens.odd import odd_tokens, tokenize, whole_words, written
from tests.features.tokens.shown import assert_whole, plain, said, shown
from tests.support.claims import read, unreached
from tests.support.snippets import run
from tests.support.texts import AWKWARD, TYPED
from tests.support.tokens import text_view

OTHER_KINDS = [f"folder:{kind}" for kind in ("roberta", "albert", "mpnet", "electra")]
FAMILY_TEXT = "Café 🐍 ½ <mask> [UNK],\tisn't\x00 한"
FACTS = json.loads((Path(__file__).parents[2] / "data" / "bert_facts.json").read_text("utf-8"))


# The facts


@pytest.mark.parametrize("fact", FACTS["tokenization"], ids=lambda fact: fact["text"][:20])
def test_every_measured_fact_is_shown(service: EncoderService, fact: dict[str, Any]) -> None:
    view = text_view(fact["text"])
    view = PAD.put(view, fact["pad_to"]) if "pad_to" in fact else view
    tokenized = assert_whole(view, service)
    table = pd.DataFrame(token_rows(tokenized.tokens, tokenized.vocabulary))
    columns = {"ID": "token_ids", "token": "tokens", "mask": "attention_mask"}
    for column, name in {**columns, "segment": "token_type_ids"}.items():
        assert table[column].tolist() == fact.get(name, table[column].tolist())
    assert [kind == "padding" for kind in tokenized.kinds] == (table["mask"] == 0).tolist()
    if "decoded" in fact:
        assert service.decode(view.model, tokenized.tokens.token_ids) == fact["decoded"]


# The sentence


def test_the_chosen_sentence_is_shown(service: EncoderService) -> None:
    tokenized = assert_whole(DEFAULT, service)
    assert tokenized.labels == ("[CLS]", "i", "love", "my", "pet", "python", "[SEP]")
    assert (tokenized.index, tokenized.picked, tokenized.picked_id) == (0, 5, 18750)
    tokenized = assert_whole(SENTENCE.put(DEFAULT, "B"), service)
    assert (tokenized.index, tokenized.tokens.text) == (1, DEFAULT.sentences[1].text)


def test_a_pair_has_segments_and_is_cut_the_longer_text_first(service: EncoderService) -> None:
    tokenized = assert_whole(text_view("I love my pet python", "It sleeps."), service)
    assert tokenized.tokens.token_type_ids.tolist() == [0] * 7 + [1] * 4
    assert tokenized.title == "I love my pet python / It sleeps."
    tokenized = assert_whole(text_view("one two three four five", "six seven", cut=8), service)
    assert tokenized.labels[1:4] == ("one", "two", "three")
    assert tokenized.labels[5:7] == ("six", "seven")


def test_added_tokens_are_faint_or_hidden(service: EncoderService) -> None:
    view = text_view("I love Paris", pad=9)
    assert [faint for *_, faint in shown(view, service).boxes] == [True] + [False] * 3 + [True] * 5
    hidden = shown(HIDE.put(view, True), service)
    assert [label for label, *_ in hidden.boxes] == ["i", "love", "paris"]


def test_padding_below_the_length_is_not_done(service: EncoderService) -> None:
    tokenized = shown(text_view("I love my pet python", pad=3), service)
    assert (tokenized.pad_to, tokenized.requested_pad, tokenized.tokens.n_tokens) == (None, 3, 7)
    assert "pad_to" not in tokenized.passport.settings


@pytest.mark.parametrize(
    ("word", "token", "picked"),
    [(None, -1, 1), (None, 7, 1), (None, 6, 6), ((14, 20), -1, 5), ((14, 20), 2, 2)],
)
def test_a_token_is_picked_by_the_view_or_the_chosen_word(
    service: EncoderService, word: tuple[int, int] | None, token: int, picked: int
) -> None:
    sentence = Sentence("I love my pet python", None, word)
    view = PICKED.put(ViewState(BUNDLED_ID, (sentence,)), token)
    assert shown(view, service).picked == picked


# Any text, any address, any family


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_shown(service: EncoderService, text: str) -> None:
    tokenized = assert_whole(text_view(text, search=text), service)
    assert tokenized.tokens.text == text
    reaches = tokenized.tokens.text_ids.max() >= 0
    assert ("No token of the text reaches" in said(tokenized)) == (not reaches)


BROKEN: tuple[dict[str, Any], ...] = (
    {"pad": "16", "cut": "8", "token": "3", "sentence": "Z", "kind": "Nouns", "search": 9},
    {"pad": True, "cut": False, "token": 10**9, "sentence": "", "kind": 5.5, "search": True},
    {"pad": -5, "cut": 10**12, "token": -7, "sentence": "AB", "hide": "yes", "unheard of": 1},
    {"pad": 7.5, "sentence": "\U0010ffff", "hide": 1},
)


@pytest.mark.parametrize("controls", BROKEN, ids=range(len(BROKEN)))
def test_broken_settings_from_an_address_are_as_none(
    service: EncoderService, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    tokenized, usual = assert_whole(view, service), shown(DEFAULT, service)
    assert tokenized.boxes == usual.boxes
    assert (tokenized.index, tokenized.picked, tokenized.max_length) == (0, usual.picked, 512)
    ids, usual_ids = (look_up(v, service, usual).ids for v in (view, DEFAULT))
    assert ids == usual_ids


@pytest.mark.parametrize(("controls", "n"), [({"pad": 10**9}, 512), ({"cut": 0}, 3)])
def test_lengths_from_an_address_are_brought_between_their_bounds(
    service: EncoderService, controls: dict[str, Any], n: int
) -> None:
    view = replace(DEFAULT, controls={"tokens": controls})
    assert assert_whole(view, service).tokens.n_tokens == n


@pytest.mark.parametrize("model", OTHER_KINDS)
def test_every_kind_of_tokenizer_is_shown(tiny_service: EncoderService, model: str) -> None:
    tokenized = assert_whole(text_view(FAMILY_TEXT, "second", model=model, pad=60), tiny_service)
    ours = tiny_service.tokenize(model, [FAMILY_TEXT], pairs=["second"], pad_to=60)[0]
    assert [token_id for _, token_id, _ in tokenized.boxes] == ours.token_ids.tolist()


# In words


def assert_tokens(
    claims: list[Claim],
    sure: list[Claim],
    tokens: Tokens,
    own: tuple[TokenKind, ...],
    changes: list[Change],
) -> None:
    """Counts, cut words and all that the model misses are said, once each."""
    by_key = {claim.key.removeprefix("tokens."): claim.numbers for claim in [*claims, *sure]}
    assert len(by_key) == len(claims) + len(sure)
    assert len(claims) <= 3
    n_own, n_added = int((tokens.text_ids >= 0).sum()), own.count("special")
    count = claims[0]
    assert count.key.startswith("tokens.count.")
    assert (count.key == "tokens.count.none") == (n_own == 0)
    if n_own:
        assert ("pair" in count.key) == (tokens.pair is not None)
        assert count.numbers["n"] == n_own + n_added
    if count.key in ("tokens.count.text", "tokens.count.pair"):
        assert (count.numbers["n_own"], count.numbers["n_added"]) == (n_own, n_added)
    words = whole_words(tokens)
    sizes: dict[str, int] = {}
    for word, positions in words.items():
        if len(positions) > 1:
            sizes.setdefault(written(tokens, word), len(positions))
    assert ("cut" in by_key) == bool(sizes)
    if sizes:
        most = max(sizes.values())
        assert (by_key["cut"]["n"], by_key["cut"]["n_pieces"]) == (len(sizes), most)
        assert by_key["cut"]["word"] in [quoted(word) for word, n in sizes.items() if n == most]
    has_words = any(any(map(str.isalnum, written(tokens, word))) for word in words)
    assert ("uncut" in by_key) == (has_words and not sizes and not tokens.n_truncated)
    missing = {"lost": tokens.n_truncated, "unknown.tokens": own.count("unknown")}
    counts = {change.way: change.count for change in changes}
    missing |= {"dropped": counts.get("dropped", 0), "marks": counts.get("accents", 0)}
    for key, n in {**missing, "padding": own.count("padding")}.items():
        assert by_key.get(key, {"n": 0})["n"] == n
    unknown = [quoted(source(tokens, i)) for i, kind in enumerate(own) if kind == "unknown"]
    if unknown:
        assert by_key["unknown.tokens"]["word"] == by_key["unknown.because"]["word"] == unknown[0]


ELSEWHERE = ("vocabulary", "why", "both", "twins", "back", "row")
"""What the closer looks say, and their tests read."""
TABLES = ("column", "kind", "method")


@pytest.mark.slow
def test_every_claim_is_true_of_any_text_and_none_is_dead(tiny_service: EncoderService) -> None:
    keys: set[str] = set()
    for chance, model, tokens, vocabulary in odd_tokens(tiny_service, 2000):
        own, named = kinds(tokens, vocabulary), labels(tokens, vocabulary)
        unknown = [i for i, kind in enumerate(own) if kind == "unknown"]
        normalized = tiny_service.normalize(model, [source(tokens, i) for i in unknown])
        reasons = {
            i: str(unknown_reason(text.strip(), vocabulary))
            for i, text in zip(unknown, normalized, strict=True)
        }
        changes = [
            Change(way, before, after, chance.choice((1, 3)))
            for way, before, after in (("dropped", "\u200b", ""), ("accents", "í", "i"))
            if chance.random() < 0.3
        ]
        claims = tokens_claims(tokens, own, named, "[UNK]", changes)
        sure = tokens_sure(tokens, own, reasons, "[UNK]", changes)
        assert_tokens(claims, sure, tokens, own, changes)
        keys |= read([*claims, *sure])
    keys |= read(made_by_hand(tiny_service))
    apart = (*ELSEWHERE, *TABLES)
    assert not [key for key in unreached("tokens", keys) if key.split(".")[1] not in apart]


def made_by_hand(service: EncoderService) -> list[Claim]:
    """Claims that no text gives with these tokenizers, or that need numbers alone."""
    note = padding_note(3, 7)
    assert note is not None
    assert padding_note(0, 7) is padding_note(7, 7) is padding_note(9, 7) is None
    claims = [note]
    for n in (1, 2):
        tokens, _ = tokenize(service, "folder:bert", " ".join(["a"] * n))
        for alone in (without_added(tokens), without_added(tokens, pair="b")):
            claims += tokens_claims(alone, ("token",) * n, ("a",) * n, "")[:1]
    return claims


def without_added(tokens: Tokens, pair: str | None = None) -> Tokens:
    """Tokens as a tokenizer without special tokens would give them."""
    own = np.flatnonzero(tokens.text_ids >= 0)
    arrays = {name: getattr(tokens, name)[own] for name in ("text_ids", "word_ids", "offsets")}
    return replace(tokens, pair=pair, tokens=tuple(tokens.tokens[i] for i in own), **arrays)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The tokenizer unmasked it",
            "The text becomes 9 tokens: 7 from the text and 2 added by the tokenizer ([CLS], "
            "[SEP]). 2 different words are cut into pieces. “unmasked” is cut into the most: un "
            "##mas ##ked.",
        ),
        ("", "No token of the text reaches the model: it sees only [CLS], [SEP]."),
    ],
)
def test_claims_are_read_whole(service: EncoderService, text: str, expected: str) -> None:
    tokens, vocabulary = tokenize(service, BUNDLED_ID, text)
    names = labels(tokens, vocabulary)
    assert plain(tokens_claims(tokens, kinds(tokens, vocabulary), names, "[UNK]")) == expected


# The drawing

SVG = "{http://www.w3.org/2000/svg}"
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
boxes = st.lists(st.tuples(texts, st.integers(0, 300_000), st.booleans()), max_size=40)


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def test_each_token_is_a_box_with_its_id() -> None:
    root = drawn(tokens_svg([("[CLS]", 101, True), ("##an", 2319, False)], "Sinan"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["Sinan", "[CLS]", "101", "##an", "2319"]
    first, second = root.iter(f"{SVG}rect")
    assert first.get("fill") == "none"
    assert second.get("stroke") == "none"


@settings(deadline=None)
@given(boxes=boxes, title=texts)
def test_any_text_makes_a_drawing_within_its_bounds(
    boxes: list[tuple[str, int, bool]], title: str
) -> None:
    root = drawn(tokens_svg(boxes, title))
    assert root.get("width") == "928"
    height = float(root.get("height") or "nan")
    assert height <= 440
    places = [
        tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
    ]
    for x, y, width, tall in places:
        assert 0 <= x <= x + width <= 928
        assert 40 <= y <= y + tall <= height
    for i, (x, y, width, _) in enumerate(places):
        for x2, y2, _, _ in places[i + 1 :]:
            assert y2 > y or x2 >= x + width
    words = [text.text or "" for text in root.iter(f"{SVG}text")]
    more = len(boxes) - len(places)
    assert (f"and {more} more tokens" in words) == (more > 0)


@pytest.mark.parametrize("text", ["\x00\x1b\x7f", "\ud800", "\ufffe\uffff", "<a & b>]]>"])
def test_what_xml_cannot_hold_is_replaced_and_the_rest_escaped(text: str) -> None:
    svg = tokens_svg([(text, 1, False)], text)
    svg.encode()
    tags = {element.tag.removeprefix(SVG) for element in drawn(svg).iter()}
    assert tags == {"svg", "text", "rect"}


@settings(deadline=None)
@given(text=st.text(min_size=1, max_size=400))
def test_the_title_fits_its_line(text: str) -> None:
    title = next(drawn(tokens_svg([], text)).iter(f"{SVG}text")).text or ""
    assert len(title) * 0.6 * 17 <= 928


# Files, and a script


def test_the_arrays_are_the_services_and_the_passport_names_the_lengths(
    service: EncoderService,
) -> None:
    tokenized = shown(text_view("Sinan's =1+1 🐍", "two", pad=30), service)
    ours = service.tokenize(BUNDLED_ID, ["Sinan's =1+1 🐍"], pairs=["two"], pad_to=30)[0]
    arrays = tokenized.arrays()
    for name in ("token_ids", "attention_mask", "token_type_ids", "offsets", "tokens"):
        np.testing.assert_array_equal(arrays[name], getattr(ours, name))
    assert (str(arrays["text"]), str(arrays["pair"])) == (ours.text, "two")
    passport = tokenized.passport
    assert passport.checksum == service.load_tokenizer(BUNDLED_ID).checksum
    settings = {"checksum_of": "tokenizer files", "max_length": 512, "pad_to": 30}
    assert passport.settings == settings


KINDS = ("bert", "roberta", "albert")
"""WordPiece, BPE and Unigram; with segments, without, and where they must be asked for."""
CASES = {
    "a pair": ("Where does it sleep?", "In a tree", 512, None),
    "cut pair, padded": ("a long first text that is cut", "short", 8, 12),
    "empty": ("", None, 512, None),
    "an empty pair": ("a", "", 512, 8),
    **{name: (text, None, 512, None) for name, text in AWKWARD.items()},
    "an awkward pair": (AWKWARD["a NUL"], AWKWARD["double quotes"], 12, 20),
}


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def assert_same(
    service: EncoderService, model: str, found: dict[str, Any], case: tuple[Any, ...]
) -> None:
    text, pair, cut, pad_to = case
    pairs = [pair] if pair else None  # transformers takes an empty second text for none
    ours = service.tokenize(model, [text], pairs=pairs, max_length=cut, pad_to=pad_to)[0]
    batch = found["batch"]
    assert batch["input_ids"] == ours.token_ids.tolist()
    assert batch["attention_mask"] == ours.attention_mask.tolist()
    assert found["tokens"] == list(ours.tokens)
    assert found["decoded"] == service.decode(model, ours.token_ids)
    if "token_type_ids" in batch:
        assert batch["token_type_ids"] == ours.token_type_ids.tolist()
    real = ours.attention_mask == 1
    assert [tuple(span) for span in batch["offset_mapping"]][: real.sum()] == [
        tuple(span) for span in ours.offsets[real].tolist()
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_snippet_gives_the_pages_tokens(
    service: EncoderService,
    card: ModelCard,
    case: tuple[Any, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, pair, cut, pad_to = case
    found = run(tokens_snippet(card, text, pair, cut=cut, pad_to=pad_to))
    assert_same(service, BUNDLED_ID, found, case)
    assert str(found["batch"]["input_ids"][0]) in capsys.readouterr().out


@pytest.mark.parametrize("family", KINDS)
def test_every_kinds_snippets_run_once_their_path_is_filled_in(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    card = tiny_service.load(f"folder:{family}")

    def filled_in(code: str) -> str:
        return code.replace(f"path/to/{family}", str(tiny_root / family))

    for name in ("a pair", "cut pair, padded", "an empty pair"):
        text, pair, cut, pad_to = CASES[name]
        case = (text, pair, min(cut, card.max_length), pad_to)
        code = tokens_snippet(card, text, pair, cut=case[2], pad_to=pad_to)
        assert_same(tiny_service, card.id, run(filled_in(code)), case)


def test_a_model_from_the_hub_is_named_with_its_commit(card: ModelCard) -> None:
    commit = "86b5e0934494bd15c9632b12f734a8a67f723594"
    hub = replace(card, source="hub", id="someone/tiny-bert", revision=commit)
    code = tokens_snippet(hub, "a", None, cut=8, pad_to=None)
    assert f'"someone/tiny-bert", revision="{commit}"' in code
    assert "contextlens" not in code
