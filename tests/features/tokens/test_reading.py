"""Tokens & IDs in words, against its numbers: any texts, any tokenizer, then whole sentences."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.analysis.tokens import kinds, labels, source
from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import split_words
from contextlens.features.tokens.measures import Change, WordCut
from contextlens.features.tokens.reading import (
    back_reading,
    cut_reading,
    padding_note,
    row_reading,
    tokenizers_reading,
    tokens_reading,
    tokens_sure,
    twins_reading,
    vocabulary_reading,
)
from contextlens.ui.widgets.unread import unknown_reason
from tests.features.tokens.shown import plain
from tests.support.claims import read, unreached

N_MADE = 2000
MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert", "folder:bert")
WORDS = (
    *("the", "The", "python", "Python", "unmasked", "tokenizer", "naïve", "naive", "US", "us", "!"),
    *("🐍", "🍕", "👩‍👧", "蟒蛇", "שלי", "สวัสดี", "\x00", "\u200b", "[MASK]", "[UNK]", "x" * 120),
    *("don't", "3.14", "...", "  ", "\t", "ﬁne", "e\u0301", "zzyzx", "*b*", "İ", "a"),
)


# Any texts


@pytest.fixture(scope="module")
def tokenize(tiny_service: EncoderService) -> Callable[..., tuple[Tokens, Vocabulary]]:
    def made(model: str, text: str, pair: str | None = None, **more: Any) -> Any:
        pairs = None if pair is None else [pair]
        tokens = tiny_service.tokenize(model, [text], pairs=pairs, **more)[0]
        return tokens, tiny_service.vocabulary(model)

    return made


def odd_text(chance: random.Random) -> str:
    """Words drawn from a few, so that some repeat; sometimes none."""
    few = chance.sample(WORDS, chance.choice((1, 2, 6)))
    n = chance.choice((0, 1, 2, 5, 9))
    return chance.choice((" ", " ", "")).join(chance.choice(few) for _ in range(n))


def whole_words(tokens: Tokens) -> dict[tuple[int, int], list[int]]:
    """The tokens of each word, without words that were cut off, counted independently."""
    words = defaultdict(list)
    for i in np.flatnonzero(tokens.word_ids >= 0).tolist():
        words[int(tokens.text_ids[i]), int(tokens.word_ids[i])].append(i)
    for which, text in enumerate((tokens.text, tokens.pair or "")):
        rest = text[max(tokens.offsets[tokens.text_ids == which, 1].tolist(), default=0) :]
        if tokens.n_truncated and rest.strip():
            gone = len(text) - len(rest.lstrip())
            for i, (_, end) in enumerate(split_words(text)):
                if end > gone:
                    words.pop((which, i), None)
    return words


def written(tokens: Tokens, word: tuple[int, int]) -> str:
    text = (tokens.text, tokens.pair or "")[word[0]]
    return text[slice(*split_words(text)[word[1]])]


def assert_tokens(
    claims: list[Claim], sure: list[Claim], tokens: Tokens, own: Any, changes: list[Change]
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


def ids_of(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    ids: dict[str, tuple[int, ...]] = {}
    for word, positions in whole_words(tokens).items():
        ids.setdefault(written(tokens, word), tuple(tokens.token_ids[positions].tolist()))
    return ids


def both(words: Sequence[str]) -> str:
    return f"{quoted(words[0])} and {quoted(words[1])}"


def assert_twins(claims: list[Claim], tokens: Tokens, unknown_id: int | None) -> None:
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for word, ids in ids_of(tokens).items():
        groups[ids].append(word)
    twins = {ids: words for ids, words in groups.items() if len(words) > 1}
    known = [both(words) for ids, words in twins.items() if unknown_id not in ids]
    by_key = {claim.key.rpartition(".")[2]: claim.numbers for claim in claims}
    expected = {"known": bool(known), "unknown": len(known) < len(twins), "none": not twins}
    assert set(by_key) == {key for key, holds in expected.items() if holds}
    if known:
        assert by_key["known"]["n"] == len(known)
        assert by_key["known"]["words"] in known


def assert_both(claims: list[Claim], pair: list[Tokens], unknown: list[int | None]) -> None:
    counts = [int((t.text_ids >= 0).sum()) + t.n_truncated for t in pair]
    pieces = [[t.tokens[i] for i in range(t.n_tokens) if t.text_ids[i] >= 0] for t in pair]
    first, *differences = claims
    case = first.key.rpartition(".")[2]
    if case == "none":
        assert not any(counts)
    elif case == "same":
        assert pieces[0] == pieces[1]
        assert [first.numbers["n"]] * 2 == counts
    else:
        assert [first.numbers["n_a"], first.numbers["n_b"]] == counts
        assert (case == "as_many") == (counts[0] == counts[1] and pieces[0] != pieces[1])
    for claim in differences:
        side = "PQ".index(claim.numbers["name"])
        ours, theirs = ids_of(pair[side]), ids_of(pair[1 - side])
        merged = {both((a, b)): ours[a] for a in ours for b in ours
                  if ours[a] == ours[b] and theirs.get(a) != theirs.get(b)}  # fmt: skip
        is_unknown = unknown[side] in merged[claim.numbers["words"]]
        assert claim.key.endswith(".unknown" if is_unknown else ".merged")


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


def assert_back(claims: list[Claim], decoded: str, text: str, counts: dict[str, int]) -> None:
    first, *causes = claims
    case = first.key.rpartition(".")[2]
    assert (case == "empty") == (text == "")
    assert (case == "same") == (decoded == text != "")
    if case == "spaces":
        assert "".join(decoded.split()) == "".join(text.split())
        assert not any(counts.values())
    assert case != "nothing" or decoded == ""
    numbers = {claim.key.rpartition(".")[2]: claim.numbers["n"] for claim in causes}
    assert numbers == ({} if case in ("empty", "same") else {k: n for k, n in counts.items() if n})


@pytest.mark.slow
def test_every_sentence_is_true_of_any_text(
    tokenize: Callable[..., tuple[Tokens, Vocabulary]], tiny_service: EncoderService
) -> None:
    chance, said = random.Random(1), set()
    decode, normalize = tiny_service.decode, tiny_service.normalize
    for at in range(N_MADE):
        model, other = chance.sample(MODELS, 2)
        text, pair = odd_text(chance), chance.choice((None, None, odd_text(chance)))
        more = chance.choice(({}, {"max_length": chance.randint(5, 12)}, {"pad_to": 64}))
        tokens, vocabulary = tokenize(model, text, pair, **more)
        own, named = kinds(tokens, vocabulary), labels(tokens, vocabulary)
        unknown_id, name = vocabulary.unknown_id, "[UNK]"
        reasons = {
            i: str(unknown_reason(normalize(model, [source(tokens, i)])[0].strip(), vocabulary))
            for i, kind in enumerate(own)
            if kind == "unknown"
        }
        changes = [
            Change(way, before, after, chance.choice((1, 3)))
            for way, before, after in (("dropped", "\u200b", ""), ("accents", "í", "i"))
            if chance.random() < 0.3
        ]
        claims = tokens_reading(tokens, own, named, name, changes)
        sure = tokens_sure(tokens, own, reasons, name, changes)
        assert_tokens(claims, sure, tokens, own, changes)
        twins = twins_reading(tokens, unknown_id, name)
        assert_twins(twins, tokens, unknown_id)
        said |= read([*claims, *sure, *twins])
        if at % 4:
            continue
        decoded = decode(model, tokens.token_ids[tokens.text_ids == 0])
        counts = {
            "rewritten": chance.randrange(3),
            "unknown": own.count("unknown"),
            "lost": tokens.n_truncated,
        }
        back = back_reading(decoded, text, *counts.values())
        assert_back(back, decoded, text, counts)
        rival, rivals = tokenize(other, text)
        alone, _ = tokenize(model, text)
        unknown_ids = (unknown_id, rivals.unknown_id)
        compared = tokenizers_reading(alone, rival, ("P", "Q"), unknown_ids)
        assert_both(compared, [alone, rival], [*unknown_ids])
        query = chance.choice((*WORDS, " ", chance.choice(vocabulary.pieces) or "a"))
        cut, _ = tokenize(model, query)
        n_found = chance.randrange(3)
        looked = vocabulary_reading(query, cut, vocabulary, n_found=n_found, reason="why.")
        assert_looked_up(looked, query, cut, vocabulary, n_found)
        said |= read([*back, *compared, *looked])
    said |= read(made_by_hand(tokenize))
    names = ("tokens.column.", "tokens.kind.", "tokens.method.")  # tables that are read whole
    assert not [key for key in unreached("tokens", said) if not key.startswith(names)]


def made_by_hand(tokenize: Callable[..., tuple[Tokens, Vocabulary]]) -> list[Claim]:
    """Claims that no text gives with these tokenizers, or that need numbers alone."""
    note = padding_note(3, 7)
    assert note is not None
    assert padding_note(0, 7) is padding_note(7, 7) is padding_note(9, 7) is None
    claims = [note, row_reading("[UNK]", 100, 30_522, 384)]
    for n in (1, 2):
        tokens, _ = tokenize("folder:bert", " ".join(["a"] * n))
        alone = without_added(tokens)
        for which in (alone, without_added(tokens, pair="b")):
            claims += tokens_reading(which, ("token",) * n, ("a",) * n, "")[:1]
        claims += tokenizers_reading(tokens, tokens, ("P", "Q"), (None, None))
    claims += twins_reading(tokenize(BUNDLED_ID, "The the US us")[0], None, "")
    _, vocabulary = tokenize("folder:bert", "")
    _, unigram = tokenize("folder:albert", "")
    claims += [unknown_reason(text, vocabulary) for text in ("abc", "a" * 200, "🐍", "🐍🍕")]
    claims += [unknown_reason(text, unigram) for text in ("🐍", "🐍🍕")]
    for method in ("WordPiece", "BPE", "Unigram"):
        for parts, pieces, n_rows in ((1, 1, 0), (1, 2, 2), (2, 2, 2), (1, 1, 1)):
            rows: tuple[Any, ...] = ({"piece": "a"},) * n_rows
            claims.append(cut_reading(WordCut(("a",) * parts, ("a",) * pieces, rows), method))
    return [*claims, *back_reading("x", "y", 1, 1, 1), *back_reading("", "y", 2, 2, 2)]


def without_added(tokens: Tokens, pair: str | None = None) -> Tokens:
    """Tokens as a tokenizer without special tokens would give them."""
    own = np.flatnonzero(tokens.text_ids >= 0)
    arrays = {name: getattr(tokens, name)[own] for name in ("text_ids", "word_ids", "offsets")}
    return replace(tokens, pair=pair, tokens=tuple(tokens.tokens[i] for i in own), **arrays)


# Whole sentences


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
def test_a_text_is_told(tokenize: Callable[..., Any], text: str, expected: str) -> None:
    tokens, vocabulary = tokenize(BUNDLED_ID, text)
    names = labels(tokens, vocabulary)
    assert plain(tokens_reading(tokens, kinds(tokens, vocabulary), names, "[UNK]")) == expected


def test_two_unknown_words_are_called_unknown(tokenize: Callable[..., Any]) -> None:
    tokens, vocabulary = tokenize(BUNDLED_ID, "🐍 🍕 US us")
    assert plain(twins_reading(tokens, vocabulary.unknown_id, "[UNK]")) == (
        "“US” and “us” get the same token IDs, so the model cannot tell them apart. “🐍” and “🍕” "
        "are unknown to this tokenizer ([UNK]), so the model cannot tell them apart."
    )


def test_a_query_is_answered(tokenize: Callable[..., Any]) -> None:
    claims = vocabulary_reading("##an", *tokenize(BUNDLED_ID, "##an"), n_found=2, reason="")
    assert plain(claims) == (
        "“##an” is itself in the vocabulary, with the ID 2319. “##an” becomes 3 tokens: # (1001), "
        "# (1001), an (2019). 2 pieces in the list match it."
    )


def test_why_a_word_is_unknown(tokenize: Callable[..., Any]) -> None:
    _, vocabulary = tokenize(BUNDLED_ID, "")
    assert str(unknown_reason("🐍", vocabulary)) == (
        "🐍 (U+1F40D) is not in the vocabulary, so the whole word becomes one unknown token."
    )
    assert "U+200E is not" in str(unknown_reason("\u200e", vocabulary))
