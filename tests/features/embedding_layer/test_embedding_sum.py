"""The sum of the embedding layer: the model's numbers, the words about them, and the script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contextlens.content.language import Claim, say
from contextlens.content.wording import adding_up, quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import EmbeddingParts, Tokens
from contextlens.features.embedding_layer import controls
from contextlens.features.embedding_layer.arithmetic import (
    Normalization,
    contributions,
    summands,
)
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum, other_texts
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.features.embedding_layer.sums import (
    LABELS,
    TRAINED,
    UNTRAINED,
    Chance,
    Draw,
    assert_the_model_s,
    keys_of,
    on,
    steps_of,
    sum_of,
)
from tests.support.claims import unreached
from tests.support.snippets import run
from tests.support.texts import LONG, TYPED
from tests.support.tiny_models import (
    ALL,
    FROM_PADDING,
    NO_POSITIONS,
    NO_SEGMENT_TABLE,
    NORMS,
    PROJECTED,
    TWO_SEGMENTS,
    VARIANTS,
    family_of,
)

PAGE = controls.PAGE
TEXT = "The python's owner walked by the river"


# The numbers


def test_the_opening_view_shows_the_model_s_numbers(service: EncoderService) -> None:
    embedding = assert_the_model_s(DEFAULT, service)
    assert "embedding_layer.agreement.close" in [claim.key for claim in embedding.sure()]
    table = pd.DataFrame(embedding.rows())
    for name, part in embedding.contributions.items():
        np.testing.assert_allclose(table[f"{name} share"], part.share, atol=1e-6)
        np.testing.assert_allclose(table[f"{name} norm"], part.norm, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: moved"], part.moved, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: 1 - cos"], part.turned, atol=1e-6)
    total = sum(part.share for part in embedding.contributions.values())
    np.testing.assert_allclose(total, 1, atol=1e-4)


def test_the_values_of_the_chosen_word_are_all_there(service: EncoderService) -> None:
    table = sum_of(DEFAULT, service).values()
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[0].text)
    assert parts.tokens.tokens[5] == "python"
    np.testing.assert_array_equal(table["word"], parts.word[5])
    np.testing.assert_allclose(table["layer 0, ours"], parts.output[5], atol=1e-6)
    np.testing.assert_array_equal(table["layer 0, the model's"], parts.output[5])
    assert table["dimension"].tolist() == list(range(384))


def test_a_token_of_another_sentence_is_followed(service: EncoderService) -> None:
    embedding = sum_of(controls.SENTENCE.put(controls.TOKEN.put(DEFAULT, "3"), "B"), service)
    assert (embedding.focus, embedding.title().numbers["segment"]) == (3, 0)
    assert embedding.claims()[0].numbers["token"] == "“coding”"
    share = float(embedding.contributions["word"].share[3])
    assert embedding.claims()[0].numbers["share"] == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    "broken",
    [
        {"token": "999", "sentence": "Z", "near": "77", "other": "Q"},
        {"token": "²", "section": "No", "sentence": "", "change": "Everything",
         "positions": "First 9000"},
        {"token": 3, "sentence": True},
    ],
    ids=range(3),
)  # fmt: skip
def test_broken_controls_in_the_address_fall_back(
    broken: dict[str, Any], service: EncoderService
) -> None:
    view = on(**broken)
    embedding = assert_the_model_s(view, service)
    assert (embedding.focus, embedding.window) == (5, slice(0, 7))
    assert controls.SECTION.of(view) in controls.SECTION.options
    assert controls.near_in(embedding.labels, embedding.focus).of(view) == ""
    assert controls.OTHER.among(other_texts(view, embedding)).of(view) == "B"
    assert controls.CHANGE.of(view) == controls.PAIR
    assert controls.POSITIONS.of(view) == controls.POSITIONS.default


@pytest.mark.parametrize(("token", "first"), [(0, 0), (7, 0), (300, 293), (511, 498)])
def test_a_long_text_is_drawn_around_the_followed_token(
    token: int, first: int, service: EncoderService
) -> None:
    embedding = sum_of(controls.TOKEN.put(on(LONG), str(token)), service)
    parts = service.embedding_parts(BUNDLED_ID, LONG)
    window = slice(first, first + controls.MAX_DRAWN_TOKENS)
    assert embedding.window == window
    np.testing.assert_array_equal(steps_of(embedding)["position"], parts.position[window])
    assert len(pd.DataFrame(embedding.rows())) == 512


def test_the_last_sentence_and_a_pair_are_taken_apart(service: EncoderService) -> None:
    view = on(*[f"Sentence number {i}" for i in range(8)], sentence="H")
    assert assert_the_model_s(view, service, index=7).index == 7
    embedding = assert_the_model_s(on("I love my pet python", pair="It is a snake"), service)
    assert set(pd.DataFrame(embedding.rows())["segment row"]) == {0, 1}


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart(text: str, service: EncoderService) -> None:
    assert_the_model_s(on(text), service)


IN_ATTENTION = {
    "mpnet": "bias",
    "deberta-v2": "distances",
    "deberta": "distances",
    "modernbert": "rotation",
    "eurobert": "rotation",
    "nomic_bert": "rotation",
    "gte": "rotation",
    "jina_embeddings_v3": "rotation",
    "gemma3_text": "rotation",
    "embedding_gemma2_text": "rotation",
}


@pytest.mark.parametrize("family", ALL)
def test_every_family_has_its_own_steps(family: str, tiny_service: EncoderService) -> None:
    sentences = (Sentence("the <pad> river", "a bank"), Sentence("the bank"))
    view = replace(DEFAULT, model=f"folder:{family}", sentences=sentences)
    embedding = assert_the_model_s(view, tiny_service)
    steps = steps_of(embedding)
    assert ("segment" in steps) == (family not in NO_SEGMENT_TABLE)
    assert ("position" in steps) == (family not in NO_POSITIONS)
    n_parts = len(summands(embedding.parts))
    kind = "scaled" if "gemma" in family else "-".join(summands(embedding.parts))
    assert embedding.title().key.endswith(f".{kind}")
    assert ("LayerNorm" in steps) == (family in PROJECTED)
    has_norm = NORMS.get(family, "LayerNorm") is not None
    assert ("sum" in steps) == (n_parts > 1 and has_norm)
    told = {claim.key.removeprefix("embedding_layer.kind.") for claim in embedding.kind()}
    assert "-".join(summands(embedding.parts)) in told
    assert ("scaled" in told) == ("gemma" in family)
    assert ("read_again" in told) == (family == "embedding_gemma2_text")
    assert ("one_segment" in told) == (
        family not in NO_SEGMENT_TABLE | TWO_SEGMENTS | set(VARIANTS)
    )
    assert ("after_padding" in told) == (family in FROM_PADDING)
    assert ("no_norm" in told) == (not has_norm)
    how = {key.removeprefix("attention.") for key in told if key.startswith("attention.")}
    assert how == {*filter(None, [IN_ATTENTION.get(family_of(family))])}
    assert ("projected" in told) == (family in PROJECTED)


def test_what_is_downloaded_adds_up(service: EncoderService) -> None:
    embedding = sum_of(on("I love my pet python", pair="=1+1"), service)
    arrays = embedding.arrays()
    added = arrays["word"] + arrays["position"] + arrays["segment"]
    np.testing.assert_allclose(added, arrays["sum"], atol=1e-6)
    np.testing.assert_array_equal(arrays["layer_0"], embedding.layer_0)
    np.testing.assert_allclose(arrays["rebuilt"], arrays["layer_0"], atol=1e-6)
    for name, part in embedding.contributions.items():
        np.testing.assert_array_equal(arrays[f"{name}_share"], part.share)
        np.testing.assert_array_equal(arrays[f"{name}_left_out_moved"], part.moved)
    assert (arrays["text"], arrays["pair"]) == ("I love my pet python", "=1+1")
    assert embedding.passport.settings["layer_norm_epsilon"] == 1e-12


def test_the_table_names_the_rows_that_were_added(tiny_service: EncoderService) -> None:
    rows = sum_of(on(TEXT, pair="a bank"), tiny_service).rows()
    position, segment = (
        tiny_service.matrix(BUNDLED_ID, f"embeddings.{name}_embeddings.weight")
        for name in ("position", "token_type")
    )
    for i, row in enumerate(rows):
        word = tiny_service.word_rows(BUNDLED_ID, [row["word row (ID)"]])[0]
        norms = [row[f"{name} norm"] for name in ("word", "position", "segment")]
        added = (word, position[row["position row"]], segment[row["segment row"]])
        assert norms == pytest.approx(list(map(np.linalg.norm, added)))
        assert row["position row"] == i
    assert [row["segment row"] for row in rows][-3:] == [1, 1, 1]
    row = sum_of(replace(on(TEXT), model="folder:distilbert"), tiny_service).rows()[0]
    assert row["segment row"] is None
    assert "segment norm" not in row


def test_one_sentence_alone_is_compared_with_a_ready_one(service: EncoderService) -> None:
    view = on("I love coding in python")
    assert other_texts(view, sum_of(view, service)) == {"Example": Sentence("I love my pet python")}


# The words


def odd_parts(chance: Chance, draw: Draw) -> tuple[EmbeddingParts, Normalization]:
    """Rows to add, likely in a model or not: equal ones, opposite ones, zeros."""
    n, d = chance.choice((1, 2, 3, 7, 20)), chance.choice((2, 4, 8))
    word, position = draw.normal(size=(2, n, d))
    segment = np.repeat(draw.normal(size=(1, d)), n, axis=0) * chance.choice((1, 4))
    how = chance.randrange(8)
    if how == 1:
        position = word.copy()  # a tie
    elif how == 2:
        position = -word * chance.choice((0.5, 1, 2))
    elif how == 3:
        word, position, segment = np.zeros((3, n, d))
    elif how == 4:
        position = word * (1 + draw.uniform(-0.05, 0.05, size=(n, 1)))  # within noise
    elif how == 5:
        word = np.repeat(word[:1], n, axis=0)
    elif how == 6:
        position = 3 * position
    rows = [part.astype(np.float32) for part in (word, position, segment)]
    two = chance.random() < 0.3
    total = np.sum(rows[:2] if two else rows, axis=0)
    ones = np.ones(n, np.int64)
    segments = chance.choice((None, draw.integers(2, size=n)))
    tokens = Tokens("", chance.choice((None, "x")), ("x",) * n, ones, ones, segments, 0 * ones,
                    np.zeros((n, 2), np.int64), 0 * ones, 0 * ones,
                    chance.choice((0, 1, 7)))  # fmt: skip
    parts = EmbeddingParts(
        tokens=tokens, position_ids=np.arange(n), word=rows[0], word_scale=1.0, position=rows[1],
        segment=None if two else rows[2], total=total, normalized=total, epsilon=1e-12,
        projected=False, output=total,
    )  # fmt: skip
    return parts, Normalization(*draw.normal(size=(2, d)).astype(np.float32), epsilon=1e-12)


def in_words(numbers: dict[str, float]) -> str:
    """The names and shares, the largest first."""
    ranked = sorted(numbers, key=lambda name: -numbers[name])
    return ", ".join(say(f"{PAGE}.share.{name}", share=numbers[name]) for name in ranked)


def whole(shares: dict[str, float]) -> dict[str, float]:
    return dict(zip(shares, adding_up(list(shares.values())), strict=True))


def check_sum(base: EmbeddingSum, chance: Chance, draw: Draw) -> Iterator[Claim]:
    parts, normalization = odd_parts(chance, draw)
    labels = tuple(chance.choice(LABELS) for _ in parts.word)
    focus, difference = chance.randrange(len(labels)), chance.choice((0.0, 4e-7, 0.02, 2.4))
    state = chance.choice((TRAINED, UNTRAINED))
    measured = contributions(parts, normalization)  # test_arithmetic.py has the oracle of these
    provenance = replace(base.card.provenance, embedding_layer=state)
    embedding = replace(
        base, card=replace(base.card, provenance=provenance), parts=parts, labels=labels,
        focus=focus, contributions=measured, rebuilt=base.layer_0 + np.float32(difference),
    )  # fmt: skip
    agrees = difference < 1e-5
    shares = {name: part.share for name, part in measured.items()}
    claims, sure = embedding.claims(), embedding.sure()
    of_focus, average, caution = claims
    title, ids = embedding.title(), parts.tokens.token_type_ids
    assert title.key.endswith("word-position" if parts.segment is None else "word-position-segment")
    assert title.numbers["position"] == focus
    segment = None if parts.segment is None else 0 if ids is None else ids[focus]
    assert title.numbers.get("segment") == segment
    of_token = {name: float(share[focus]) for name, share in shares.items()}
    first, second = sorted(of_token.values(), reverse=True)[:2]
    top = max(of_token, key=lambda name: of_token[name])
    verdict = top if first - second > 0.01 else "even"
    verdict = verdict if parts.total[focus].any() else "zeros"
    assert of_focus.key == f"{PAGE}.focus.{verdict}"
    position = f" at position {focus}" if labels.count(labels[focus]) > 1 else ""
    assert of_focus.numbers["token"] == quoted(labels[focus]) + position
    others = {name: share for name, share in whole(of_token).items() if name != top}
    if verdict == top:
        assert of_focus.numbers["share"] == pytest.approx(first, abs=0.01)
        assert of_focus.numbers["others"] == in_words(others)
    elif verdict == "even":
        assert of_focus.numbers["shares"] == in_words(whole(of_token))
    means = {name: float(share.astype(float).mean()) for name, share in shares.items()}
    assert average.numbers == {"n": len(labels), "shares": in_words(whole(means))}
    expected = "untrained" if state is UNTRAINED else "caution" if agrees else "agreement.off"
    assert caution.key == f"{PAGE}.{expected}"
    removed, agreement, *constant = sure
    moved = in_words({name: float(part.moved[focus]) for name, part in measured.items()})
    assert removed.numbers["shifts"] == moved
    assert agreement.key == f"{PAGE}.agreement.{'close' if agrees else 'off'}"
    assert agreement.numbers["difference"] == pytest.approx(difference, abs=1e-6)
    rows = {"word": parts.word, "position": parts.position, "segment": parts.segment}
    several = {name: part for name, part in rows.items() if part is not None and len(part) > 1}
    same = [name for name, part in several.items() if len(np.unique(part, axis=0)) == 1]
    assert [each.numbers["rows"] for each in constant] == ([", ".join(same)] if same else [])
    notes, window = embedding.notes(), embedding.window
    assert embedding.window.stop - window.start == min(len(labels), controls.MAX_DRAWN_TOKENS)
    assert window.start <= focus < window.stop
    expected_notes = ["window"] if len(labels) > controls.MAX_DRAWN_TOKENS else []
    if parts.tokens.n_truncated:
        expected_notes.append("cut.text" if parts.tokens.pair is None else "cut.pair")
    assert [note.key for note in notes] == [f"{PAGE}.{name}" for name in expected_notes]
    yield from [title, *claims, *sure, *notes]


WORDS_ALONE = {f"{PAGE}.title.word", f"{PAGE}.focus.only"}
"""What is said where only words are added, as in ModernBERT."""


def test_a_sum_of_words_alone_says_that_it_is_one(tiny_service: EncoderService) -> None:
    embedding = sum_of(replace(DEFAULT, model="folder:modernbert"), tiny_service)
    title, (only, *cautions) = embedding.title(), embedding.claims()
    assert {title.key, only.key} == WORDS_ALONE
    assert str(title).endswith("= word")
    assert [each.key for each in cautions] == [f"{PAGE}.caution"]
    assert f"{PAGE}.removed" not in [each.key for each in embedding.sure()]
    title = sum_of(replace(DEFAULT, model="folder:nomic_bert"), tiny_service).title()
    assert title.key == f"{PAGE}.title.word-segment"


def test_the_factor_of_gemma_s_words_is_told(tiny_service: EncoderService, tiny_root: Path) -> None:
    embedding = sum_of(replace(DEFAULT, model="folder:gemma3_text"), tiny_service)
    assert str(embedding.title()).endswith("= word × 5.66")
    assert "multiplied by 5.66, the square root of 32," in str(embedding.kind()[1])
    assert embedding.passport.settings["word_scale"] == 32**0.5
    heads = [note.text for note in embedding.figure().layout.annotations]
    assert heads[:2] == ["the word,<br>rescaled", "layer 0"]
    namespace = run(embedding.snippet().replace("path/to", str(tiny_root)))
    np.testing.assert_allclose(namespace["parts"]["word"], embedding.parts.word, rtol=1e-6)
    assert namespace["difference"] < 1e-6


APART = ("kind", "same", "cut_rows", "near", "random", "positions", "segments", "moved", "learned",
         "learned_note", "starts")  # fmt: skip
"""Sentences that the tests of the closer looks reach, and that of every family."""


@pytest.mark.slow
def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead(
    service: EncoderService,
) -> None:
    keys = keys_of(partial(check_sum, sum_of(DEFAULT, service)), 2000)
    names = ("word", "position", "segment")
    keys |= {f"{PAGE}.{table}.{name}" for table in ("share", "row") for name in names}
    keys |= WORDS_ALONE | {f"{PAGE}.title.word-segment", f"{PAGE}.title.scaled"}
    assert not [key for key in unreached(PAGE, keys) if key.split(".")[1] not in APART]


def test_the_title_and_the_finding_are_read_whole(service: EncoderService) -> None:
    embedding = sum_of(DEFAULT, service)
    assert str(embedding.title()) == "“python” = word + position 5 + segment 0"
    assert str(embedding.claims()[0]).startswith(
        "The word itself contributes most to “python”: **79%** ("
    )


# The script


TEXTS = {
    "a pair": ("I love my pet python", 'It\'s a "snake" \\n'),
    "empty": ("", None),
    "long": ("python " * 600, "snake " * 300),
    "awkward": ("{x} %s '''\n\t\x07 <pad> [PAD] <b>", None),
}


# What a family changes shows in a pair, and in a text with padding typed into it.
CASES = [*product([BUNDLED_ID], TEXTS), *product(ALL, ["a pair", "awkward"])]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_snippet_gives_the_page_s_rows_and_layer_0(
    name: str,
    case: str,
    tiny_service: EncoderService,
    tiny_root: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, pair = TEXTS[case]
    model = name if name == BUNDLED_ID else f"folder:{name}"
    embedding = sum_of(replace(on(text, pair=pair), model=model), tiny_service)
    parts, code = embedding.parts, embedding.snippet()
    assert "contextlens" not in code
    found = run(code.replace(f"path/to/{name}", str(tiny_root / name)))
    np.testing.assert_array_equal(found["ids"], parts.tokens.token_ids)
    for part, rows in summands(parts).items():
        np.testing.assert_array_equal(found["parts"][part], rows)
    np.testing.assert_allclose(found["total"], parts.total, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["output"], parts.output, rtol=0, atol=1e-5)
    assert found["difference"] <= 1e-6
    assert set(found["parts"]) == set(summands(parts))
    for part, own in embedding.contributions.items():
        np.testing.assert_allclose(found["shares"][part], own.share, atol=1e-5)
        np.testing.assert_allclose(found["norms"][part], own.norm, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["moved"][part], own.moved, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["turned"][part], own.turned, atol=1e-5)
    printed = capsys.readouterr().out
    for i in (0, parts.tokens.n_tokens - 1):
        token = printed.split(f"\n{i} {parts.tokens.tokens[i]}\n")[1].splitlines()
        for line, (part, own) in zip(token, embedding.contributions.items(), strict=False):
            assert line.startswith(f"  {part}: share ")
            norm = float(line.split("norm ")[1].split(",")[0])
            assert norm == pytest.approx(float(own.norm[i]), abs=1e-4)
