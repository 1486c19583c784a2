"""The navigator of heads: their order, their habits, and the names of both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.state.view import DEFAULT
from tests.features.attention.examples import attention_on


@pytest.fixture
def opening(service: EncoderService) -> np.ndarray:
    """All weights of the opening sentence."""
    text = DEFAULT.sentences[0].text
    return service.encode(BUNDLED_ID, [text], attentions=True)[0].attentions


def test_the_table_of_heads_is_sorted_and_true(
    service: EncoderService, opening: np.ndarray
) -> None:
    table = attention_on(service, sort="first").navigator.table()
    assert len(table) == 72
    assert table["[CLS]"].is_monotonic_decreasing
    for _, row in table.iloc[::9].iterrows():
        head = opening[int(row["layer"]) - 1, int(row["head"]) - 1]
        assert row["[CLS]"] == pytest.approx(head[:, 0].mean(), abs=1e-5)
        assert row["“my” takes in “python”"] == pytest.approx(head[3, 5], abs=1e-6)
        assert row["next token"] == pytest.approx(np.diagonal(head, 1).mean(), abs=1e-5)
    spreads = [attention_on(service, sort=by).navigator.table() for by in ("entropy", "focus")]
    assert spreads[0]["entropy (bits)"].is_monotonic_decreasing
    assert spreads[1]["entropy (bits)"].is_monotonic_increasing


def test_columns_have_names_of_their_own_where_special_tokens_share_one(
    service: EncoderService,
) -> None:
    navigator = attention_on(service).navigator
    same = replace(navigator.selection, names={"first": "<s>", "separators": "<s>"})
    columns = list(replace(navigator, selection=same).table().columns)
    assert columns[5:7] == ["<s>", "<s> (others)"]


def test_heads_are_said_with_what_they_are_sorted_by(
    service: EncoderService, opening: np.ndarray
) -> None:
    navigator = attention_on(service).navigator
    assert navigator.listed()[0] == (4, 1, "78%")
    assert navigator.texts()[3][1] == f"“my” takes in “python” {opening[3, 1, 3, 5]:.4f}"
    habit = attention_on(service, sort="previous").navigator
    assert habit.listed()[0] == (1, 2, "over 99%")
    assert habit.texts()[2][7] == f"previous token {habit.heads.habits[2, 7, 0]:.4f}"
    narrow = attention_on(service, sort="focus").navigator
    layer, head, bits = narrow.listed()[0]
    entropies = narrow.heads.habits[..., -1]
    assert entropies[layer - 1, head] == entropies.min()
    assert bits.endswith(" bits")
    for shades in (navigator.shades(), habit.shades(), narrow.shades()):
        assert (shades.min() >= 0, shades.max()) == (True, pytest.approx(1))
    assert narrow.shades()[layer - 1, head] == pytest.approx(1)


def test_orders_are_named_by_the_models_own_special_tokens(tiny_service: EncoderService) -> None:
    tokens = {"bert": ("[CLS]", "[SEP]"), "roberta": ("<s>", "</s>")}
    for family, (first, others) in tokens.items():
        titles = attention_on(tiny_service, model=f"folder:{family}").navigator.sort_titles()
        assert titles[1:6] == ["previous token", "next token", first, others, "same word"]
        assert titles[6:] == ["least focused", "most focused"]
