"""What is on screen, said in words. Each reading is a pure function of the numbers shown.

Markdown comes out, with the numbers in bold. What a user typed is escaped by `quoted`. One module
for each page; `text` has what they share.
"""

from __future__ import annotations

from components.analysis.readings.attention import (
    AttentionShown,
    attention_reading,
    attention_title,
    special_note,
)
from components.analysis.readings.meaning import meaning_in_context, meaning_title
from components.analysis.readings.text import escape, quoted
from components.analysis.readings.tokens import (
    back_reading,
    tokenizers_reading,
    tokens_reading,
    twins_reading,
)
from components.analysis.readings.vocabulary import row_reading, vocabulary_reading

__all__ = [
    "AttentionShown",
    "attention_reading",
    "attention_title",
    "back_reading",
    "escape",
    "meaning_in_context",
    "meaning_title",
    "quoted",
    "row_reading",
    "special_note",
    "tokenizers_reading",
    "tokens_reading",
    "twins_reading",
    "vocabulary_reading",
]
