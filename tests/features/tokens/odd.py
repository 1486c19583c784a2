"""Odd texts as several tokenizers cut them, and their words counted independently."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import split_words

MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert", "folder:bert")
WORDS = (
    *("the", "The", "python", "Python", "unmasked", "tokenizer", "naïve", "naive", "US", "us", "!"),
    *("🐍", "🍕", "👩‍👧", "蟒蛇", "שלי", "สวัสดี", "\x00", "\u200b", "[MASK]", "[UNK]", "x" * 120),
    *("don't", "3.14", "...", "  ", "\t", "ﬁne", "e\u0301", "zzyzx", "*b*", "İ", "a"),
)


def tokenize(
    service: EncoderService, model: str, text: str, pair: str | None = None, **more: Any
) -> tuple[Tokens, Vocabulary]:
    pairs = None if pair is None else [pair]
    tokens = service.tokenize(model, [text], pairs=pairs, **more)[0]
    return tokens, service.vocabulary(model)


def odd_tokens(
    service: EncoderService, n: int
) -> Iterator[tuple[random.Random, str, Tokens, Vocabulary]]:
    """Texts and pairs, some of them cut or padded, and the models that cut them."""
    chance = random.Random(1)
    for _ in range(n):
        model = chance.choice(MODELS)
        text, pair = odd_text(chance), chance.choice((None, None, odd_text(chance)))
        more = chance.choice(({}, {"max_length": chance.randint(5, 12)}, {"pad_to": 64}))
        yield chance, model, *tokenize(service, model, text, pair, **more)


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
