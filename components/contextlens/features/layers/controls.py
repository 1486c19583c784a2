"""The controls of the Layer by layer page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal

from contextlens.content.language import say
from contextlens.core import ModelSpec
from contextlens.ui.state.controls import Choice, Control, choice, sentence_choice

PAGE = "layers"

MAX_COMPARED_WORDS = 512
"""Words whose vectors are compared: the Gram matrices of more would take seconds."""
MIN_COMPARED_WORDS = 4
"""Words whose layers can be compared: over two, any two layers have a linear CKA of 1."""
MAX_SNIPPET_WORDS = 200
"""Words in a snippet that people can still read."""
MAX_TABLE_TOKENS = 64
"""Tokens whose pairs are shown as a table."""

MeasureKind = Literal["start", "before", "first", "length"]
MEASURES: Mapping[str, MeasureKind] = MappingProxyType(
    {
        "To layer 0": "start",
        "To layer before": "before",
        "To first token": "first",
        "Length": "length",
    }
)

ONE = "One token"

SENTENCE = sentence_choice(PAGE)
SHOW = choice(PAGE, "show", (ONE, "All tokens"))
MEASURE = choice(PAGE, "measure", list(MEASURES))
TOKEN = Control[int](page=PAGE, name="token", default=-1, label=say("layers.controls.token.label"))
"""The position of the token to follow; -1 means the first of the chosen word, or of the last."""
PAIRS = "Token pairs"
SECTION = choice(PAGE, "section", ("One token", PAIRS, "Layers compared", "Spread", "Pooler"))
WORDS = choice(PAGE, "words", ("Your sentences", "Sample sentences"))
OTHER = choice(PAGE, "other", ("",))


def other_in(models: Iterable[ModelSpec], model: str) -> Choice:
    """Return the choice of the model itself, the default, or of another one by its ID."""
    return OTHER.among(
        {**OTHER.options, **{spec.id: spec.title for spec in models if spec.id != model}}
    )
