"""Every sentence on the vocabulary and its rows is read back and holds, for any query."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.compute.looks import look_up
from components.features.tokens.compute.sentence import tokenized_sentence
from components.features.tokens.controls import KIND, KINDS, SEARCH
from components.features.tokens.reading.tokens import padding_note
from components.features.tokens.reading.vocabulary import (
    no_row_reading,
    row_reading,
    vocabulary_reading,
)
from tests.features.tokens.reading.odd_tokens import MODELS, WORDS
from tests.support.tokens import text_view
from tests.support.true_words import bare, cut, is_two, odd_labels

N = 2000


@pytest.mark.slow
def test_every_sentence_on_the_vocabulary_holds(tiny_service: EncoderService) -> None:
    chance = random.Random(3)
    for model in MODELS:
        opened = text_view("x", model=model)
        tokenized = tokenized_sentence(opened, tiny_service, tiny_service.load_tokenizer(model))
        vocabulary = tokenized.vocabulary
        words = [*WORDS, *chance.sample(list(filter(None, vocabulary.pieces)), 50), "", " "]
        for _ in range(20 if model == BUNDLED_ID else N // 8):  # its pieces are many
            query, kind = chance.choice(words), chance.choice(list(KINDS))
            view = SEARCH.put(KIND.put(text_view("x", model=model), kind), query)
            found = look_up(view, tiny_service, tokenized)
            said = bare(
                " ".join(
                    vocabulary_reading(
                        found.query, found.normalized, found.tokens, vocabulary,
                        n_found=len(found.ids), among=found.among,
                    )
                )
            )  # fmt: skip
            check_vocabulary(said, found.query, found.normalized, found.tokens, vocabulary, kind)


def check_vocabulary(said, query, normalized, tokens, vocabulary, kind) -> None:
    typed, seen = query.strip(), normalized.replace("▁", " ").strip()
    size, listed = f"{len(vocabulary.pieces):,}", KINDS[kind]
    of_kind = [i for i, own in enumerate(vocabulary.kinds)
               if vocabulary.pieces[i] and listed in ("all", own)]  # fmt: skip
    if not typed:
        n, be = len(of_kind), "is" if len(of_kind) == 1 else "are"
        assert said == f"The vocabulary has {size} pieces; {n:,} of them {be} listed."
        return
    begins = [q for q in (typed, seen) if q]
    n = sum(
        any(vocabulary.pieces[i].startswith(q) or vocabulary.texts[i].startswith(q) for q in begins)
        for i in of_kind
    )
    ways = [f"Ġ{typed}", f"▁{typed}", typed, f"##{typed}"]
    there = [way for way in ways if way in vocabulary.ids]
    assert ("is not in the vocabulary." in said.split(" It ")[0][: len(cut(typed)) + 40]) == (
        not there
    )
    for way in there[:2]:
        assert f"“{cut(way)}” is ID {vocabulary.ids[way]}" in said
    among = f"of those under “{kind}”" if listed != "all" else f"of {size} pieces"
    verb = "begins" if n == 1 else "begin"
    also = ", as typed or as read" if seen != typed else ""
    assert said.endswith(f"{n:,} {among} {verb} with it{also}.")
    own = tokens.token_ids[tokens.text_ids >= 0].tolist()
    if f"It is cut into {len(own) + tokens.n_truncated:,} tokens: " in said:
        assert len(own) > 1
    else:
        assert len(own) < 2
    if "The tokenizer drops it." in said:
        assert not seen
        assert not own


def test_every_sentence_on_a_row_and_on_padding_holds() -> None:
    chance, draw = random.Random(4), np.random.default_rng(4)
    for _ in range(N // 4):
        row = (draw.normal(size=chance.choice((3, 8))) * chance.choice((0, 0.001, 1))).astype("f4")
        (label,), i, n = odd_labels(chance, 1), chance.randrange(99), chance.randint(100, 99_999)
        (said,) = map(bare, row_reading(label, i, n, row))
        found = re.fullmatch(
            r"“(?P<label>[^”]*)” has the ID (\d+), so the model takes row (\d+) of its table of "
            r"([\d,]+) rows: (\d+) numbers that begin (\S+), (\S+), (\S+) \(norm (\S+)\)\.", said
        )  # fmt: skip
        name, one, again, size, dims, *values, norm = found.groups()
        assert (name, int(one), int(again)) == (cut(label), i, i)
        assert (int(size.replace(",", "")), int(dims)) == (n, len(row))
        assert all(is_two(v, x) for v, x in zip(values, row, strict=False))
        assert is_two(norm, np.sqrt((row.astype(float) ** 2).sum()))
        assert no_row_reading(n, i).startswith(f"ID {n} has no row: the table of this model ends "
                                               f"at row {i}, ")  # fmt: skip
        asked = chance.randrange(9)
        note = padding_note(asked, 5)
        assert bool(note) == (0 < asked < 5)
        assert not note or (f"to {asked} was asked" in note and "are 5 tokens" in note)
