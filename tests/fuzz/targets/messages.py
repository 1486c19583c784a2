"""What a browser sends for the app's own components: anybody can send anything.

The components draw as ever, but to a recorder in the place of the page, which keeps what they would
send to the browser and the callback that takes its answer. The answer goes through Streamlit's own
reading first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from streamlit.components.v2.bidi_component.serialization import deserialize_trigger_list

from components.core.schema import Tokens, Vocabulary
from components.core.words import split_words
from components.features.attention import widgets
from components.features.attention.measures import Grid, GridItem
from components.ui.state.address import from_json, to_json
from components.ui.state.view import MAX_CHARACTERS, Sentence, ViewState, retyped
from components.ui.widgets import chips, layer_bar, token_strip
from components.ui.widgets.chips import ChipRow
from tests.fuzz.structure import odd
from tests.fuzz.target import Target, hold, seeds_of

__all__ = ["TARGETS"]

_TEXTS = ("My pet python sleeps.", "the 🐍 é́ \u202eabc", "", "مرحبا you\0 \ud83d x", "a " * 40)
_LAYERS, _N_HEADS = (0, 1, 2, 3), 4
_Receive = Callable[[object], None]


class _UnreadError(Exception):
    """Streamlit itself does not read the message: it is over before the app hears of it."""


def _run(content: bytes) -> None:
    sent = _picked(content.decode("utf-8", "replace"))
    for receive in _receivers():
        receive(sent)


def _picked(text: str) -> object:
    """What a component's callback gets of the events in a message."""
    try:
        events = deserialize_trigger_list(text) or []
    except (ValueError, RecursionError) as exc:
        raise _UnreadError from exc
    told = [event for event in events if isinstance(event, dict)]
    return {e["event"]: e.get("value") for e in told if isinstance(e.get("event"), str)}.get(
        "picked"
    )


# The components, without a page


@cache
def _receivers() -> tuple[_Receive, ...]:
    """What takes the answers of each component that sends some."""
    grid = _grid()
    pictures = np.ones((3, _N_HEADS, 2, 2), np.float32)
    draws: tuple[Callable[[], None], ...] = (
        partial(_draw_chips, _TEXTS),
        partial(_draw_strip),
        lambda: layer_bar.layer_bar(
            ViewState("m", (Sentence(""),)), _LAYERS, on_choose=_check_layer
        ),
        lambda: widgets.attention_heads(
            pictures,
            [["a"] * _N_HEADS] * 3,
            key="heads",
            chosen=[],
            best=[],
            bars=[],
            caption="",
            on_pick=_check_head,
        ),
        lambda: widgets.attention_lines(
            grid, key="lines", picked=("from", 0), verbs=("a", "b"), on_pick=_check_line
        ),
    )
    return tuple(_recorded(draw) for draw in draws)


def _recorded(draw: Callable[[], None]) -> _Receive:
    """The callback of the component that is drawn; what it sends must be JSON in UTF-8."""
    kept: list[_Receive] = []

    def record(_: str, name: str, data: Mapping[str, object], **rest: Any) -> None:
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        kept.append(rest["on_pick"])

    with ExitStack() as stack:
        for module in (chips, token_strip, layer_bar, widgets, widgets):
            stack.callback(setattr, module, "component", module.component)
            module.component = record
        draw()
    return kept[0]


def _draw_chips(texts: tuple[str, ...]) -> None:
    rows = [ChipRow("A", text, "#0072B2", None) for text in texts]
    chips.word_chips(
        rows, key="chips", on_pick=partial(_check_word, texts), on_edit=partial(_edit, texts)
    )


def _check_word(texts: tuple[str, ...], row: int, span: tuple[int, int]) -> None:
    hold(span in split_words(texts[row]), "no word: {} of {}", span, row)


def _edit(texts: tuple[str, ...], row: int, text: str) -> None:
    """As a page does it: the text is in the view, and the chips are drawn anew."""
    hold(0 <= row < len(texts) and len(text) <= MAX_CHARACTERS, "row {}: {!r}", row, text[:80])
    sentence = retyped(Sentence(texts[row], None, None), text, "python")
    view = ViewState("m", (sentence,))
    hold(from_json(to_json(view)) == view, "a text that is not kept: {!r}", text[:80])
    _recorded(partial(_draw_chips, (*texts[:row], text, *texts[row + 1 :])))


def _draw_strip() -> None:
    n, text = 4, "a pet"
    tokens = Tokens(
        text=text,
        pair=None,
        tokens=("[CLS]", "a", "pet", "[SEP]"),
        token_ids=np.arange(n),
        attention_mask=np.ones(n, np.int64),
        token_type_ids=None,
        special_tokens_mask=np.array([1, 0, 0, 1]),
        offsets=np.array([[0, 0], [0, 1], [2, 5], [0, 0]]),
        word_ids=np.array([-1, 0, 1, -1]),
        n_truncated=0,
        text_ids=np.array([-1, 0, 0, -1]),
    )
    pieces = tokens.tokens
    vocabulary = Vocabulary("WordPiece", pieces, pieces, ("start",) * n, None, 0, 100)
    token_strip.token_strip(
        tokens, vocabulary, key="strip", name="sentence A", color="#0072B2", on_pick=_check_position
    )


def _grid() -> Grid:
    items = tuple(GridItem(label, (i,), "word", 0) for i, label in enumerate(("a", "b\0", "🐍")))
    weights = np.ones((3, 2), np.float32)
    return Grid(rows=items, columns=items[:2], weights=weights, hidden=(), renormalised=False)


def _check_position(position: int) -> None:
    hold(type(position) is int and 0 <= position < 4, "position {!r}", position)


def _check_layer(layer: int) -> None:
    hold(type(layer) is int and layer in _LAYERS, "layer {!r}", layer)


def _check_head(layer: int, head: int) -> None:
    hold(1 <= layer <= 3 and 0 <= head < _N_HEADS, "layer {!r}, head {!r}", layer, head)


def _check_line(side: str, position: int) -> None:
    hold(side in {"from", "to"} and 0 <= position < 3, "{!r} at {!r}", side, position)


# How inputs are made

_number = st.integers(-1, 6) | st.integers() | odd
_typed = st.text(st.characters(exclude_categories=()), max_size=60)
_text = _typed | st.sampled_from(["python " * 2_857, "é́" * 10_001, "\0", "a\nb", "🐍" * 20_000])
_pick = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("row", "start", "end", "layer", "head", "position"), _number),
        "text": _text | odd,
        "side": st.sampled_from(["from", "to", "both"]) | odd,
    },
)
_valid = st.one_of(
    st.fixed_dictionaries(
        {
            "row": st.integers(0, 4),
            "start": st.sampled_from([0, 3, 7]),
            "end": st.sampled_from([2, 6, 13]),
        }
    ),
    st.fixed_dictionaries({"row": st.integers(0, 5), "text": _text}),
    st.fixed_dictionaries({"layer": st.integers(0, 4), "head": st.integers(0, 4)}),
    st.fixed_dictionaries({"side": st.sampled_from(["from", "to"]), "position": st.integers(0, 3)}),
    st.integers(-1, 5),
)
_value = st.one_of(_valid, _valid, _pick, odd, _text)
_event = st.fixed_dictionaries({"event": st.just("picked"), "value": _value})
_any_event = st.one_of(_event, _event, _event, st.dictionaries(st.text(max_size=6), odd), odd)
_messages = st.one_of(
    _event.map(lambda event: [event]), st.lists(_any_event, max_size=3), _any_event
).map(lambda events: json.dumps(events).encode())
_TOKENS = (
    *(b"event", b"value", b"picked", b"row", b"start", b"end", b"text", b"layer", b"head", b"side"),
    *(b"from", b"to", b"position", b"true", b"1.0", b"1e0", b"-0", b"{}"),
)

TARGETS = {
    "messages": Target(
        name="messages",
        run=_run,
        structure=_messages,
        seeds=partial(seeds_of, "messages"),
        tokens=_TOKENS,
        is_json=True,
        also=(_UnreadError,),
        longest=200_000,
    )
}
