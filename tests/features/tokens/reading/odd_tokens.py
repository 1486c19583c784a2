"""Odd texts for tokenizers, and what becomes of their words, counted another way."""

from __future__ import annotations

import random
from collections import defaultdict

from hypothesis import strategies as st

from components.core import BUNDLED_ID
from components.core.schema import Tokens
from components.core.words import split_words

__all__ = ["MODELS", "WORDS", "ids_of", "odd_text", "texts", "whole_words", "written"]

MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert", "folder:bert")
WORDS = (
    *("the", "The", "THE", "python", "Python", "tokenizer", "unmasked", "naïve", "naive", "US"),
    *(
        "us",
        "🐍",
        "👩‍👧",
        "🇺🇦",
        "蟒蛇",
        "שלי",
        "مرحبا",
        "สวัสดี",
        "\x00",
        "\u200b",
        "\ufffd",
        "[MASK]",
    ),
    *(
        "[UNK]",
        "x" * 120,
        "don't",
        "3.14",
        "!",
        "...",
        "  ",
        "\t",
        "ﬁne",
        "e\u0301",
        "zzyzx",
        "*b*",
    ),
)

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def odd_text(chance: random.Random) -> str:
    """Some words of few, so that they stand there again; now and then none."""
    few = chance.sample(WORDS, chance.choice((1, 2, 6)))
    return chance.choice((" ", " ", "")).join(
        chance.choice(few) for _ in range(chance.choice((0, 1, 2, 5, 9)))
    )


def whole_words(tokens: Tokens) -> tuple[dict[tuple[int, int], list[int]], set[tuple[int, int]]]:
    """The tokens of each word, and the words whose end did not fit: counted another way."""
    found = defaultdict(list)
    for i in range(tokens.n_tokens):
        if tokens.word_ids[i] >= 0:
            found[int(tokens.text_ids[i]), int(tokens.word_ids[i])].append(i)
    cut_off = set()
    for which, text in enumerate((tokens.text, tokens.pair or "")):
        ends = [int(tokens.offsets[i, 1]) for i in range(tokens.n_tokens)
                if tokens.text_ids[i] == which]  # fmt: skip
        rest = text[max(ends, default=0) :]
        if tokens.n_truncated and rest.strip():
            gone = len(text) - len(rest.lstrip())
            spans = enumerate(split_words(text))
            cut_off |= {(which, i) for i, (_, end) in spans if end > gone}
    return found, cut_off


def written(tokens: Tokens, word: tuple[int, int]) -> str:
    text = (tokens.text, tokens.pair or "")[word[0]]
    return text[slice(*split_words(text)[word[1]])]


def ids_of(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    by_word, cut_off = whole_words(tokens)
    found = {}
    for word, at in by_word.items():
        if word not in cut_off:
            found.setdefault(written(tokens, word), tuple(tokens.token_ids[at].tolist()))
    return found
