"""The concordance: sorted, selected and paged."""

from __future__ import annotations

import numpy as np

from contextlens.core import EncoderService
from contextlens.features.senses.concordance import concordance, concordance_rows, lines_at
from contextlens.features.senses.controls import PAGE_SIZE, only_among
from tests.support.senses import SENSES, live, shown


def test_the_concordance_is_sorted_and_paged(tiny_service: EncoderService) -> None:
    texts = [f"{word} python {other}" for word in "dbca" for other in "zyxwvut"]
    corpus = live(tiny_service, texts, sense=("s", "t") * 14)
    senses = shown(tiny_service, corpus, groups="2", chosen=0)
    orders = {}
    for sort in ("text", "left", "right", "sense", "group", "cosine", "nonsense"):
        view = shown(tiny_service, corpus, groups="2", chosen=1, sort=sort)
        orders[sort] = view.concordance.order.tolist()
        assert sorted(orders[sort]) == list(range(28))
    occurrences = senses.uses.occurrences
    assert [occurrences.left[i] for i in orders["left"]] == sorted(occurrences.left)
    assert [occurrences.right[i] for i in orders["right"]] == sorted(occurrences.right)
    assert orders["nonsense"] == orders["text"] == list(range(28))
    groups = senses.grouping.groups
    assert [groups[i] for i in orders["group"]] == sorted(groups.tolist())
    assert orders["sense"] == [*range(0, 28, 2), *range(1, 28, 2)]
    last = shown(tiny_service, corpus, rows=99).concordance
    assert (last.page, last.n_pages, len(last.lines), PAGE_SIZE) == (2, 2, 3, 25)
    assert len(concordance_rows(senses.uses, groups, None)) == 28


def test_sorted_by_cosine_the_chosen_comes_first(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    row = int(corpus.occurrences("python").rows[5])
    senses = shown(tiny_service, corpus, chosen=row, sort="cosine")
    assert senses.chosen == senses.concordance.lines[0].index == 5
    assert senses.cosine_to == "chosen"
    cosines = [line.cosine for line in senses.concordance.lines]
    assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    unsorted = shown(tiny_service, corpus, chosen=10**9, sort="cosine").concordance
    assert unsorted.order.tolist() == list(range(8))


def test_one_sense_or_group_can_be_listed_alone(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    senses = shown(tiny_service, corpus, groups="2", only="s1")
    assert senses.concordance.order.tolist() == np.flatnonzero(senses.uses.codes == 1).tolist()
    senses = shown(tiny_service, corpus, groups="2", only="g0")
    groups = senses.grouping.groups
    assert senses.concordance.order.tolist() == np.flatnonzero(groups == 0).tolist()
    for odd in ("g99", "nonsense", "g--1", "s٣"):
        assert len(shown(tiny_service, corpus, only=odd).concordance.order) == 8
    options = only_among(senses.uses.senses, 2, some_in_none=True).options
    assert list(options) == ["", "s0", "s1", "g0", "g1", "g-1"]


def test_a_map_selection_within_a_sense_lists_the_overlap(tiny_service: EncoderService) -> None:
    senses = shown(tiny_service, live(tiny_service, sense=("a", "b") * 4), groups="2")
    listed = concordance(senses.uses, senses.grouping.groups, None, only="s0", within=[0, 1, 2])
    assert listed.order.tolist() == [i for i in (0, 1, 2) if senses.uses.codes[i] == 0]
    assert [line.index for line in lines_at(senses.uses, None, [3, 1])] == [3, 1]
