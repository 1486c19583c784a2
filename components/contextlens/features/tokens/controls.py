"""The controls of Tokens & IDs, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

from contextlens.content.wording import escape
from contextlens.core.schema import TokenizerCard
from contextlens.ui.state.controls import Number, choice, number, sentence_choice, switch, text
from contextlens.ui.state.view import MAX_CHARACTERS, Sentence

PAGE = "tokens"

SECTIONS = ("Vocabulary", "From ID to row", "Two tokenizers", "Back to text")
VOCABULARY, ID_TO_ROW, TWO_TOKENIZERS, BACK_TO_TEXT = SECTIONS

KINDS: Mapping[str, Literal["all", "start", "continuation", "special"]] = MappingProxyType(
    {"All": "all", "Words": "start", "Continuations": "continuation", "Special": "special"}
)
"""The pieces of the vocabulary to list, by the option's title."""

SENTENCE = sentence_choice(PAGE)
PAD = number(PAGE, "pad", between=(0, MAX_CHARACTERS), default=0)
CUT = number(PAGE, "cut", between=(1, MAX_CHARACTERS), default=MAX_CHARACTERS)
HIDE = switch(PAGE, "hide")
PICKED = number(PAGE, "token", between=(-1, MAX_CHARACTERS), default=-1)
SECTION = choice(PAGE, "section", SECTIONS)
SEARCH = text(PAGE, "search")
"""Empty for the word of the picked token."""
KIND = choice(PAGE, "kind", KINDS.keys())
OTHER = choice(PAGE, "other", ())


def pad_within(card: TokenizerCard) -> Number:
    """The control for padding, up to the longest text that the tokenizer's model reads."""
    return PAD.between(0, card.max_length)


def cut_within(card: TokenizerCard, sentence: Sentence) -> Number:
    """The control for cutting: one token of the text is the least, the model's limit the most."""
    least, most = card.n_added[bool(sentence.pair)] + 1, card.max_length
    note = f"Special tokens count too. {escape(card.title)} takes at most {most}."
    return replace(CUT.between(least, most, default=most), help=note)
