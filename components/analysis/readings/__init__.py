"""What is on screen, said in words. Each reading is a pure function of the numbers shown.

Markdown comes out, with the numbers in bold. What a user typed is escaped by `quoted`. One module
for each page; `text` has what they share.
"""

from __future__ import annotations

from components.analysis.readings.layers import (
    layers_reading,
    layers_title,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
)
from components.analysis.readings.meaning import meaning_in_context, meaning_title
from components.analysis.readings.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
from components.analysis.readings.text import escape, quoted
from components.analysis.readings.tokens import (
    back_reading,
    tokenizers_reading,
    tokens_reading,
    twins_reading,
)
from components.analysis.readings.vocabulary import row_reading, vocabulary_reading

__all__ = [
    "alike_reading",
    "alike_title",
    "back_reading",
    "escape",
    "layers_reading",
    "layers_title",
    "meaning_in_context",
    "meaning_title",
    "nearest_reading",
    "pairs_reading",
    "pairs_title",
    "pooler_reading",
    "quoted",
    "row_reading",
    "spread_reading",
    "spread_titles",
    "tokenizers_reading",
    "tokens_reading",
    "twins_reading",
    "vocabulary_reading",
]
