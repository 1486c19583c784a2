"""The controls of Labels, each declared once."""

from __future__ import annotations

from contextlens.core.schema import MAX_LABELS
from contextlens.ui.state.controls import choice, number, sentence_choice

PAGE = "labels"

MAX_SHOWN_LABELS = 10
"""Labels of a sentence that are drawn; the table has all of them."""
MAX_NAMED_PARTS = 5
"""Labelled parts of a sentence that the headline names."""
MAX_CHANGED_WORDS = 100
"""Words of a sentence that are replaced by others in turn."""
TRIED_FOR_EACH_WORD = 20
"""Other words that are tried in the place of one."""
MAX_TRIED_EDITS = 200
"""Edits of one sentence that are read, those with the largest expected effect."""
MAX_SCRIPT_EDITS = 20
"""Edits of one sentence in a script that people can still read."""
MAX_COMPARED_TEXTS = 500
"""Texts that the model and the one before its fine-tuning read; of more, evenly spaced ones."""
MAX_SAMPLED_USES = 400
"""Uses of words whose pairs show how similar two different words are."""
MIN_WORD_USES = 5
"""Uses from which a word is named among those that changed most."""
MAX_SCRIPT_CHARACTERS = 60_000
"""Characters of texts in a script that people can still copy."""

SENTENCE = sentence_choice(PAGE)
LABEL = number(PAGE, "label", between=(-1, MAX_LABELS - 1), default=-1)
"""The explained label, by its index; -1 for that of the model's answer."""
LEAVE_OUT, GRADIENTS = ("leave_out", "gradients")
WAY = choice(PAGE, "way", (LEAVE_OUT, GRADIENTS))

WORDS, EDITS, BEFORE = ("words", "edits", "before")
SECTION = choice(PAGE, "section", (WORDS, EDITS, BEFORE))
WORD = number(PAGE, "word", between=(-1, 100_000), default=-1)
"""The position of the word whose label is explained; -1 for the first that has one."""
BASE = choice(PAGE, "base", ("",))
"""The model before fine-tuning, by its ID."""
COMPARED = choice(PAGE, "texts", ("",))
"""The collection that both models read, by its name."""
