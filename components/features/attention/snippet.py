"""Attention with transformers alone: a head, a mean or rollout, as the page shows it."""

from __future__ import annotations

from components.analysis.snippet_start import literal, load_lines
from components.core.schema import ModelCard
from components.features.attention.measures.grid import Grid
from components.features.attention.measures.selection import Selection

__all__ = ["attention_snippet"]

_SELECTED = {
    "layer": ["attention = attentions[{layer} - 1].mean(dim=0)"],
    "all": ["attention = attentions.mean(dim=(0, 1))"],
    "head": ["attention = attentions[{layer} - 1, {head}]  # layers from 1, heads from 0"],
    "rollout": [
        "attention = torch.eye(attentions.shape[-1])",
        "for mean in attentions[:{layer}].mean(dim=1):",
        "    mixed = 0.5 * mean + 0.5 * torch.eye(len(mean))",
        "    attention = mixed / mixed.sum(dim=-1, keepdim=True) @ attention",
    ],
}


def attention_snippet(
    card: ModelCard, texts: tuple[str, str | None], selection: Selection, grid: Grid, pad: int
) -> str:
    """A script that leaves `attention`, (n_rows, n_columns) as shown.

    Args:
        card: the model.
        texts: the text, and its pair or None.
        selection: what is shown: a head, a mean or rollout.
        grid: which rows and columns are shown, and how they were made.
        pad: the length that was padded to, 0 for none.
    """
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        *_batch(card, texts, pad),
        "with torch.inference_mode():",
        "    layers = model(**batch, output_attentions=True).attentions",
        "attentions = torch.stack(layers)[:, 0]  # (layers, heads, tokens, tokens)",
        *_selected(selection),
        *_arranged(grid),
        "print(attention)",
    ]
    return "\n".join(lines) + "\n"


def _batch(card: ModelCard, texts: tuple[str, str | None], pad: int) -> list[str]:
    written = ", ".join(literal(text) for text in texts if text is not None)
    padding = f'padding="max_length", max_length={pad}' if pad else f"max_length={card.max_length}"
    return [
        "batch = tokenizer(",
        f"    {written},",
        f'    truncation="longest_first", {padding}, return_tensors="pt",',
        # ALBERT's tokenizer hands its segments out only when asked.
        *(["    return_token_type_ids=True,"] if card.has_segments else []),
        ")",
    ]


def _selected(selection: Selection) -> list[str]:
    lines = _SELECTED[selection.scope]
    return [line.format(layer=selection.layer, head=selection.head) for line in lines]


def _arranged(grid: Grid) -> list[str]:
    rows = [list(item.positions) for item in grid.rows]
    columns = [list(item.positions) for item in grid.columns]
    n_tokens = sum(map(len, rows)) + len(grid.hidden)
    if grid.is_square and len(rows) == n_tokens:
        return []
    return [
        *_hidden(grid),
        f"rows = {rows}  # tokens of each",
        f"columns = {columns}" if not grid.is_square else "columns = rows",
        "attention = torch.stack([attention[:, own].sum(dim=1) for own in columns], dim=1)",
        "attention = torch.stack([attention[own].mean(dim=0) for own in rows])",
    ]


def _hidden(grid: Grid) -> list[str]:
    if not grid.hidden:
        return []
    lines = ["attention = attention.clone()", f"attention[:, {list(grid.hidden)}] = 0"]
    if grid.renormalised:
        lines.append("attention = (attention / attention.sum(dim=1, keepdim=True)).nan_to_num()")
    return lines
