"""Every sentence on sorting and on the limit is read back and holds, for any lengths."""

from __future__ import annotations

import random
import re

import numpy as np

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Tokens
from components.features.masks.compute import over_limit
from components.features.masks.measures.laboratory import saving
from components.features.masks.reading.limits import (
    cut_title,
    limit_reading,
    limit_title,
    saving_reading,
    saving_title,
)
from tests.support.true_words import PERCENT, bare, cut, is_percent, odd_labels

N = 2000


def test_every_sentence_on_sorting_holds() -> None:
    chance = random.Random(2)
    for _ in range(N):
        lengths = [
            chance.randrange(1, chance.choice((2, 5, 90))) for _ in range(chance.randint(1, 9))
        ]
        size = chance.choice((1, 2, 4, 8))
        given, ordered = (
            sum(len(some) * max(some) for some in batched(each, size))
            for each in (lengths, sorted(lengths, reverse=True))
        )
        before, after = (1 - sum(lengths) / n for n in (given, ordered))
        found = saving(lengths, size)
        title, said = saving_title(found), bare(saving_reading(found, len(lengths)))
        first, second, *saved = re.findall(PERCENT, said)
        assert is_percent(first, before)
        assert is_percent(second, after)
        assert bool(saved) == (ordered < given) == ("saves nothing" not in said)
        assert not saved or is_percent(saved[0], 1 - ordered / given)
        shown = re.findall(PERCENT, title)
        assert shown[-1] == second
        assert ("cuts" in title) == (ordered < given and first != second)
        assert len(shown) == 1 + ("cuts" in title)
        assert ("nothing" in title) == (ordered >= given)


def batched(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[i : i + size] for i in range(0, len(lengths), size)]


def test_every_sentence_on_the_limit_holds() -> None:
    chance = random.Random(3)
    for _ in range(N):
        limit, lost = chance.choice((3, 64, 1512)), chance.choice((0, 0, 1, 2, 1090))
        kept = limit if lost else chance.choice((2, limit - 1, limit))
        rows, first = chance.choice((None, limit, 2 * limit)), chance.choice((0, 1, 2))
        rows = rows and rows + first
        row, text = np.zeros(kept, np.int64), " ".join(odd_labels(chance, 9))
        end = chance.choice((0, len(text) // 2, len(text)))
        tokens = Tokens(text, None, ("x",) * kept, row, row + 1, None,
                        np.array([1, 1] + [0] * (kept - 2)), np.full((kept, 2), end), row, row,
                        lost)  # fmt: skip
        said = bare(" ".join(limit_reading(tokens, limit, rows, first)))
        assert said.startswith(f"This text has {kept + lost:,} tokens. The model takes {limit:,}")
        assert limit_title(limit) == f"What happens to token {limit + 1}?"
        title = cut_title(tokens)
        assert title.startswith(f"{kept + lost:,} tokens:" if lost else f"All {kept:,} tokens fit")
        if not lost:
            free = limit - kept
            assert ("exactly full" in said) == (free == 0)
            assert (f"so {free:,} position{'s stay' if free > 1 else ' stays'} free" in said) == (
                free > 0
            )
            continue
        assert f"{lost:,} {'is' if lost == 1 else 'are'} cut off" in title
        assert f"so its last {lost:,} {'is' if lost == 1 else 'are'} cut off" in said
        rest = text[end:]
        assert (f", from “{cut(rest, 40)}” on" in said) == bool(rest.strip())
        assert ("no position" in said) == (rows is not None and rows - first == limit)
        assert ("tokenizer stops there" in said) == (rows is not None and rows - first > limit)
        assert ("for no place in a text" in said) == ("no position" in said and first > 0)


# Through the model


def test_the_limit_is_told_of_the_model_s_own_table(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python"])[0]
    found = over_limit(service, service.load(BUNDLED_ID), tokens, 600)
    assert (found.position_rows, found.first_row, found.limit) == (512, 0, 512)
    said = limit_reading(found.tokens, found.limit, found.position_rows, found.first_row)
    assert said[1] == "The model has no position 513: its table of position vectors has 512 rows."
