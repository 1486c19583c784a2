"""Any message for the app's own components is taken or ignored: anybody can send anything.

The components draw to a recorder in place of the page, which keeps the callback that takes the
browser's answer. The answer goes through Streamlit's own reading first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from streamlit.components.v2.bidi_component.serialization import deserialize_trigger_list

from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import split_words
from contextlens.features.attention import widgets
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.ui.state.address import from_json, to_json
from contextlens.ui.state.view import MAX_CHARACTERS, Sentence, ViewState, retyped
from contextlens.ui.widgets import chips, layer_bar, token_strip
from contextlens.ui.widgets.chips import ChipRow
from tests.fuzz.changes import damaged, damaged_json

TEXTS = ("My pet python sleeps.", "the 🐍 é́ \u202eabc", "", "مرحبا you\0 \ud83d x", "a " * 40)
LAYERS, N_HEADS = (0, 1, 2, 3), 4
Receive = Callable[[object], None]

_VALUES: tuple[object, ...] = (
    *({"row": 0, "start": 7, "end": 13}, {"row": 1, "text": "My own python"}, 2, None),
    *({"row": 0, "text": "python " * 2_857}, {"row": 3, "text": "a\nb\0" + "🐍" * 20_000}),
    *({"layer": 1, "head": 3}, {"side": "to", "position": 1}, {"side": "both", "position": True}),
)
_WORDS = (
    "event",
    "value",
    "picked",
    "row",
    "start",
    "end",
    "text",
    "layer",
    "head",
    "side",
    "from",
)
MESSAGES = [json.dumps([{"event": "picked", "value": value}]).encode() for value in _VALUES]


@pytest.fixture(scope="module")
def receivers() -> Iterator[dict[str, Receive]]:
    """The callback of each component that answers, by name."""
    with pytest.MonkeyPatch.context() as patch:
        recorded: list[Receive] = []

        def record(_: str, name: str, data: Mapping[str, object], **options: Any) -> None:
            json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
            recorded.append(options["on_pick"])

        for module in (chips, token_strip, layer_bar, widgets):
            patch.setattr(module, "component", record)
        for draw in (draw_chips, draw_strip, draw_layers, draw_heads, draw_lines):
            draw()
        yield dict(zip(("chips", "strip", "layers", "heads", "lines"), recorded, strict=True))


def draw_chips(texts: tuple[str, ...] = TEXTS) -> None:
    def check_word(row: int, span: tuple[int, int]) -> None:
        assert span in split_words(texts[row])

    def check_row(row: int) -> None:
        assert 0 <= row < len(texts)

    def edit(row: int, text: str, pair: str | None) -> None:
        """Edit as a page does: put the text in the view and draw the chips again."""
        assert 0 <= row < len(texts)
        assert len(text) <= MAX_CHARACTERS
        assert pair is None or len(pair) <= MAX_CHARACTERS
        view = ViewState("m", (retyped(Sentence(texts[row], None, None), text, "python"),))
        assert from_json(to_json(view)) == view
        draw_chips((*texts[:row], text, *texts[row + 1 :]))

    rows = [ChipRow("A", text, "#0072B2", None) for text in texts]

    def add(group: str, text: str) -> None:
        assert group in chips.GROUPS
        text.encode()

    actions = chips.ChipActions(
        on_pick=check_word, on_edit=edit, on_add=add, on_remove=check_row, on_letter=check_row
    )
    chips.word_chips(rows, key="chips", actions=actions)


def draw_strip() -> None:
    def check(position: int) -> None:
        assert type(position) is int
        assert 0 <= position < 4

    tokens = Tokens(
        text="a pet",
        pair=None,
        tokens=("[CLS]", "a", "pet", "[SEP]"),
        token_ids=np.arange(4),
        attention_mask=np.ones(4, np.int64),
        token_type_ids=None,
        special_tokens_mask=np.array([1, 0, 0, 1]),
        offsets=np.array([[0, 0], [0, 1], [2, 5], [0, 0]]),
        word_ids=np.array([-1, 0, 1, -1]),
        n_truncated=0,
        text_ids=np.array([-1, 0, 0, -1]),
    )
    pieces = tokens.tokens
    vocabulary = Vocabulary("WordPiece", pieces, pieces, ("start",) * 4, None, 0, 100)
    token_strip.token_strip(
        tokens, vocabulary, key="strip", name="sentence A", color="#0072B2", on_pick=check
    )


def draw_layers() -> None:
    def check(layer: int) -> None:
        assert type(layer) is int
        assert layer in LAYERS

    layer_bar.layer_bar(ViewState("m", (Sentence(""),)), LAYERS, on_choose=check)


def draw_heads() -> None:
    def check(layer: int, head: int) -> None:
        assert 1 <= layer <= 3
        assert 0 <= head < N_HEADS

    widgets.attention_heads(
        np.ones((3, N_HEADS), np.float32),
        [["a"] * N_HEADS] * 3,
        key="heads",
        chosen=[],
        listed=[],
        caption="",
        on_pick=check,
    )


def draw_lines() -> None:
    def check(side: str, position: int) -> None:
        assert side in {"from", "to"}
        assert 0 <= position < 3

    items = tuple(GridItem(label, (i,), "word", 0) for i, label in enumerate(("a", "b\0", "🐍")))
    weights = np.ones((3, 2), np.float32)
    grid = Grid(rows=items, columns=items[:2], weights=weights, hidden=(), renormalised=False)
    widgets.attention_lines(
        grid, key="lines", picked=("from", 0, 1), verbs=("a", "b"), hint="", on_pick=check
    )


@given(damaged_json(MESSAGES, _WORDS) | damaged(MESSAGES))
def test_any_message_is_taken_or_ignored(receivers: dict[str, Receive], content: bytes) -> None:
    try:
        events = deserialize_trigger_list(content.decode("utf-8", "replace")) or []
    except (ValueError, RecursionError):
        return  # Streamlit itself does not read it
    named = [
        event for event in events if isinstance(event, dict) and isinstance(event.get("event"), str)
    ]
    picked = {event["event"]: event.get("value") for event in named}.get("picked")
    for receive in receivers.values():
        receive(picked)
