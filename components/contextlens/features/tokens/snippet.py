"""Tokens & IDs with transformers alone: the table of tokens, and an ID's row in two ways."""

from __future__ import annotations

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard

PICTURE = """\
import plotly.graph_objects as go

columns = {"token": tokens, "ID": batch["input_ids"], "mask": batch["attention_mask"]}
go.Figure(go.Table(header={"values": list(columns)}, cells={"values": list(columns.values())}))
"""
"""Goes on from `tokens_snippet`: the table of tokens."""


def tokens_snippet(
    card: ModelCard, text: str, pair: str | None, *, cut: int, pad_to: int | None
) -> str:
    """A script that computes `batch` (IDs, mask, segments, offsets), `tokens` and `decoded`."""
    texts = f"{literal(text)}, {literal(pair)}" if pair else literal(text)
    lines = [
        "from transformers import AutoTokenizer",
        "",
        *[line for line in load_lines(card) if not line.startswith("model = ")],
        "",
        "batch = tokenizer(",
        f"    {texts},",
        f'    truncation="longest_first", max_length={cut}, return_offsets_mapping=True,',
        ")",
        *(
            []
            if pad_to is None
            else [f'batch = tokenizer.pad(batch, padding="max_length", max_length={pad_to})']
        ),
        'tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"])',
        'decoded = tokenizer.decode(batch["input_ids"])',
        'for token, token_id, mask in zip(tokens, batch["input_ids"], batch["attention_mask"]):',
        "    print(token, token_id, mask)",
        "print(decoded)",
    ]
    return "\n".join(lines) + "\n"


def row_snippet(card: ModelCard, token_id: int) -> str:
    """A script that computes `row` and `product`, (dims,) each, which are equal."""
    lines = [
        "import torch",
        "from transformers import AutoModel",
        "",
        *[line for line in load_lines(card) if not line.startswith("tokenizer = ")],
        "matrix = model.get_input_embeddings().weight.detach()",
        f"one_hot = torch.zeros(len(matrix)).index_fill(0, torch.tensor({token_id}), 1.0)",
        "product = one_hot @ matrix",
        f"row = matrix[{token_id}]",
        "print(torch.equal(product, row), row[:8])",
    ]
    return "\n".join(lines) + "\n"
