"""The embedding layer with transformers alone: the rows, their sum, and the model's own layer 0."""

from __future__ import annotations

from components.analysis.snippet_start import literal, load_lines
from components.core.schema import PROJECTIONS, EmbeddingParts, ModelCard

__all__ = ["embedding_snippet"]


def embedding_snippet(card: ModelCard, parts: EmbeddingParts) -> str:
    """A script that leaves `word`, `position`, `total`, `output` and `difference`."""
    tokens = parts.tokens
    pair = "" if tokens.pair is None else f", {literal(tokens.pair)}"
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "batch = tokenizer(",
        f"    {literal(tokens.text)}{pair},",
        f'    truncation=True, max_length={card.max_length}, return_tensors="pt",',
        *(["    return_token_type_ids=True,"] if card.has_segments else []),
        ")",
        'ids = batch["input_ids"][0]',
        "tables = model.embeddings",
        "with torch.inference_mode():",
        "    word = tables.word_embeddings(ids)",
        *_position(parts),
        *_segment(card, parts),
        f"    total = word + position{'' if parts.segment is None else ' + segment'}",
        "    output = tables.LayerNorm(total)",
        *(_project(card) if parts.projected else []),
        "    layer_0 = model(**batch, output_hidden_states=True).hidden_states[0][0]",
        "difference = (output - layer_0).abs().max().item()",
        "print(tokenizer.convert_ids_to_tokens(ids))",
        'print(f"largest difference to the model\'s own layer 0: {difference:.1e}")',
    ]
    return "\n".join(lines) + "\n"


def _position(parts: EmbeddingParts) -> list[str]:
    """Rows counted from 0; in families that skip the padding's row, from the one after it."""
    if not parts.position_ids[0]:
        return ["    position = tables.position_embeddings(torch.arange(len(ids)))"]
    pad = int(parts.position_ids[0]) - 1
    return [
        f"    real = (ids != {pad}).long()  # padding keeps its own row",
        f"    position = tables.position_embeddings(torch.cumsum(real, 0) * real + {pad})",
    ]


def _segment(card: ModelCard, parts: EmbeddingParts) -> list[str]:
    if parts.segment is None:
        return []
    which = 'batch["token_type_ids"][0]' if card.has_segments else "torch.zeros_like(ids)"
    return [f"    segment = tables.token_type_embeddings({which})"]


def _project(card: ModelCard) -> list[str]:
    return [f"    output = model.{PROJECTIONS[card.family]}(output)"]
