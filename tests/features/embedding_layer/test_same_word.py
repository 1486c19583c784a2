"""The word rows of two texts: which are equal, in numbers, words and picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import MAX_MATRIX_TOKENS, PAGE
from contextlens.features.embedding_layer.embedding_sum import other_texts
from contextlens.features.embedding_layer.same_word import (
    SameWord,
    SharedToken,
    same_word,
    shared_tokens,
)
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.embedding_layer.sums import (
    Chance,
    Draw,
    assert_no_markup,
    keys_of,
    on,
    sum_of,
)
from tests.support.claims import unreached
from tests.support.texts import TYPED


def beside(view: ViewState, service: EncoderService, name: str = "B") -> SameWord:
    embedding = sum_of(view, service)
    return same_word(embedding, other_texts(view, embedding)[name], ("A", name), service)


def test_the_same_word_has_the_same_row_in_two_sentences(service: EncoderService) -> None:
    embedding, result = sum_of(DEFAULT, service), beside(DEFAULT, service)
    assert {row["ID"] for row in result.rows()} >= {101, 102}
    assert {row["word rows differ by"] for row in result.rows()} == {0}
    assert [embedding.labels[s.first] for s in result.drawn_equal] == [
        "[CLS]", "i", "love", "python", "[SEP]",
    ]  # fmt: skip
    assert result.drawn_cosines.shape == (7, 7)
    assert -0.2 < result.band.low < result.band.mean < result.band.high < 0.6


def test_a_common_token_elsewhere_differs_at_layer_0_only(service: EncoderService) -> None:
    one = service.embedding_parts(BUNDLED_ID, "python is a language")
    other = service.embedding_parts(BUNDLED_ID, "a language is python")
    shared = shared_tokens(one, other)
    assert len(shared) == 6
    for token in shared:
        assert token.word == 0
        assert (token.output == 0) == (token.first == token.second)
    bare = replace(one, tokens=replace(one.tokens, token_ids=np.array([1, 2, 3, 4, 5, 6])))
    assert shared_tokens(one, bare) == []


def test_any_two_texts_are_compared(service: EncoderService) -> None:
    for text in TYPED.values():
        result = beside(on(text, "another text"), service)
        assert_no_markup(result.claims())
        is_cut = max(map(len, result.labels)) > MAX_MATRIX_TOKENS
        assert [note.numbers["n"] for note in result.notes()] == [MAX_MATRIX_TOKENS] * is_cut


def test_equal_rows_are_marked_in_the_matrix(service: EncoderService) -> None:
    result = beside(on("a <i>", "the <i>"), service)
    figure = result.figure()
    (trace,) = figure.data
    np.testing.assert_allclose(trace.z, result.drawn_cosines, atol=1e-5)
    marked = [(i, j) for i, row in enumerate(trace.text) for j, sign in enumerate(row) if sign]
    assert marked == [(0, 0), (2, 2), (3, 3), (4, 4), (5, 5)]
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert figure.layout.yaxis.ticktext[2] == "&lt;"
    assert [figure.layout[f"{axis}axis"].title.text for axis in "xy"] == ["B", "A"]


def check_same(bases: Sequence[SameWord], chance: Chance, draw: Draw) -> Iterator[Claim]:
    n, in_text = chance.choice((0, 1, 2, 20)), chance.random() < 0.5
    outputs = [chance.choice((0.0, 3e-7, 0.004, chance.random())) for _ in range(n)]
    words = [float(i == 0) * (chance.random() < 0.1) for i in range(n)]
    shared = [SharedToken(i, i, i, words[i], outputs[i]) for i in range(n)]
    result = replace(bases[in_text], shared=shared)
    claims, title = result.claims(), result.title()
    equal, moved = words.count(0), sum(output > 1e-5 for output in outputs)
    assert title.key == f"{PAGE}.same.title" + ("" if equal else "_none")
    assert title.numbers["n"] == equal
    names = ["rows" if equal == n else "differ", "moved" if moved else "still"]
    names = [*names, *([] if in_text else ["added"])] if n else ["none"]
    assert [claim.key for claim in claims] == [f"{PAGE}.same.{name}" for name in names]
    if n:
        assert claims[0].numbers == {"n": n, "equal": equal}
        assert claims[1].numbers == {"moved": moved, "n_shared": n}
    yield from [title, *claims]


def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead(
    service: EncoderService,
) -> None:
    bases = beside(on("a", "b"), service), beside(DEFAULT, service)
    keys = keys_of(partial(check_same, bases), 500)
    assert not unreached(f"{PAGE}.same", keys)
