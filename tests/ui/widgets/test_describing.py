"""The settings of a view in words, as the report lists them."""

from __future__ import annotations

from dataclasses import replace

from contextlens.features.map.controls import DIMS, SEED
from contextlens.features.meaning.page import POOLING
from contextlens.features.pairs.controls import PANEL
from contextlens.features.tokens.controls import SENTENCE
from contextlens.ui.corpora.controls import COLLECTION, WORD
from contextlens.ui.state.view import DEFAULT, Sentence
from contextlens.ui.widgets.describing import describe


def test_texts_words_references_layer_and_choices_are_named() -> None:
    pooling = next(value for value in POOLING.options if value != POOLING.default)
    view = POOLING.put(replace(DEFAULT, layer=3), pooling)
    rows = dict(describe(view, POOLING.page))
    assert rows["Sentence A"] == "I love my pet [python]"
    assert rows["References"] == "[snake] · [programming]"
    assert rows["Layer"] == "3"
    assert rows[POOLING.label] == POOLING.options[pooling]
    assert describe(view, "home") == describe(view, POOLING.page)  # its numbers are the same
    assert dict(describe(view, "tokens")).keys() == {"Model", "Sentence A"}  # no layer, one text
    second = SENTENCE.put(view, "B")
    assert dict(describe(second, "tokens")).keys() == {"Model", "Sentence B"}
    assert "Layer" not in dict(describe(view, "attention"))  # it may show a head of another one
    assert dict(describe(view, "attention", layer=6))["Layer"] == "6"
    removed = SENTENCE.put(view, "C")
    assert dict(describe(removed, "tokens"))["Sentence A"] == "I love my pet [python]"
    assert "Sentence A" not in dict(describe(view, "senses", "The reviews"))
    assert dict(describe(view, "senses", "The reviews"))["Texts"] == "The reviews"


def test_names_of_own_corpora_and_picks_are_left_out_and_long_texts_cut() -> None:
    view = COLLECTION.put(
        replace(DEFAULT, sentences=(Sentence("x" * 900, "y" * 900),)), "secret-name"
    )
    assert "secret-name" not in str(describe(view, "corpora"))
    assert len(dict(describe(view, "meaning"))["Sentence A"]) < 620
    dims = next(value for value in DIMS.options if value != DIMS.default)
    assert DIMS.options[dims] in dict(describe(DIMS.put(view, dims), "map")).values()
    assert ("Word", "bank") in describe(WORD.put(view, "bank"), "senses", "The reviews")
    assert "bank" not in str(describe(WORD.put(view, "bank"), "tokens"))
    assert ("Seed", "12345") in describe(SEED.put(view, 12345), "map")
    made_up = PANEL.put(DEFAULT, "<b>made up</b>")
    assert "made up" not in str(describe(made_up, "pairs"))
