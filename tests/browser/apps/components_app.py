"""The components alone: words, a chart with its buttons, tokens, and attention on small data."""

import json

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from contextlens.core.schema import Tokens, Vocabulary
from contextlens.core.words import Span
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.features.attention.widgets import attention_heads, attention_lines
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.chips import ChipActions, ChipRow, word_chips
from contextlens.ui.widgets.kit import picture_buttons
from contextlens.ui.widgets.layer_bar import layer_bar
from contextlens.ui.widgets.token_strip import token_strip

LONG = " ".join(f"word{i}" for i in range(600))
START = {
    "A": ("I love my pet python", (14, 20)),
    "B": ("I love coding in python, really.", None),
    "H": ("<b onmouseover=alert(1)>bold</b> & <img src=x onerror=alert(2)>", None),
    "E": ("👩‍👩‍👧 𝒳 loves naïve 🐍 python", None),
    "R": ("أحب ثعبان بايثون كثيرا", None),
    "M": ("He said مرحبا بالعالم to python", None),
    "N": ("nul\x00byte python\tand\nmore", None),
    "L": (LONG, (LONG.index("word555"), LONG.index("word555") + 7)),
}
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#0072B2")

st.set_page_config(layout="wide")
st.title("Components")
if "texts" not in st.session_state:
    st.session_state.texts = dict(START)
    st.session_state.picks = []
texts: dict[str, tuple[str, Span | None]] = st.session_state.texts


def keep(*pick: str | int) -> None:
    """Keeps what a component reported."""
    st.session_state.picks.append(pick)


def pick(row: int, span: Span) -> None:
    """Keeps what was picked, as a page would."""
    keep(row, *span)
    if row < len(texts):
        label = list(texts)[row]
        texts[label] = (texts[label][0], span)


def edit(row: int, text: str, pair: str | None) -> None:
    """Keeps what was typed, as a page would."""
    del pair
    keep(row, text)
    texts[list(texts)[row]] = (text, None)


def shorten() -> None:
    """Changes a text while its row is on the page."""
    texts["B"] = ("I love python", None)


rows = [
    ChipRow(
        label,
        text,
        color,
        chosen,
        note="Click a word" if label == "B" else "“snake” is not in this text" * (label == "R"),
        warning=label == "R",
    )
    for (label, (text, chosen)), color in zip(texts.items(), COLORS, strict=True)
]
rows += [
    ChipRow("", "snake", "#D55E00", (0, 5), role="reference"),
    ChipRow("", "programming language", "#CC79A7", (0, 20), role="reference"),
    ChipRow("R3", "a river bank", "#009E73", (2, 12), role="reference"),
]
word_chips(
    rows,
    key="chips",
    actions=ChipActions(on_pick=pick, on_edit=edit, on_add=keep, on_remove=keep),
)
st.text(json.dumps(st.session_state.picks))
st.button("Again")
st.button("Shorten B", on_click=shorten)

figure = go.Figure(layout={"title": {"text": "The senses part at layer 2"}, "height": 420})
for name, values in {"pet ~ snake": [0.4, 0.5, 0.6], "code ~ snake": [0.4, 0.3, 0.2]}.items():
    figure.add_scatter(x=[0, 1, 2], y=values, name=name)
figure.update_xaxes(title="layer", tickvals=[0, 1, 2], ticktext=["nul\x00", "1", "2"])
figure.update_yaxes(title="cosine")
st.plotly_chart(figure, key="senses chart", config={"displayModeBar": False})
caption = "all-MiniLM-L6-v2, revision bundled, sha256 53aa51172d14, float32, transformers 5.0. " * 3
picture_buttons(chart_key="senses chart", file_name="senses", key="save", caption=caption)
picture_buttons(chart_key="nowhere", file_name="nothing", key="save_nothing")

PIECES = ("[CLS]", "pet", "##s", "nap", "[SEP]")
SPANS = ((0, 0), (0, 3), (3, 4), (5, 8), (0, 0))
ADDED = np.array([1, 0, 0, 0, 1])
tokens = Tokens(
    text="pets nap",
    pair=None,
    tokens=PIECES,
    token_ids=np.arange(5),
    attention_mask=np.ones(5, np.int64),
    token_type_ids=None,
    special_tokens_mask=ADDED,
    offsets=np.array(SPANS),
    word_ids=np.array([-1, 0, 0, 1, -1]),
    text_ids=-ADDED,
    n_truncated=0,
)
KINDS = ("special", "start", "continuation", "start", "special")
texts_of = tuple(piece.removeprefix("##") for piece in PIECES)
vocabulary = Vocabulary("WordPiece", PIECES, texts_of, KINDS, 0, 0, 100)
token_strip(
    tokens,
    vocabulary,
    key="strip",
    name="sentence T",
    color="#0072B2",
    on_pick=lambda position: keep("token", position),
)

attention_heads(
    np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3),
    [["even 0.10", "even 0.20", "even 0.30"]] * 2,
    key="heads",
    chosen=[(1, 1)],
    listed=[(2, 0, "50%")],
    caption="Layers down, heads across",
    on_pick=lambda layer, head: keep("head", layer, head),
)

items = tuple(GridItem(label, (i,), "token", 0) for i, label in enumerate(("pets", "nap", "here")))
weights = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0, 0, 1]], np.float32)
attention_lines(
    Grid(items, items, weights, (), renormalised=False),
    key="lines",
    picked=("from", 1, 0),
    verbs=("looks", "is looked at"),
    hint="Click a word on each side",
    on_pick=lambda side, position: keep("line", side, position),
)

layer_bar(DEFAULT, (0, 3, 6), plays=False, on_choose=lambda layer: keep("layer", layer))
