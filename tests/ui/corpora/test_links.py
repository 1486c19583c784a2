"""Links to other pages name their choices as those pages declare them."""

from __future__ import annotations

from components.features.map.controls import KEPT, SOURCE
from components.features.senses import controls as senses
from components.ui.corpora import known
from components.ui.state.view import DEFAULT

NAME = "abcdefghijklmnop"


def test_a_link_to_the_map_shows_the_corpus() -> None:
    view = known.on_map(DEFAULT, NAME)
    assert SOURCE.of(view) == "kept"
    assert KEPT.asked(view) == NAME
    assert SOURCE.of(known.on_ready_map(view)) == SOURCE.default == "ambiguous"


def test_a_link_to_senses_shows_the_corpus_and_the_word() -> None:
    view = known.on_senses(DEFAULT, NAME, "python")
    assert senses.CORPUS.asked(view) == NAME
    assert senses.WORD.of(view) == "python"
    assert senses.CORPUS.of(known.on_senses(view, "ambiguous")) == "ambiguous"
    assert known.on_senses(DEFAULT, "ambiguous") == DEFAULT


def test_a_page_is_there_or_not() -> None:
    assert known.has_page("map")
    assert not known.has_page("no such page")
