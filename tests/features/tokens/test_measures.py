"""A tokenizer's steps are its rules, and what it rewrites and loses, for any text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.features.tokens.measures import (
    Change,
    Stretch,
    WordCut,
    explain_cut,
    find_changes,
    split_by_fate,
)
from contextlens.features.tokens.reading import cut_reading

MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert")
"""One of each kind: WordPiece, byte-pair encoding, Unigram."""
WORDS = ("Sinan", "nanorobots", "naïve", "the", "tokenization", "don't", "3.14", "x" * 30, "蟒蛇")

few_signs = st.text(st.sampled_from("aeinorstTHE ubglyé'-3🐍"), min_size=1, max_size=24)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


# The cut of a word


def explained(service: EncoderService, model: str, text: str) -> tuple[WordCut | None, Tokens]:
    tokens = service.tokenize(model, [text])[0]
    return explain_cut(tokens, service.vocabulary(model), service.cut_rules(model)), tokens


@pytest.mark.parametrize("model", MODELS)
def test_words_are_explained(tiny_service: EncoderService, model: str) -> None:
    for text in WORDS:
        cut, tokens = explained(tiny_service, model, text)
        assert cut is not None or tiny_service.vocabulary(model).unknown_id in tokens.token_ids


@settings(max_examples=150)
@given(few_signs, st.sampled_from(MODELS))
def test_the_steps_are_the_rules(tiny_service: EncoderService, text: str, model: str) -> None:
    cut, tokens = explained(tiny_service, model, text)
    vocabulary = tiny_service.vocabulary(model)
    words = [tokens.token_ids[tokens.word_ids == i].tolist() for i in set(tokens.word_ids) - {-1}]
    known = [ids for ids in words if all(vocabulary.kinds[i] != "special" for i in ids)]
    if cut is None:  # byte-pair encoding takes "'t" off before it merges, as in "'tis"
        assert not known or (model == MODELS[1] and "'" in text)
        return
    assert known
    pieces = [vocabulary.ids[piece] for piece in cut.pieces]
    assert pieces in known
    assert len(pieces) == max(map(len, known))
    if model == MODELS[0]:
        check_longest_first(cut, vocabulary)
    elif model == MODELS[1]:
        check_merged(cut, dict(tiny_service.cut_rules(model).merges))
    else:
        check_most_probable(cut, vocabulary, tiny_service.cut_rules(model).scores)


def check_longest_first(cut: WordCut, vocabulary: Vocabulary) -> None:
    rest, left = "", list(cut.parts)
    for row, piece in zip(cut.rows, cut.pieces, strict=True):
        mark = "##" if rest else ""
        rest = rest or left.pop(0)
        assert row["rest"] == rest
        assert row["piece"] == piece
        n = len(piece.removeprefix(mark))
        longer = [mark + rest[:end] for end in range(n + 1, len(rest) + 1)]
        assert row["tried"] == len(longer)
        assert not vocabulary.ids.keys() & set(longer)
        rest = rest[n:]
    assert (rest, left) == ("", [])
    case = "split" if len(cut.parts) > 1 else "whole" if len(cut.pieces) == 1 else "longest"
    assert cut_reading(cut, "WordPiece").key == f"tokens.why.{case}"
    for part in cut.parts:  # punctuation stands alone
        assert len(part) == 1 or not re.search(r"[^\w]", part)


def check_merged(cut: WordCut, merges: dict[tuple[str, str], int]) -> None:
    parts = list(cut.word)
    for row in cut.rows:
        here = {pair: merges[pair] for pair in pairwise(parts) if pair in merges}
        pair = min(here, key=lambda p: here[p])
        assert row["merged"] == " + ".join(pair)
        assert row["place"] == merges[pair] + 1
        at = list(pairwise(parts)).index(pair)
        parts[at : at + 2] = ["".join(pair)]
        assert row["then"] == " ".join(parts)
    assert tuple(parts) == cut.pieces
    assert not [pair for pair in pairwise(parts) if pair in merges]
    case = "merged" if set(pairwise(cut.word)) & merges.keys() else "bytes"
    assert cut_reading(cut, "BPE").key == f"tokens.why.{case}"


def check_most_probable(cut: WordCut, vocabulary: Vocabulary, scores: tuple[float, ...]) -> None:
    if len(cut.word) > 14:
        return
    every = sorted(
        sum(scores[vocabulary.ids[p]] for p in way) for way in ways(cut.word, vocabulary)
    )
    shown = [float(row["score"]) for row in cut.rows]
    assert len(shown) == min(4, len(every))
    assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(shown, every[::-1], strict=False))
    assert cut.rows[0]["cut"] == " ".join(cut.pieces)
    case = "only" if len(every) == 1 else "probable"
    assert cut_reading(cut, "Unigram").key == f"tokens.why.{case}"


def ways(word: str, vocabulary: Vocabulary) -> Iterator[tuple[str, ...]]:
    """Every way to put a word together from pieces of a vocabulary."""
    if not word:
        yield ()
    for end in range(1, len(word) + 1):
        piece_id = vocabulary.ids.get(word[:end])
        if piece_id is not None and vocabulary.kinds[piece_id] != "special":
            yield from ((word[:end], *rest) for rest in ways(word[end:], vocabulary))


# What is rewritten


@pytest.fixture(scope="module")
def changes(service: EncoderService) -> Callable[[str], list[Change]]:
    """Finds the bundled tokenizer's changes to a text."""

    def ask(text: str) -> list[Change]:
        tokens = service.tokenize(BUNDLED_ID, [text])[0]
        vocabulary = service.vocabulary(BUNDLED_ID)
        return find_changes(tokens, vocabulary, 0, partial(service.normalize, BUNDLED_ID))

    return ask


def parts(service: EncoderService, text: str, **options: int) -> list[Stretch]:
    tokens = service.tokenize(BUNDLED_ID, [text], **options)[0]
    normalize = partial(service.normalize, BUNDLED_ID)
    return split_by_fate(tokens, service.vocabulary(BUNDLED_ID), 0, normalize)


def test_capitals_and_accents_are_told_apart_and_counted(
    changes: Callable[[str], list[Change]],
) -> None:
    assert changes("Zoë ordered a CRÈME BRÛLÉE in Málaga") == [
        Change("capitals", "Z", "z", 10),
        Change("accents", "ë", "e", 5),
    ]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("e\u0301", ["accents"]),
        ("É", ["accents"]),
        ("\x00", ["dropped"]),
        ("a\tb\u00a0c", ["spaces"]),
        ("한", ["other"]),
        ("plain words, and  signs! 漢字 [CLS] [MASK]", []),
    ],
)
def test_each_kind_of_change_has_its_name(
    changes: Callable[[str], list[Change]], text: str, ways: list[str]
) -> None:
    assert [change.way for change in changes(text)] == ways


def test_unknown_and_lost_parts_are_marked(service: EncoderService) -> None:
    assert [part.fate for part in parts(service, "my [MASK] a")] == ["kept"]
    assert parts(service, "My 🐍 ate the red pizza", max_length=6) == [
        Stretch("M", "rewritten"),
        Stretch("y ", "kept"),
        Stretch("🐍", "unknown"),
        Stretch(" ate the ", "kept"),
        Stretch("red pizza", "lost"),
    ]


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "albert"])
@settings(deadline=None)
@given(text=texts)
@example("Café 🐍 ½ İs\t한 e\u0301")
def test_the_parts_are_the_whole_text_and_agree_with_the_changes(
    tiny_service: EncoderService, family: str, text: str
) -> None:
    model = f"folder:{family}"
    tokens = tiny_service.tokenize(model, [text], pairs=[text], max_length=20)[0]
    asked = tiny_service.vocabulary(model), 1, partial(tiny_service.normalize, model)
    found = split_by_fate(tokens, *asked)
    assert "".join(part.text for part in found) == text
    assert all(one.fate != two.fate for one, two in pairwise(found))
    assert all(part.text for part in found)
    counted = sum(change.count for change in find_changes(tokens, *asked))
    assert (counted > 0) == any(part.fate == "rewritten" for part in found)
    assert ("lost" in {part.fate for part in found}) <= (tokens.n_truncated > 0)


@settings(deadline=None)
@given(text=texts)
def test_what_is_all_kept_comes_back_but_for_spaces(service: EncoderService, text: str) -> None:
    tokens = service.tokenize(BUNDLED_ID, [text])[0]
    if {part.fate for part in parts(service, text)} <= {"kept"}:
        decoded = service.decode(BUNDLED_ID, tokens.token_ids[tokens.text_ids == 0])
        assert "".join(decoded.split()) == "".join(text.split())


def test_bytes_keep_everything(tiny_service: EncoderService) -> None:
    model, text = "folder:roberta", "É\ta\u00a0한  "
    tokens, vocabulary = tiny_service.tokenize(model, [text])[0], tiny_service.vocabulary(model)
    fates = split_by_fate(tokens, vocabulary, 0, partial(tiny_service.normalize, model))
    assert fates == [Stretch(text, "kept")]
