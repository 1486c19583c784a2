"""Every sentence and title of Attention, read back and checked against its numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from components.core import EncoderService
from components.features.attention.controls import DIRECTIONS, SCOPES, SPECIALS
from components.features.attention.measures.grid import Grid, Item
from components.features.attention.measures.selection import Selection
from components.ui.state.view import Sentence
from tests.features.attention.reading.true_attention import Page
from tests.features.attention.shown import seen
from tests.support.leading import odd_values
from tests.support.texts import TYPED
from tests.support.true_words import odd_labels

N_MADE = 2000
HABITS = ("previous", "next", "first", "separators", "word")


def odd_items(chance: random.Random, n: int, hidden: int) -> tuple[Item, ...]:
    kinds = [
        chance.choice(("token", "token", "token", "continuation", "padding")) for _ in range(n)
    ]
    labels = odd_labels(chance, n)
    return tuple(
        Item(label, (hidden + 2 * i,), kind, 0)  # type: ignore[arg-type]
        for i, (label, kind) in enumerate(zip(labels, kinds, strict=True))
    )


def odd_page(chance: random.Random) -> Page:
    numbers = np.random.default_rng(chance.randrange(2**32))
    hidden = chance.choice((0, 0, 2))
    rows = odd_items(chance, chance.choice((1, 2, 3, 5, 8)), hidden)
    columns = rows if chance.random() < 0.8 else odd_items(chance, chance.choice((1, 2, 4)), hidden)
    weights = odd_values(numbers, len(rows), len(columns)) * chance.choice((1, 1, 0.05, 0.001))
    weights[:, [i for i, item in enumerate(columns) if item.kind == "padding"]] = 0
    shares = dict(zip(HABITS, odd_values(numbers, 5).tolist(), strict=True))
    even = dict.fromkeys(HABITS, chance.choice((0.33, 0.14, 1 / 512)))
    separator = chance.choice(("[SEP]", "</s>"))
    selection = Selection(
        scope=chance.choice(list(SCOPES.values())),
        layer=chance.choice((1, 2, 12)),
        head=chance.randrange(12),
        shares=shares,
        even=even,
        names={"first": "[CLS]", "separators": separator},
        trained=chance.random() < 0.8,
    )
    grid = Grid(rows, columns, weights.astype(np.float32), tuple(range(hidden)), hidden > 0)
    side = chance.choice(("from", "to"))
    return Page(selection, grid, (side, chance.randrange(len(rows if side == "from" else columns))))


@pytest.mark.slow
def test_every_sentence_is_true_of_any_weights() -> None:
    chance = random.Random(7)
    for _ in range(N_MADE):
        odd_page(chance).assert_true()


TEXTS = [*(text for text in TYPED.values() if len(text) < 60), "the cat the dog the", "a a a a"]


@pytest.mark.slow
@pytest.mark.parametrize("show", SCOPES)
def test_every_sentence_is_true_of_the_model_s_own_weights(
    service: EncoderService, show: str
) -> None:
    ways = [(special, unit) for special in SPECIALS for unit in ("Tokens", "Words")]
    for i, text in enumerate(TEXTS):
        special, unit = ways[i % len(ways)]
        sentence = Sentence(text, "a python" if i % 3 == 0 else None)
        attention = seen(
            service, sentence, show=show, special=special, unit=unit, layer=i % 6 + 1,
            side=("from", "to")[i % 2], token=i % 5, pad=12 * (i % 4 == 0),
            direction=list(DIRECTIONS)[i % 3],
        )  # fmt: skip
        Page(attention.selection, attention.grid, attention.picked).assert_true()
