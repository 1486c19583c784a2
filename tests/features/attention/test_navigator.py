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
        head = opening[int(row["layer"]) - 1, int(row["head"])]
        assert row["[CLS]"] == pytest.approx(head[:, 0].mean(), abs=1e-5)
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
    assert columns[4:6] == ["<s>", "<s> (others)"]


def test_heads_are_said_with_the_habit_that_they_are_sorted_by(service: EncoderService) -> None:
    navigator = attention_on(service).navigator
    narrow = attention_on(service, sort="focus").navigator
    values, titles = navigator.heads.habits, navigator.titles()
    assert len(titles) == 72
    assert next(iter(titles.items())) == ("1.2", "Layer 1, head 2 · over 99%")
    assert navigator.texts()[2][7] == f"previous token {values[2, 7, 0]:.4f}"
    assert narrow.titles()["3.7"].endswith(f"{values[2, 7, -1]:.2f} bits")
    assert narrow.texts()[2][7] == f"entropy {values[2, 7, -1]:.4f} bits"


def test_orders_are_named_by_the_models_own_special_tokens(tiny_service: EncoderService) -> None:
    tokens = {"bert": ("[CLS]", "[SEP]"), "roberta": ("<s>", "</s>")}
    for family, (first, others) in tokens.items():
        titles = attention_on(tiny_service, model=f"folder:{family}").navigator.sort_titles()
        assert titles[:5] == ["previous token", "next token", first, others, "same word"]
        assert titles[5:] == ["least focused", "most focused"]


def test_the_bars_say_what_they_are_about(service: EncoderService) -> None:
    captions = {
        "One head": "Layer 3, head 7: attention to … (can overlap)",
        "Layer": "Layer 4, average of heads: attention to … (can overlap)",
        "All": "Average of all heads: attention to … (can overlap)",
        "Rollout": "Average of heads, layers 1 to 4: attention to … (can overlap)",
    }
    for show, caption in captions.items():
        attention = attention_on(service, show=show, head="3.7", layer=4)
        assert attention.navigator.caption() == caption
