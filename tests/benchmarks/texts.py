"""Sentences of mixed lengths, made from the ones that ship with the app; a seed decides them."""

from __future__ import annotations

import random
from collections.abc import Callable

from contextlens.content.bundled_texts import baseline_sentences

__all__ = ["WARM_UP", "mixed_sentences", "sentences_of", "short_sentences"]

WARM_UP = 1_000_000
"""A seed that no round has. (`random` takes -1 for 1.)"""


def mixed_sentences(n: int, seed: int) -> list[str]:
    """`n` different texts of about 23 tokens on average, a few of 100 to 300."""
    return _different(n, random.Random(seed), _mixed)


def short_sentences(n: int, seed: int) -> list[str]:
    """`n` different texts of 6 to 16 words."""
    return _different(n, random.Random(seed), _short)


def sentences_of(n: int, seed: int, *, words: tuple[int, int]) -> list[str]:
    """`n` different texts with a number of words between two bounds."""
    return _different(n, random.Random(seed), lambda dice: _words(dice, dice.randint(*words)))


def _different(n: int, dice: random.Random, make: Callable[[random.Random], str]) -> list[str]:
    texts: dict[str, None] = {}
    while len(texts) < n:
        texts[make(dice)] = None
    return list(texts)


def _mixed(dice: random.Random) -> str:
    draw = dice.random()
    if draw < 0.02:
        wanted = dice.randint(85, 230)  # words; a fifth more tokens
    elif draw < 0.2:
        wanted = dice.randint(20, 40)
    else:
        wanted = dice.randint(4, 17)
    return _words(dice, wanted)


def _short(dice: random.Random) -> str:
    return _words(dice, dice.randint(6, 16))


def _words(dice: random.Random, wanted: int) -> str:
    """Sentences joined until there are enough words, the last one cut."""
    words: list[str] = []
    while len(words) < wanted:
        words += dice.choice(baseline_sentences()).split()
    return " ".join(words[:wanted])
