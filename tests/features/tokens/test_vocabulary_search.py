"""The vocabulary: a search beside its facts, and the steps that cut a word beside their rules."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.features.tokens.controls import KIND, KINDS, PAD, SEARCH
from contextlens.features.tokens.vocabulary_search import (
    LookUp,
    WordCut,
    explain_cut,
    look_up,
)
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.unread import unknown_reason
from tests.features.tokens.odd import WORDS as ODD_WORDS
from tests.features.tokens.odd import odd_tokens, tokenize
from tests.features.tokens.shown import plain, shown
from tests.support.claims import read, unreached
from tests.support.tokens import text_view

OTHER_KINDS = [f"folder:{kind}" for kind in ("roberta", "albert", "mpnet", "electra")]
FACTS = json.loads((Path(__file__).parents[2] / "data" / "bert_facts.json").read_text("utf-8"))

# The search


def test_the_vocabularys_facts_are_shown(service: EncoderService) -> None:
    known = FACTS["vocabulary"]
    tokenized = shown(DEFAULT, service)
    assert len(tokenized.vocabulary.pieces) == known["size"]
    for piece, token_id in known["ids"].items():
        assert token_id in look_up(SEARCH.put(DEFAULT, piece), service, tokenized).ids
        assert tokenized.vocabulary.pieces[token_id] == piece
    assert len(look_up(SEARCH.put(DEFAULT, " "), service, tokenized).ids) == known["size"]
    tokens = shown(PAD.put(text_view("I love Paris"), 7), service).tokens
    assert set(tokens.token_ids[5:].tolist()) == {known["pad_id"]}


@pytest.mark.parametrize(
    ("kind", "n_all"), [("Words", 30522 - 5828 - 5), ("Continuations", 5828), ("Special", 5)]
)
def test_the_vocabulary_is_browsed_by_kind(service: EncoderService, kind: str, n_all: int) -> None:
    tokenized = shown(DEFAULT, service)
    vocabulary, view = tokenized.vocabulary, KIND.put(DEFAULT, kind)
    for token_id in look_up(SEARCH.put(view, "an"), service, tokenized).ids:
        assert vocabulary.kinds[token_id] == KINDS[kind]
        assert vocabulary.texts[token_id].startswith("an")
    assert len(look_up(SEARCH.put(view, " "), service, tokenized).ids) == n_all


@pytest.mark.parametrize(
    ("text", "token", "word"),
    [("Sinan naps", 2, "Sinan"), ("Sinan naps", 0, "[CLS]"), ("x", 4, "Naïve")],
)
def test_the_word_of_the_picked_token_is_looked_up(
    service: EncoderService, text: str, token: int, word: str
) -> None:
    view = text_view(text, "(Naïve)" if text == "x" else None, pad=9, token=token)
    result = look_up(view, service, shown(view, service))
    assert result.query == word
    assert result.ids == look_up(SEARCH.put(view, word), service, shown(view, service)).ids
    assert (result.cut is None) == word.startswith("[")


@pytest.mark.parametrize("model", [BUNDLED_ID, *OTHER_KINDS])
def test_a_picked_word_is_cut_as_it_is_in_its_text(
    tiny_service: EncoderService, model: str
) -> None:
    text = "tokens love nanorobots unbelievably tokens"
    words = shown(text_view(text, model=model), tiny_service).tokens.word_ids
    for position in np.flatnonzero(words >= 0).tolist():
        view = text_view(text, model=model, token=position)
        tokenized = shown(view, tiny_service)
        result = look_up(view, tiny_service, tokenized)
        in_text = tokenized.tokens.token_ids[words == words[position]].tolist()
        assert result.tokens.token_ids[result.tokens.word_ids >= 0].tolist() == in_text
        assert result.cut is not None


def assert_looked_up(
    claims: list[Claim], query: str, tokens: Tokens, vocabulary: Vocabulary, n_found: int
) -> None:
    *pieces, matches = claims
    if not query.strip():
        assert not pieces
        assert matches.numbers == {"size": len(vocabulary.pieces), "listed": n_found}
        return
    assert matches.numbers["n"] == n_found
    own = tokens.token_ids[tokens.text_ids >= 0].tolist()
    case, n = pieces[-1].key.rpartition(".")[2], len(own) + tokens.n_truncated
    if n == 1:
        assert case == ("unknown" if own[0] == vocabulary.unknown_id else "token")
        assert pieces[-1].numbers["token_id"] == own[0]
    else:
        assert case == ("cut" if n else "dropped")
        assert pieces[-1].numbers.get("n", 0) == n
    if len(pieces) > 1:
        token_id = pieces[0].numbers["token_id"]
        assert vocabulary.pieces[token_id] == query.strip()
        assert own != [token_id]


def test_every_claim_is_true_of_any_query_and_none_is_dead(tiny_service: EncoderService) -> None:
    keys: set[str] = set()
    for chance, model, _, vocabulary in odd_tokens(tiny_service, 500):
        query = chance.choice((*ODD_WORDS, " ", chance.choice(vocabulary.pieces) or "a"))
        tokens, _ = tokenize(tiny_service, model, query)
        n_found = chance.randrange(3)
        claims = LookUp(query, query, tokens, [*range(n_found)], None, vocabulary).claims()
        assert_looked_up(claims, query, tokens, vocabulary, n_found)
        keys |= read(claims)
    assert not unreached("tokens.vocabulary", keys)


def test_a_query_is_answered(service: EncoderService) -> None:
    tokens, vocabulary = tokenize(service, BUNDLED_ID, "##an")
    assert plain(LookUp("##an", "##an", tokens, [1, 2], None, vocabulary).claims()) == (
        "“##an” is itself in the vocabulary, with the ID 2319. “##an” becomes 3 tokens: # (1001), "
        "# (1001), an (2019). 2 pieces in the list match it."
    )


def test_the_reason_why_a_word_is_unknown(tiny_service: EncoderService) -> None:
    vocabulary, unigram = map(tiny_service.vocabulary, (BUNDLED_ID, "folder:albert"))
    assert str(unknown_reason("🐍", vocabulary)) == (
        "🐍 (U+1F40D) is not in the vocabulary, so the whole word becomes one unknown token."
    )
    assert "U+200E is not" in str(unknown_reason("\u200e", vocabulary))
    texts = ("abc", "a" * 200, "🐍", "🐍🍕")
    assert read(unknown_reason(text, own) for text in texts for own in (vocabulary, unigram))


# The cut of a word

MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert")
"""One of each kind: WordPiece, byte-pair encoding, Unigram."""
WORDS = ("Sinan", "nanorobots", "naïve", "the", "tokenization", "don't", "3.14", "x" * 30, "蟒蛇")

few_signs = st.text(st.sampled_from("aeinorstTHE ubglyé'-3🐍"), min_size=1, max_size=24)


def explained(service: EncoderService, model: str, text: str) -> tuple[WordCut | None, Tokens]:
    tokens = service.tokenize(model, [text])[0]
    return explain_cut(tokens, service.vocabulary(model), service.cut_rules(model)), tokens


@settings(max_examples=150)
@given(st.sampled_from(WORDS) | few_signs, st.sampled_from(MODELS))
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
    assert cut.claim("WordPiece").key == f"tokens.why.{case}"
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
    assert cut.claim("BPE").key == f"tokens.why.{case}"


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
    assert cut.claim("Unigram").key == f"tokens.why.{case}"


def ways(word: str, vocabulary: Vocabulary) -> Iterator[tuple[str, ...]]:
    """Every way to put a word together from pieces of a vocabulary."""
    if not word:
        yield ()
    for end in range(1, len(word) + 1):
        piece_id = vocabulary.ids.get(word[:end])
        if piece_id is not None and vocabulary.kinds[piece_id] != "special":
            yield from ((word[:end], *rest) for rest in ways(word[end:], vocabulary))


def test_every_method_has_its_claims_and_none_is_dead() -> None:
    claims: list[Claim] = []
    for method in ("WordPiece", "BPE", "Unigram"):
        for parts, pieces, n_rows in ((1, 1, 0), (1, 2, 2), (2, 2, 2), (1, 1, 1)):
            rows: tuple[Any, ...] = ({"piece": "a"},) * n_rows
            claims.append(WordCut(("a",) * parts, ("a",) * pieces, rows).claim(method))
    assert not unreached("tokens.why", read(claims))
