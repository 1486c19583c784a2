"""The surprise of words: beside transformers, in sentences that are true, as a picture."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.blank.surprise import (
    MAX_TOKENS,
    SentenceSurprise,
    Surprise,
    TokenSurprise,
    WordSurprise,
    are_about_equal,
    chance,
    compared,
    surprise,
    task,
)
from contextlens.ui.state.view import DEFAULT, ViewState, letter
from tests.features.blank.conftest import BOTH, LONG
from tests.support.claims import read, unreached
from tests.support.odd import odd_names
from tests.support.snippets import run_alone
from tests.support.texts import AWKWARD, TYPED
from tests.support.tiny_models import MASKED

ViewOf = Callable[..., ViewState]
SLEPT, LENDS = "A python slept under the lamp, unbelievable!", "The bank lends money to snakes."


def measured(view: ViewState, service: EncoderService) -> Surprise:
    return surprise(view, service, service.load(view.model))


def spoken(result: Surprise) -> list[Claim]:
    return [*result.claims(), *result.sure(), *result.notes()]


def sentence_of(*bits: float | None, at: int = 0, pieces: int = 1, **facts: Any):
    """A sentence with words of these bits, each in some pieces."""
    words = []
    for i, own in enumerate(bits):
        each = [TokenSurprise(i, f"t{i}", (own or 0) / pieces, 1, ())] * pieces
        words.append(WordSurprise(f"w{i}", () if own is None else tuple(each)))
    tokens = tuple(token for word in words for token in word.tokens)
    facts = {"n_tokens": len(tokens), "n_unknown": 0, "is_cut": False, "has_pair": False, **facts}
    return SentenceSurprise(letter(at), "text", tuple(words), tokens, **facts)


def result_of(*sentences: SentenceSurprise) -> Surprise:
    return Surprise(None, sentences, None)


# --- The numbers


@pytest.mark.parametrize("family", [*MASKED, BOTH])
def test_the_numbers_are_those_of_transformers_alone(
    family: str, masked_service: EncoderService, masked_root: Path, view_of: ViewOf
) -> None:
    view = view_of(SLEPT, "The bank 🐍 lends [MASK] مرحبا.", "", family=family)
    result = measured(view, masked_service)
    names = run_alone(result.snippet(), masked_root)
    for one in result.sentences:
        expected = names["surprise"][one.letter]
        assert [token.position for token in one.tokens] == list(expected)
        np.testing.assert_allclose(
            [token.bits for token in one.tokens], [*expected.values()], rtol=1e-5
        )
        assert one.log_likelihood == pytest.approx(names["log_likelihood"][one.letter], rel=1e-5)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_the_snippet_reads_any_text(
    text: str, masked_service: EncoderService, masked_root: Path, view_of: ViewOf
) -> None:
    result = measured(view_of(text, family="roberta"), masked_service)
    names = run_alone(result.snippet(), masked_root)
    assert [token.position for token in result.sentences[0].tokens] == list(names["surprise"]["A"])


def test_sums_and_means_follow_from_the_tokens(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    (one,) = measured(view_of(SLEPT), masked_service).sentences
    assert [word.label for word in one.words] == [
        *("A", "python", "slept", "under", "the", "lamp", ",", "unbelievable", "!")
    ]
    for word in one.words:
        assert word.bits == pytest.approx(sum(token.bits for token in word.tokens))
    bits = [token.bits for token in one.tokens]
    assert one.mean == pytest.approx(sum(bits) / 9)
    assert one.log_likelihood == pytest.approx(-sum(bits) * math.log(2))
    assert one.perplexity == pytest.approx(2 ** np.mean(bits))
    token = one.tokens[1]
    assert len(token.guesses) == 3
    chances = [probability for _, probability in token.guesses]
    assert chances == sorted(chances, reverse=True)
    assert token.rank > 1 or token.guesses[0][0] == "python"


def test_the_model_own_guess_has_rank_one_and_is_listed_first(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    view = view_of("a python slept")
    guess = measured(view, masked_service).sentences[0].tokens[1].guesses[0]
    again = measured(view_of(f"a {guess[0].removeprefix('##')} slept"), masked_service)
    same = [token for token in again.sentences[0].tokens if token.label == guess[0]]
    for token in same:
        assert token.rank == 1
        assert 2**-token.bits == pytest.approx(guess[1], rel=1e-4)


def test_what_cannot_be_read_is_not_measured(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = measured(view_of("a python 🐍 slept [MASK]."), masked_service)
    (one,) = result.sentences
    assert {word.label for word in one.words if word.bits is None} == {"🐍", "[MASK]"}
    assert one.n_unknown == 1
    assert [str(note) for note in result.notes()] == [
        "In A, 1 token is unknown to the model; words with unknown tokens are not measured."
    ]
    assert len(result.rows()) == len(one.tokens)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("the bank " * 100, "the bank the"),
        ("x" * 600, "xxx"),
        ("the bank \n" * 100, "the bank \nthe"),
    ],
    ids=["512 tokens", "one endless word", "cut at white space"],
)
def test_only_the_beginning_of_a_long_text_is_read(
    text: str, start: str, masked_service: EncoderService, masked_root: Path, view_of: ViewOf
) -> None:
    result = measured(view_of(text, family=LONG), masked_service)
    (one,) = result.sentences
    assert one.text.startswith(start)
    assert 100 < len(one.tokens) <= MAX_TOKENS
    assert text.startswith(one.text)
    assert [note.key for note in result.notes()] == ["blank.surprise.note.cut"]
    assert result.notes()[0].numbers["n"] == len(one.tokens)
    names = run_alone(result.snippet(), masked_root)
    assert one.log_likelihood == pytest.approx(names["log_likelihood"]["A"], rel=1e-5)


def test_a_model_without_a_head_is_refused(service: EncoderService) -> None:
    with pytest.raises(RequestError, match="head that predicts hidden words"):
        measured(DEFAULT, service)


def test_the_job_counts_readings_and_has_the_same_result(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    view, reports = view_of(SLEPT, LENDS), []
    card = masked_service.load(view.model)
    job = task(view, masked_service, card, token_seconds=0.01)
    result = job.work(lambda *report: reports.append(report))
    assert [share for _, share in reports] == sorted(share for _, share in reports)
    assert reports[-1][1] == 1.0
    assert result.rows() == measured(view, masked_service).rows()
    n = [tokens.n_tokens for tokens in masked_service.tokenize(view.model, [SLEPT, LENDS])]
    assert job.size == pytest.approx(0.01 * (n[0] ** 2 + n[1] ** 2))
    for other in (view_of(SLEPT), view_of(SLEPT, LENDS, pairs=["a pair"])):
        assert task(other, masked_service, card, token_seconds=1.0).key != job.key


# --- The words


def test_every_verdict_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    chance_of = random.Random(0)
    keys: set[str] = set()
    for _ in range(3000):
        keys |= read(check_claims(chance_of))
    texts = {f"blank.surprise.{name}" for name in ("odds", "tiny")}
    assert not unreached("blank.surprise", keys | texts)


def check_claims(chance_of: random.Random) -> Iterator[Claim]:
    """The claims of odd sentences, checked against their bits."""
    sentences = []
    for at in range(chance_of.choice((1, 2, 2, 3, 5))):
        top = chance_of.choice((0.4, 6, 6, 30, 90))
        bits = [chance_of.uniform(0, top) for _ in range(chance_of.choice((0, 1, 2, 2, 5, 9)))]
        own = [None if chance_of.random() < 0.1 else value for value in bits]
        n_unknown = sum(value is None for value in own)
        pieces = chance_of.choice((1, 1, 2))
        facts = {"is_cut": chance_of.random() < 0.2, "has_pair": chance_of.random() < 0.2}
        facts |= {"n_unknown": n_unknown, "n_tokens": len(bits) * pieces}
        sentences.append(sentence_of(*own, at=at, pieces=pieces, **facts))
    result = result_of(*sentences)
    assert "*" not in result.title()
    known = result.measured
    if len(known) > 1:
        check_comparison(result)
    yield from spoken(result)


def check_comparison(result: Surprise) -> None:
    known, finding = result.measured, result.claims()[0]
    verdict = finding.key.removeprefix("blank.surprise.").removesuffix("_many")
    means = {one.letter: one.total / len(one.measured) for one in known}
    lengths = {len(one.measured) for one in known}
    top, bottom = max(means.values()), min(means.values())
    assert finding.numbers["high_bits"] == pytest.approx(top)
    assert finding.numbers["low_bits"] == pytest.approx(bottom)
    assert (verdict == "equal") == are_about_equal(top, bottom)
    if verdict == "equal":
        assert all(are_about_equal(one, top) for one in means.values())
        return
    assert means[finding.numbers["low"]] == bottom
    assert f"{top:.1f}" != f"{bottom:.1f}"
    if verdict == "mixed":
        assert len(known) == len(lengths) == 2
        assert finding.numbers["low_total"] > finding.numbers["high_total"]
    elif len(known) > 2:
        leaders = [name for name, mean in means.items() if are_about_equal(mean, top)]
        assert finding.numbers["n"] == len(leaders)
    elif len(lengths) == 2 and len(known) == 2:
        more, less = sorted(known, key=lambda one: -one.mean)
        assert more.total > less.total or are_about_equal(more.total, less.total)


def test_sentences_are_read_whole() -> None:
    same_length = result_of(sentence_of(1, 2, 5), sentence_of(2, 3, 9.1, at=1))
    assert [*map(str, same_length.claims())] == [
        "The model finds B more surprising than A: **4.7 bits a word** against 2.7.",
        "Over all words, B has 6.1 bits more than A.",
        "Of all words, “w2” in B surprises the model most: **9.1 bits**, a chance of 1 in 550.",
    ]
    mixed = result_of(sentence_of(9, 6), sentence_of(*[3] * 9, at=1))
    assert [*map(str, mixed.claims())] == [
        "Per word, A surprises more (**7.5** against 3.0 bits); in total, the longer B does "
        "(**27.0** against 15.0 bits).",
        "Of all words, “w0” in A surprises the model most: **9.0 bits**, a chance of 1 in 510.",
    ]
    assert mixed.title().startswith("Per word, A surprises more (7.5 against 3.0 bits)")
    alike = result_of(sentence_of(3, 4, 5.5), sentence_of(3, 4, 5, at=1))
    assert str(alike.claims()[0]) == (
        "The model finds A and B about equally surprising: **4.2** and **4.0 bits a word**."
    )
    assert [claim.key for claim in alike.claims()] == [
        "blank.surprise.equal",
        "blank.surprise.total",
        "blank.surprise.several",
    ]
    assert compared(alike.sentences).verdict == "equal"


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        *((0.0, "100%"), (1.0, "50%"), (3.32, "10%"), (6.64, "1%"), (9.1, "1 in 550")),
        *((20.0, "1 in 1,000,000"), (61.0, "almost none"), (1e-4, "over 99%")),
    ],
)
def test_a_chance_is_said_as_people_say_it(bits: float, words: str) -> None:
    assert chance(bits) == words


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED)
def test_any_text_is_measured_drawn_and_stored(
    text: str, masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = measured(view_of(text, LENDS, pairs=[None, "and a pair"]), masked_service)
    assert read(spoken(result))
    drawn = result.figure()
    assert drawn is not None
    assert "<script" not in drawn.to_json()
    assert result.alt()
    assert len(result.rows()) == sum(len(one.tokens) for one in result.sentences)
    assert result.arrays()["pseudo_log_likelihood"].shape == (2,)
    assert result.passport is not None


def test_a_view_without_a_word_says_so(masked_service: EncoderService, view_of: ViewOf) -> None:
    result = measured(view_of("", "  "), masked_service)
    assert [claim.key for claim in spoken(result)] == [
        "blank.surprise.none",
        *["blank.surprise.note.empty"] * 2,
    ]
    assert result.figure() is result.passport is None
    assert not result.rows()


def test_one_token_has_no_context(masked_service: EncoderService, view_of: ViewOf) -> None:
    result = measured(view_of("python"), masked_service)
    assert [claim.key for claim in result.notes()] == ["blank.surprise.note.alone"]
    assert result.claims()[0].key == "blank.surprise.only"


# --- The picture


def tiles(result: Surprise) -> list[tuple[str, float | None]]:
    """The words and values of a picture, in its order."""
    *lines, texts = result.figure().data
    values = [value for line in lines for value in line.z[0]]
    return [(text.split("<br>")[0], value) for text, value in zip(texts.text, values, strict=True)]


def test_the_picture_shows_each_word_with_its_surprise(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = measured(view_of(SLEPT, "a 🐍 slept"), masked_service)
    words = [word for one in result.sentences for word in one.words]
    assert [label for label, _ in tiles(result)] == [word.label for word in words]
    for (_, value), word in zip(tiles(result), words, strict=True):
        assert value is word.bits is None or value == pytest.approx(word.bits, abs=1e-4)
    lines = result.figure().data[:-1]
    blind = np.log2(result.card.vocabulary_size)
    assert {(line.zmin, line.zmax) for line in lines} == {(0.0, blind)}
    assert [line.showscale for line in lines] == [True, *[False] * (len(lines) - 1)]
    assert [*result.figure().layout.yaxis.ticktext] == ["<b>A</b>", "<b>B</b>"]
    hovers = [text for line in lines for text in line.customdata[0]]
    assert hovers[1].startswith("python: ")
    assert "the model's first guesses: " in hovers[1]
    assert "over 7 pieces" in hovers[7]
    assert "not measured" in hovers[-2]


@pytest.mark.parametrize(
    ("n_vocabulary", "end", "ticks"),
    [
        (2, 1.0, ["0", "1.0 or more"]),
        (400, 8.6, ["0", "5", "8.6 or more"]),
        (4096, 12.0, ["0", "5", "12.0 or more"]),
        (30_522, 14.9, ["0", "5", "10", "14.9 or more"]),
        (250_002, 17.9, ["0", "5", "10", "17.9 or more"]),
    ],
)
def test_the_colours_end_at_a_blind_guess(
    n_vocabulary: int,
    end: float,
    ticks: list[str],
    masked_service: EncoderService,
    view_of: ViewOf,
) -> None:
    result = measured(view_of(SLEPT), masked_service)
    result = replace(result, card=replace(result.card, vocabulary_size=n_vocabulary))
    first = result.figure().data[0]
    assert first.zmax == pytest.approx(end, abs=0.05)
    assert [*first.colorbar.ticktext] == ticks
    said = f"surprise in bits<br>({end:.1f}: a blind guess among {n_vocabulary:,} tokens)"
    assert first.colorbar.title.text == said


def test_lines_fit_and_arabic_runs_leftwards(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = measured(view_of("say hello " * 20, "مرحبا يا عالم", family="roberta"), masked_service)
    for line in result.figure().data[:-1]:
        assert all(np.diff(line.x) > 0)
        assert 0 <= min(line.x) < max(line.x) <= 285
    arabic = [label for label, _ in tiles(result)][-3:]
    assert [label.strip("\u2068\u2069") for label in arabic] == ["عالم", "يا", "مرحبا"]


def test_odd_names_are_escaped_and_can_be_drawn(masked_service: EncoderService) -> None:
    names = odd_names(random.Random(1), 60)
    token = TokenSurprise(1, "<b>", 3.0, 4, (("<i>", 0.5),))
    words = tuple(WordSurprise(name, (token,)) for name in names)
    one = SentenceSurprise("A", "text", words, (token,) * 60, 60, 0, False, False)
    card = masked_service.load("folder:bert")
    figure = replace(result_of(one), card=card).figure()
    assert "<b>d" not in figure.to_json()
    assert "<i>" not in figure.to_json()
