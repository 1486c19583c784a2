"""What a visitor can choose on Why alike?, each choice declared once."""

from __future__ import annotations

from dataclasses import replace

from components.ui.state.controls import choice, number, sentence_choice
from components.ui.state.view import MAX_SENTENCES, letter

__all__ = [
    "CLS",
    "DEPTH",
    "FIRST",
    "HIDDEN",
    "HOW_OUT",
    "INPUTS",
    "INTO",
    "INTO_FIRST",
    "INTO_SECOND",
    "LAYER",
    "LEAVE_OUT",
    "LOOK",
    "MEAN",
    "OFF_TO",
    "OF_ALL",
    "OF_TWO",
    "OUT_OF",
    "OVER",
    "PAGE",
    "PAIRS",
    "PANEL",
    "PICKED",
    "SECOND",
    "SHARES",
    "SIDE",
    "SINGLE",
    "SWAP_IN",
    "SWITCH_OFF",
    "TAKEN_OUT",
    "TO_MEAN",
    "TO_ZERO",
    "UNIT",
    "WHAT",
    "WORD",
    "WORDS",
]

PAGE = "why"

FIRST = replace(sentence_choice(PAGE), name="first", label="First sentence")
SECOND = choice(
    PAGE,
    "second",
    "Second sentence",
    [letter(i) for i in range(MAX_SENTENCES)],
    default=letter(1),
)
"""The two that are compared, by their letters; the second may be the first itself."""

MEAN, CLS, WORD = ("mean", "cls", "word")
WHAT = choice(
    PAGE,
    "what",
    "What is compared",
    {MEAN: "Whole sentences", CLS: "[CLS]", WORD: "Chosen words"},
    help="The sentence vector: the mean over all tokens, or the token [CLS] alone. Or the word "
    "that is chosen in each sentence, the mean of its sub-tokens.",
)

SHARES, LEAVE_OUT, SWITCH_OFF, SWAP_IN = ("shares", "leave_out", "switch_off", "swap_in")
LOOK = choice(
    PAGE,
    "look",
    "Explain the similarity by",
    {
        SHARES: "Shares",
        LEAVE_OUT: "Leave out",
        SWITCH_OFF: "Switch off",
        SWAP_IN: "Swap in",
    },
)

# Shares

LAYER, INPUTS = ("layer", "inputs")
DEPTH = choice(
    PAGE,
    "depth",
    "Shares of",
    {LAYER: "This layer", INPUTS: "Input tokens"},
    help="At a layer, each position already holds something of all the others. Integrated "
    "gradients go on through the layers, down to the tokens that were typed.",
)
WORDS = "words"
UNIT = choice(PAGE, "unit", "Rows and columns", {WORDS: "Words", "tokens": "Tokens"})
SIDE = choice(PAGE, "side", "Sentence of the picked word", ("first", "second"))
PICKED = number(PAGE, "picked", "Picked word or token", between=(-1, 100_000), default=-1)
"""By the position of its first token; -1, as long as none is picked."""

# Leave out

TAKEN_OUT, HIDDEN = ("taken", "hidden")
HOW_OUT = choice(
    PAGE,
    "how_out",
    "How a word is left out",
    {TAKEN_OUT: "Taken out", HIDDEN: "Hidden"},
    help="Taken out, the text is read anew without the word. Hidden, it keeps its position, and "
    "no token can look at it.",
)
SINGLE, PAIRS = ("single", "pairs")
OUT_OF = choice(PAGE, "out_of", "Left out", {SINGLE: "Each word", PAIRS: "Pairs of words"})

# Switch off

TO_ZERO, TO_MEAN = ("zero", "mean")
OFF_TO = choice(
    PAGE,
    "off_to",
    "In place of its output",
    {TO_ZERO: "Zero", TO_MEAN: "Its mean over sample sentences"},
)
OF_TWO, OF_ALL = ("two", "all")
OVER = choice(
    PAGE,
    "over",
    "Measured on",
    {OF_TWO: "These two", OF_ALL: "All your sentences"},
)

# Swap in

INTO_FIRST, INTO_SECOND = ("first", "second")
INTO = choice(
    PAGE,
    "into",
    "Swapped in",
    {INTO_FIRST: "Second into first", INTO_SECOND: "First into second"},
    help="Whose hidden states are put into whose run, token by token and layer by layer.",
)

# Look closer

PANEL = choice(PAGE, "panel", "Look closer", {"edits": "Edits of your sentence"})
