"""Every sentence on a text's tokens is read back and holds, for texts as odd as they come."""

from __future__ import annotations

import random
import re
from collections import defaultdict

import pytest

from components.analysis.tokens import kinds, labels
from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Tokens
from components.core.words import split_words
from components.features.tokens.compute.looks import round_trips
from components.features.tokens.compute.sentence import tokenized_sentence
from components.features.tokens.reading.tokens import (
    back_reading,
    tokenizers_reading,
    tokens_reading,
    twins_reading,
    unknown_notes,
)
from tests.features.tokens.reading.odd_tokens import MODELS, ids_of, odd_text, whole_words, written
from tests.support.texts import AWKWARD, TYPED
from tests.support.tokens import text_view
from tests.support.true_words import bare, cut, read_back

N = 2000


# What each sentence claims


def check_tokens(said: str, tokens: Tokens, own: tuple[str, ...], names: tuple[str, ...]) -> None:
    n_own = int((tokens.text_ids >= 0).sum())
    added = [t for t, kind in zip(tokens.tokens, own, strict=True) if kind == "special"]
    by_word, cut_off = whole_words(tokens)
    several: dict[str, list[str]] = {}  # where a word stands cut first
    for word, at in by_word.items():
        if word not in cut_off and len(at) > 1:
            several.setdefault(written(tokens, word), [names[i] for i in at])
    worded = {
        (which, i)
        for which, text in enumerate((tokens.text, tokens.pair or ""))
        for i, (a, b) in enumerate(split_words(text))
        if any(c.isalnum() for c in text[a:b])
    }
    counted = []

    def becomes(pair: str | None, n: str, mine: str, plus: str, which: str) -> None:
        assert bool(pair) == (tokens.pair is not None)
        assert int(n) == n_own + len(added) == int(mine) + int(plus)
        assert (int(mine), int(plus)) == (n_own, len(added))
        assert which == ", ".join(dict.fromkeys(added))

    def no_own(which: str) -> None:
        assert n_own == 0
        assert which == ", ".join(dict.fromkeys(added))

    def no_fit(which: str) -> None:
        no_own(which)
        assert tokens.n_truncated

    def cuts(all_: str) -> None:
        assert several
        more = int(all_.split("; ")[-1].split()[0]) if all_.endswith("cut too") else 0
        assert more == len(several) - min(2, len(several))
        spelled = [
            f"“{bare(cut(word))}” is cut into {len(own)} ({' '.join(own[:6])}"
            f"{' …' if len(own) > 6 else ''})"
            for word, own in list(several.items())[:2]
        ]
        assert all_.startswith("; ".join(spelled))

    def one() -> None:
        assert not several
        assert len(worded) == 1
        assert worded <= set(by_word)

    def every() -> None:
        assert len(worded) > 1
        assert all(len(by_word[word]) == 1 for word in worded)

    def no_cut() -> None:
        assert not several
        assert worded & set(by_word)

    def fits() -> None:
        no_cut()
        assert tokens.n_truncated

    def of_kind(kind: str, count: str) -> None:
        counted.append(kind)
        assert int(count.replace(",", "")) == (
            tokens.n_truncated if kind == "lost" else own.count(kind)
        )

    read_back(
        said,
        {
            r"(?:This text|This (?P<pair>pair) of texts) becomes (?P<n>[\d,]+) tokens?, "
            r"(?P<mine>\d+) of its own and (?P<plus>\d+) that the tokenizer adds "
            r"\((?P<which>[^)]*)\)\.": becomes,
            r"This (?:text|pair of texts) has no token of its own: the model sees only "
            r"(?P<which>.*?)\.": no_own,
            r"No token of its own fits: the model sees only (?P<which>.*?)\.": no_fit,
            "Its word is one token\\.": one,
            "Every word is one token\\.": every,
            "No word is cut\\.": no_cut,
            "No word that fits whole is cut\\.": fits,
            r"(?P<all_>“.*?” is cut into .*?(?:\)|cut too))\.": cuts,
            r"(?P<count>[\d,]+) tokens? (?:is|are) unknown: the model cannot see what stood "
            r"there\.": lambda count: of_kind("unknown", count),
            r"(?P<count>[\d,]+) tokens? (?:does not fit and is|do not fit and are) left out\.":
            lambda count: of_kind("lost", count),
            r"(?P<count>[\d,]+) positions? (?:is|are) padding\.":
            lambda count: of_kind("padding", count),
        },
    )  # fmt: skip
    assert ("unknown" in counted) == ("unknown" in own)
    assert ("lost" in counted) == (tokens.n_truncated > 0)
    assert ("padding" in counted) == ("padding" in own)
    assert bool(several) == ("is cut into" in said)


@pytest.mark.slow
def test_every_sentence_on_tokens_holds(tiny_service: EncoderService) -> None:
    chance = random.Random(1)
    for model in MODELS:
        vocabulary = tiny_service.vocabulary(model)
        for _ in range(N // len(MODELS)):
            text, pair = odd_text(chance), chance.choice((None, None, odd_text(chance)))
            more = chance.choice(({}, {}, {"max_length": chance.randint(5, 12)}))
            pairs = None if pair is None else [pair]
            (tokens,) = tiny_service.tokenize(model, [text], pairs=pairs, **more)
            if not more and chance.random() < 0.3:
                longer = min(64, tokens.n_tokens + chance.randint(0, 3))
                if longer >= tokens.n_tokens:
                    (tokens,) = tiny_service.tokenize(model, [text], pairs=pairs, pad_to=longer)
            own, names = kinds(tokens, vocabulary), labels(tokens, vocabulary)
            said = bare(" ".join(tokens_reading(tokens, own, names)))
            check_tokens(said, tokens, own, tuple(bare(name) for name in names))
            check_twins(bare(" ".join(twins_reading(tokens))), tokens)
            strange = [i for i, kind in enumerate(own) if kind == "unknown"]
            notes = unknown_notes(tokens, dict.fromkeys(strange, "why"))
            assert len(notes) == min(3, len(strange))
            for i, note in zip(strange, notes, strict=False):
                a, b = tokens.offsets[i]
                typed = (tokens.text, tokens.pair)[tokens.text_ids[i]][a:b]
                assert bare(note) == f"Token {i} is unknown, “{bare(cut(typed))}”: why"


def check_twins(said: str, tokens: Tokens) -> None:
    ids = ids_of(tokens)
    groups = defaultdict(list)
    for word, own in ids.items():
        groups[own].append(word)
    alike = {(group[0], word) for group in groups.values() for word in group[1:]}
    if not alike:
        assert said.startswith("No two words of this text are written differently and have the")
        return
    shown = {(cut(a), cut(b)) for a, b in alike}
    named = re.findall(r"“([^”]*)” and “([^”]*)”", said)
    assert len(named) == min(2, len(alike))
    assert set(named) <= shown
    assert said.endswith(" have the same token IDs: the model cannot tell them apart.")


def test_every_sentence_on_two_tokenizers_holds(tiny_service: EncoderService) -> None:
    chance = random.Random(2)
    for _ in range(N // 4):
        models, text = chance.sample(MODELS, 2), odd_text(chance)
        both = [tiny_service.tokenize(model, [text])[0] for model in models]
        counts = [int((t.text_ids >= 0).sum()) + t.n_truncated for t in both]
        pieces = [[t.tokens[i] for i in range(t.n_tokens) if t.text_ids[i] >= 0] for t in both]
        first, *rest = map(bare, tokenizers_reading(*both, ("P", "Q")))
        numbers = [int(n.replace(",", "")) for n in re.findall(r"\b[\d,]+\b", first)]
        if not any(counts):
            assert first == "Neither tokenizer finds a token in this text."
        elif "same" in first and "but not" not in first:
            assert pieces[0] == pieces[1]
            assert numbers == counts[:1] == counts[1:]
        elif first.startswith("Both"):
            assert pieces[0] != pieces[1]
            assert numbers == counts[:1] == counts[1:]
        else:
            assert first.startswith("P makes")
            assert numbers == counts
        if rest:
            check_merged(rest[0], both)


def check_merged(said: str, both: list[Tokens]) -> None:
    ids = dict(zip("PQ", map(ids_of, both), strict=True))
    end = re.search(r" have the same token IDs in ([PQ]), and others in ([PQ])\.$", said)
    here, there = ids[end[1]], ids[end[2]]
    for a, b in re.findall(r"“([^”]*)” and “([^”]*)”", said):
        matches = [
            (x, y) for x in here for y in here
            if x != y and (cut(x), cut(y)) == (a, b) and here[x] == here[y]
            and x in there and y in there and there[x] != there[y]
        ]  # fmt: skip
        assert matches


# There and back, and all of it through the page's own computing


@pytest.mark.parametrize("name", [*TYPED, *AWKWARD])
@pytest.mark.parametrize("pair", [None, "The the 🐍"])
def test_every_sentence_holds_for_what_the_page_computes(
    name: str, pair: str | None, service: EncoderService
) -> None:
    view = text_view((TYPED | AWKWARD)[name], pair)
    found = tokenized_sentence(view, service, service.load_tokenizer(BUNDLED_ID))
    said = bare(" ".join(tokens_reading(found.tokens, found.kinds, found.labels)))
    check_tokens(said, found.tokens, found.kinds, tuple(map(bare, found.labels)))
    check_twins(bare(" ".join(twins_reading(found.tokens))), found.tokens)
    for trip in round_trips(view, service, found):
        check_back(trip, found.tokens)


def check_back(trip, tokens: Tokens) -> None:
    (said,) = map(
        bare, back_reading(trip.decoded, trip.text, trip.n_rewritten, trip.n_unknown, trip.n_lost)
    )

    def exactly() -> None:
        assert trip.decoded == trip.text != ""

    def none() -> None:
        assert trip.text == ""

    def spaces() -> None:
        assert trip.decoded.split() != [trip.text] or trip.decoded != trip.text
        assert "".join(trip.decoded.split()) == "".join(trip.text.split())

    def empty(**_: str) -> None:
        assert trip.decoded == ""

    def otherwise(**_: str) -> None:
        assert trip.decoded
        assert trip.decoded != trip.text

    causes = r"(?P<why>[^.]*)"
    read_back(
        said,
        {
            "The IDs give back the text exactly as it was typed\\.": exactly,
            "There is no text, so nothing comes back\\.": none,
            "Every character comes back; only spaces are not as they were typed\\.": spaces,
            rf"Nothing of the text comes back from the IDs(?:: {causes})?\.": empty,
            rf"The IDs do not give back the text as it was typed: {causes}\.": otherwise,
        },
    )
    counts = {"rewritten": trip.n_rewritten, "unknown": trip.n_unknown, "did not fit": trip.n_lost}
    for cause, count in counts.items():
        told = re.search(rf"([\d,]+) [a-z ]*{cause}", said)
        assert (int(told[1].replace(",", "")) if told else 0) in (count, 0)
        assert bool(told) == (count > 0) or trip.decoded == trip.text
