"""The concordance: its order, its pages, and contexts cut between words."""

from __future__ import annotations

import numpy as np

from components.core import EncoderService
from components.features.senses import compute
from components.features.senses.compute import concordance_rows
from components.features.senses.controls import only_among
from components.features.senses.words import around
from tests.features.senses.compute.live_senses import SENSES, live, shown


def test_the_concordance_is_sorted_and_paged(tiny_service: EncoderService) -> None:
    texts = [f"{word} python {other}" for word in "dbca" for other in "zyxwvut"]
    corpus = live(tiny_service, texts, sense=("s", "t") * 14)
    own = shown(tiny_service, corpus, groups="2", chosen=0)
    orders = {}
    for sort in ("text", "left", "right", "sense", "group", "cosine", "nonsense"):
        view = shown(tiny_service, corpus, groups="2", chosen=1, sort=sort)
        orders[sort] = view.concordance.order.tolist()
        assert sorted(orders[sort]) == list(range(28))
    found = own.uses.occurrences
    assert [found.left[i] for i in orders["left"]] == sorted(found.left)
    assert [found.right[i] for i in orders["right"]] == sorted(found.right)
    assert orders["nonsense"] == orders["text"] == list(range(28))
    groups = shown(tiny_service, corpus, groups="2").grouping.groups
    assert [groups[i] for i in orders["group"]] == sorted(groups.tolist())
    assert orders["sense"] == [*range(0, 28, 2), *range(1, 28, 2)]
    last = shown(tiny_service, corpus, rows=99).concordance
    assert (last.page, last.n_pages, len(last.lines)) == (2, 2, 3)
    assert len(concordance_rows(own.uses, groups, None)) == 28


def test_sorted_by_cosine_the_chosen_comes_first(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service)
    row = int(corpus.occurrences("python").rows[5])
    own = shown(tiny_service, corpus, chosen=row, sort="cosine")
    assert own.chosen == 5
    assert own.cosine_to == "chosen"
    assert own.concordance.lines[0].place == 5
    cosines = [line.cosine for line in own.concordance.lines]
    assert cosines == sorted(cosines, reverse=True)  # type: ignore[type-var]
    assert shown(tiny_service, corpus, chosen=10**9, sort="cosine").concordance.sort == "text"


def test_one_sense_or_group_can_be_shown_alone(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    own = shown(tiny_service, corpus, groups="2", only="s1")
    assert own.concordance.order.tolist() == np.flatnonzero(own.uses.codes == 1).tolist()
    own = shown(tiny_service, corpus, groups="2", only="g0")
    assert own.concordance.order.tolist() == np.flatnonzero(own.grouping.groups == 0).tolist()
    for odd in ("g99", "s", "nonsense", "g--1", "s٣"):
        assert len(shown(tiny_service, corpus, only=odd).concordance.order) == 8
    options = only_among(own.uses.senses, 2, some_in_none=True).options
    assert list(options) == ["", "s0", "s1", "g0", "g1", "g-1"]


def test_contexts_are_cut_between_words_and_keep_the_word_whole(
    tiny_service: EncoderService,
) -> None:
    long = "word " * 6 + "python\n\tis " + "more " * 500
    own = shown(tiny_service, live(tiny_service, (long, "python")))
    left, word, right = around(own.uses, 0, 12)
    assert (left, word, right) == ("… word word ", "python", " is more …")
    assert around(own.uses, 1, 12) == ("", "python", "")
    assert around(own.uses, 0, 10_000)[0] == "word " * 6
    assert compute.PAGE_SIZE == 25
