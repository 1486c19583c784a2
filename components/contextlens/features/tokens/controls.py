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

MAX_NAMED_PIECES = 6
"""The maximum number of tokens that a sentence names."""
MAX_LISTED_CUTS = 4
"""The maximum number of ways to cut a word that are listed, the most probable first."""
MAX_EXPLAINED_CHARACTERS = 200
"""The maximum length of a word whose steps are shown: the time grows with its square."""
MAX_QUOTED_CHARACTERS = 120
"""The maximum length of a searched text that is quoted: more than a tokenizer cuts."""

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
    shortest, longest = card.n_added[bool(sentence.pair)] + 1, card.max_length
    note = f"Special tokens count too. {escape(card.title)} takes at most {longest}."
    return replace(CUT.between(shortest, longest, default=longest), help=note)
