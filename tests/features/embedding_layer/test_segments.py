"""Segment rows and a second text: what moves at layer 0, in numbers, words and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import (
    ALONE,
    MAX_MOVED_TOKENS,
    PAGE,
    PAIR,
    SEGMENT_ONLY,
    change_in,
)
from contextlens.features.embedding_layer.embedding_sum import other_texts
from contextlens.features.embedding_layer.segments import (
    Segments,
    segment_table,
    segments,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
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
from tests.support.tiny_models import ALL, NO_SEGMENT_TABLE


def changed(view: ViewState, service: EncoderService, change: str = PAIR) -> Segments:
    embedding = sum_of(view, service)
    other = next(iter(other_texts(view, embedding).values()))
    table = segment_table(embedding, service)
    return segments(embedding, other, service, table=table, change=change)


def test_a_second_text_moves_its_own_tokens_only(service: EncoderService) -> None:
    result = changed(DEFAULT, service)
    texts = [s.text for s in DEFAULT.sentences]
    both = service.embedding_parts(BUNDLED_ID, texts[0], pair=texts[1]).output[7:12]
    single = service.embedding_parts(BUNDLED_ID, texts[1]).output[1:6]
    expected = np.linalg.norm(both - single, axis=1) / np.linalg.norm(single, axis=1)
    assert (result.moved[:5] == 0).all()
    assert (result.moved[5:] > 0.1).all()
    np.testing.assert_allclose(result.moved[5:], expected, atol=1e-6)
    assert result.names == texts[0].lower().split() + texts[1].lower().split()


def test_without_a_second_text_nothing_moves_and_the_segment_alone_moves_less(
    service: EncoderService,
) -> None:
    assert not changed(DEFAULT, service, ALONE).moved.any()
    moved = changed(DEFAULT, service, SEGMENT_ONLY).moved
    assert moved.shape == (7,)
    assert (moved > 0).all()
    assert (moved < 0.3).all()


def test_a_long_first_text_leaves_room_for_the_second(service: EncoderService) -> None:
    result = changed(on("one two " * 40, "three four"), service)
    assert [result.text_ids[i] for i in result.drawn] == [0] * MAX_MOVED_TOKENS + [1, 1]
    assert [result.names[i] for i in result.drawn][-2:] == ["three", "four"]
    assert [note.numbers["n"] for note in result.notes()] == [MAX_MOVED_TOKENS]


def test_any_text_can_be_the_first(service: EncoderService) -> None:
    for text in TYPED.values():
        for change in (PAIR, SEGMENT_ONLY, ALONE):
            result = changed(on(text, "another text"), service, change)
            assert len(result.names) == len(result.moved)
            assert_no_markup(result.claims())


@pytest.mark.parametrize("family", ALL)
def test_a_family_exchanges_the_segment_rows_that_it_has(
    family: str, tiny_service: EncoderService
) -> None:
    sentences = (Sentence("the <pad> river", "a bank"), Sentence("the bank"))
    view = replace(DEFAULT, model=f"folder:{family}", sentences=sentences)
    table = changed(view, tiny_service).table
    assert (table is None) == (family in NO_SEGMENT_TABLE)
    n = 0 if table is None else len(table)
    assert (SEGMENT_ONLY in change_in(n).options) == (n > 1)
    if n == 1:
        assert {row["segment row"] for row in sum_of(view, tiny_service).rows()} == {0}
    for change in change_in(n).options:
        assert changed(view, tiny_service, change).change == change


def test_bars_have_a_scale_where_nothing_moved_too() -> None:
    moved = Segments(None, PAIR, ["a", "<b>"], [0, 1], np.array([0.2, 0.4])).figure()
    assert moved.layout.yaxis.range[1] == pytest.approx(0.46)
    assert moved.layout.xaxis.ticktext[1] == "&lt;b&gt;"
    still = Segments(None, ALONE, [], [], np.zeros(0)).figure()
    assert list(still.layout.yaxis.range) == [0, 0.1]


def check_segments(chance: Chance, draw: Draw) -> Iterator[Claim]:
    rows = draw.normal(size=(chance.choice((1, 2, 3)), 4)) * chance.choice((0, 1, 1, 1))
    table = rows if len(rows) > 1 or chance.random() < 0.5 else None
    n, change = chance.choice((0, 1, 2, 8, 30)), chance.choice((ALONE, PAIR, SEGMENT_ONLY))
    ids = np.sort(draw.integers(2, size=n))
    moved = draw.uniform(0, chance.choice((0, 0.004, 1, 3)), size=n)
    looked_at = Segments(table, change, ["x"] * n, ids.tolist(), moved)
    (result, segments), title = looked_at.claims(), looked_at.title()
    assert (looked_at.strips() is None) == (len(rows) < 2)
    verdict = segments.key.rpartition(".")[2]
    if len(rows) > 1:
        distances = np.linalg.norm([rows[0] - rows[1], rows[0], rows[1]], axis=1)
        assert list(segments.numbers.values()) == pytest.approx(distances)
        assert verdict == ("apart" if distances[0] else "equal")
    else:
        assert verdict == ("none" if table is None else "one")
    assert title.numbers["most"] == max(moved, default=0)
    assert title.key.endswith("moved" if moved.any() else "still")
    if change == ALONE or not n:
        assert result.key == f"{PAGE}.moved.{'alone' if change == ALONE else 'empty'}"
    elif change == SEGMENT_ONLY:
        assert result.numbers == {"share": pytest.approx(moved.mean())}
    else:
        names = dict(enumerate(("first", "second")))
        means = {names[i]: moved[ids == i].mean() for i in np.unique(ids)}
        assert result.numbers == pytest.approx(means)
        assert result.key.endswith("both" if len(means) == 2 else next(iter(means)))
    yield from [segments, result, title, *looked_at.notes()]


def test_every_claim_is_what_the_numbers_show_and_no_sentence_is_dead() -> None:
    keys = keys_of(check_segments, 500)
    assert not unreached(f"{PAGE}.segments", keys)
    assert not unreached(f"{PAGE}.moved", keys)


def test_the_finding_is_read_whole() -> None:
    result = Segments(None, PAIR, ["a", "b", "c"], [0, 1, 1], np.array([0.0, 0.2, 0.4]))
    assert str(result.claims()[0]) == (
        "Reading the texts as a pair changes the second text's tokens at layer 0 by **30%** of "
        "their length on average, the first text's by **0%**."
    )
