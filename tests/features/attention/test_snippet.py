"""The script under the hood gives the page's numbers."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.attention.compute import AttentionView, habit_names
from contextlens.features.attention.controls import SCOPES
from contextlens.features.attention.measures import selected_heads
from contextlens.features.attention.snippet import attention_snippet
from contextlens.ui.state.view import Sentence
from tests.features.attention.shown import seen
from tests.support.snippets import run
from tests.support.tiny_models import FAMILIES

PAIR = Sentence("The teacher's unbelievable python", "Seventeen umbrellas")


def assert_same(attention: AttentionView, folder: Path | None = None) -> None:
    """The script gives the weights that are shown, and the numbers that stand beside them."""
    code = attention_snippet(
        attention.card,
        attention.encoding,
        attention.selection,
        attention.grid,
        attention.pad_to or 0,
    )
    if folder is not None:
        code = code.replace(f"path/to/{folder.name}", str(folder))
    found, heads = run(code), attention.heads
    np.testing.assert_allclose(found["attention"].numpy(), attention.grid.weights, atol=2e-5)
    selected = selected_heads(heads, attention.selection)
    habits = np.mean([heads.habits[layer - 1, head] for layer, head in selected], axis=0)
    names = [*habit_names(attention.selection), "entropy in bits"]
    assert list(found["measured"]) == list(found["even"]) == names
    np.testing.assert_allclose([found["measured"][name] for name in names], habits, atol=1e-4)
    np.testing.assert_allclose([found["even"][name] for name in names], heads.even, atol=1e-4)
    real = [i for i, row in enumerate(attention.grid.rows) if row.kind != "padding"]
    received = attention.grid.weights[real].mean(axis=0)
    np.testing.assert_allclose(found["received"].numpy(), received, atol=2e-5)


@pytest.mark.parametrize(("family", "show"), [*zip(FAMILIES, cycle(SCOPES), strict=False)])
def test_the_snippet_gives_every_familys_weights(
    tiny_service: EncoderService, tiny_root: Path, family: str, show: str
) -> None:
    own = {"show": show, "special": "Hide, rows to 1", "unit": "Words", "head": "2.1"}
    attention = seen(tiny_service, PAIR, model=f"folder:{family}", layer=2, **own)
    assert_same(attention, tiny_root / family)


@pytest.mark.parametrize(
    ("show", "special", "unit", "direction"),
    [
        ("One head", "Show", "Tokens", "All"),
        ("One head", "Show", "Words", "First to second"),
        ("Layer", "Hide", "Tokens", "Second to first"),
        ("All", "Hide, rows to 1", "Tokens", "First to second"),
        ("Rollout", "Hide", "Words", "All"),
    ],
)
def test_the_snippet_arranges_as_the_page_does(
    service: EncoderService, show: str, special: str, unit: str, direction: str
) -> None:
    own = {"show": show, "special": special, "unit": unit, "direction": direction, "pad": 30}
    attention = seen(service, PAIR, sort="next", layer=4, **own)
    assert attention.pad_to == 30
    assert_same(attention)


@pytest.mark.slow
def test_the_snippet_reads_any_text(service: EncoderService) -> None:
    for text in ("", 'a "quoted"\n\\text \U0001f984', "word " * 600):
        assert_same(seen(service, Sentence(text), show="Rollout"))
