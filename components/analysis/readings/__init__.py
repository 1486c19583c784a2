"""What is on screen, said in words. Each reading is a pure function of the numbers shown.

Markdown comes out, with the numbers in bold. What a user typed is escaped by `quoted`. One module
for each page; `text` has what they share.
"""

from __future__ import annotations

from components.content.wording import escape, quoted
from components.features.anatomy.reading import (
    anatomy_reading,
    anatomy_title,
    models_reading,
    models_title,
    part_reading,
    search_reading,
    weights_reading,
)
from components.features.attention.reading.weights import (
    AttentionShown,
    attention_reading,
    attention_title,
    special_note,
)
from components.features.embedding_layer.reading.parts import (
    embedding_reading,
    embedding_title,
    neighbours_reading,
    same_rows_reading,
    same_rows_title,
    tiny,
    token_title,
)
from components.features.embedding_layer.reading.tables import (
    learned_reading,
    moved_reading,
    positions_reading,
    positions_title,
    segment_rows_reading,
)
from components.features.layers.reading.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
from components.features.layers.reading.tokens import (
    layers_picture_title,
    layers_reading,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
)
from components.features.map.reading.layers import parted_layers, senses_reading, senses_title
from components.features.map.reading.maps import (
    count_identical,
    label_agreement,
    map_reading,
    map_title,
)
from components.features.map.reading.points import (
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
)
from components.features.map.reading.trust import Verdict, VerdictWord, verdict
from components.features.masks.reading import (
    batch_title,
    cut_title,
    layers_title,
    limit_reading,
    limit_title,
    masks_reading,
    padding_note,
    percent,
    saving_reading,
    saving_title,
    share_title,
)
from components.features.tokens.reading.tokens import (
    back_reading,
    tokenizers_reading,
    tokens_reading,
    twins_reading,
)
from components.features.tokens.reading.vocabulary import row_reading, vocabulary_reading
from components.ui.widgets.comparison.reading import meaning_in_context, meaning_title

__all__ = [
    "AttentionShown",
    "Verdict",
    "VerdictWord",
    "alike_reading",
    "alike_title",
    "anatomy_reading",
    "anatomy_title",
    "attention_reading",
    "attention_title",
    "back_reading",
    "batch_title",
    "count_identical",
    "cut_title",
    "embedding_reading",
    "embedding_title",
    "escape",
    "label_agreement",
    "layers_picture_title",
    "layers_reading",
    "layers_title",
    "learned_reading",
    "limit_reading",
    "limit_title",
    "map_neighbours_reading",
    "map_reading",
    "map_title",
    "masks_reading",
    "meaning_in_context",
    "meaning_title",
    "models_reading",
    "models_title",
    "moved_reading",
    "nearest_reading",
    "neighbours_reading",
    "padding_note",
    "pairs_reading",
    "pairs_title",
    "part_reading",
    "parted_layers",
    "percent",
    "pinned_reading",
    "pooler_reading",
    "positions_reading",
    "positions_title",
    "quoted",
    "row_reading",
    "same_rows_reading",
    "same_rows_title",
    "saving_reading",
    "saving_title",
    "search_reading",
    "segment_rows_reading",
    "selection_reading",
    "senses_reading",
    "senses_title",
    "share_title",
    "special_note",
    "spread_reading",
    "spread_titles",
    "tiny",
    "token_title",
    "tokenizers_reading",
    "tokens_reading",
    "twins_reading",
    "verdict",
    "vocabulary_reading",
    "weights_reading",
]
