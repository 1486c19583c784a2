"""Ready texts for Tokens & IDs, each of which shows one thing that tokenizers do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from contextlens.content.language import table
from contextlens.features.tokens.controls import (
    BACK_TO_TEXT,
    CUT,
    PAD,
    PAGE,
    SECTION,
    SENTENCE,
    TWO_TOKENIZERS,
)
from contextlens.ui.state.controls import Control, sentence_index
from contextlens.ui.state.view import Sentence, Value, ViewState, letter


@dataclass(frozen=True, kw_only=True)
class TokenExample:
    """A text (or pair) and settings that show one effect.

    Attributes:
        key: short and stable, for widget keys.
        icon: a Streamlit material icon.
        text: the text that replaces the shown sentence's.
        pair: its second text, or None.
        controls: its settings on the page.
    """

    key: str
    icon: str
    text: str
    pair: str | None = None
    controls: tuple[tuple[Control[Any], Value], ...] = ()

    @property
    def title(self) -> str:
        """A few words for its link."""
        return str(table("tokens.example")[self.key])


TOKEN_EXAMPLES: tuple[TokenExample, ...] = (
    TokenExample(
        key="long",
        icon=":material/content_cut:",
        text="The tokenizer unmasked a photosynthesizing nanorobot",
    ),
    TokenExample(
        key="accents",
        icon=":material/match_case:",
        text="Zoë ordered a CRÈME BRÛLÉE in Málaga",
        controls=((SECTION, BACK_TO_TEXT),),
    ),
    TokenExample(
        key="case",
        icon=":material/compare:",
        text="The US told us that Apple never grew an apple",
        controls=((SECTION, TWO_TOKENIZERS),),
    ),
    TokenExample(
        key="unknown",
        icon=":material/help:",
        text="My 🐍 ate ∞ 🍕 for $9.99, isn't that great?!",
    ),
    TokenExample(
        key="pair",
        icon=":material/splitscreen:",
        text="Where does a python sleep?",
        pair="It coils up in a tree.",
    ),
    TokenExample(
        key="padding",
        icon=":material/width:",
        text="Pythons nap",
        controls=((PAD, 16),),
    ),
    TokenExample(
        key="cut",
        icon=":material/crop:",
        text="Only the beginning of this sentence reaches the model",
        controls=((CUT, 8),),
    ),
)


def from_example(example: TokenExample, view: ViewState) -> ViewState:
    """The view with an example's text instead of the selected sentence's."""
    index = sentence_index(view, SENTENCE)
    rows = list(view.sentences)
    rows[index] = Sentence(example.text, example.pair)
    other_pages = {page: settings for page, settings in view.controls.items() if page != PAGE}
    opened = SENTENCE.put(replace(view, sentences=tuple(rows), controls=other_pages), letter(index))
    for control, value in example.controls:
        opened = control.put(opened, value)
    return opened
