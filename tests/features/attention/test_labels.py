"""The names of heads and habits, with each model's own special tokens."""

from __future__ import annotations

import pytest

from components.core import EncoderService
from components.features.attention.compute import (
    habit_texts,
    habits_caption,
    head_titles,
    sort_titles,
)
from tests.features.attention.shown import seen


def test_heads_are_said_with_the_habit_that_they_are_sorted_by(service: EncoderService) -> None:
    attention = seen(service)
    values = attention.heads.habits
    assert next(iter(head_titles(attention).items())) == ("1.2", "Layer 1, head 2 · over 99%")
    assert habit_texts(attention)[2][7] == f"previous token {values[2, 7, 0]:.4f}"
    narrow = seen(service, sort="focus")
    first, title = next(iter(head_titles(narrow).items()))
    layer, head = map(int, first.split("."))
    assert title.endswith(f"{values[layer - 1, head, -1]:.2f} bits")
    assert habit_texts(narrow)[2][7] == f"entropy {values[2, 7, -1]:.4f} bits"
    assert len(head_titles(narrow)) == 72


def test_orders_are_named_by_the_models_own_special_tokens(tiny_service: EncoderService) -> None:
    tokens = {"bert": ("[CLS]", "[SEP]"), "roberta": ("<s>", "</s>")}
    for family, (first, others) in tokens.items():
        titles = sort_titles(seen(tiny_service, model=f"folder:{family}"))
        assert titles[:5] == ["previous token", "next token", first, others, "same word"]
        assert titles[5:] == ["least focused", "most focused"]


@pytest.mark.parametrize(
    ("show", "said"),
    [
        ("One head", "Layer 3, head 7: attention to …"),
        ("Layer", "Layer 4, average of its heads: attention to …"),
        ("All", "Average of all heads: attention to …"),
        ("Rollout", "Average of the heads of layers 1 to 4: attention to …"),
    ],
)
def test_the_bars_say_what_they_are_about(service: EncoderService, show: str, said: str) -> None:
    assert habits_caption(seen(service, show=show, head="3.7", layer=4)) == said
