"""Attention with transformers alone: a head, a mean or rollout as on the page, and habits."""

from __future__ import annotations

import numpy as np

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard, Tokens
from contextlens.features.attention.compute import habit_names
from contextlens.features.attention.measures import Grid, HeadSelection, separators

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
_HEADS = {
    "layer": "attentions[{layer} - 1]",
    "all": "attentions.flatten(0, 1)",
    "head": "attentions[{layer} - 1, {head}:{head} + 1]",
    "rollout": "attentions[:{layer}].flatten(0, 1)",
}
_HABITS = """

def habits(heads):  # (heads, tokens, tokens), without padding
    return {{
        {names[0]}: heads.diagonal(-1, 1, 2).mean(),
        {names[1]}: heads.diagonal(1, 1, 2).mean(),
        {names[2]}: heads[..., 0].mean(),
        {names[3]}: heads[..., others].sum(dim=-1).mean(),
        {names[4]}: (heads * (word[:, None] == word)).sum(dim=-1).mean(),
        "entropy in bits": -(heads * heads.clamp(min=1e-30).log2()).sum(dim=-1).mean(),
    }}


real = batch["attention_mask"][0].bool()
others = {others}  # the special tokens after the first
word = torch.tensor({word})  # which word each token is of
measured = habits({heads}[:, real][:, :, real])
even = habits(torch.full((1, len(word), len(word)), 1 / len(word)))
for name, value in measured.items():
    print(f"{{name}} {{value:.4f}} (spread evenly, {{even[name]:.4f}})")
"""


def attention_snippet(
    card: ModelCard, tokens: Tokens, selection: HeadSelection, grid: Grid, pad: int
) -> str:
    """A script that defines `attention`, (n_rows, n_columns) as shown, and the reading's numbers.

    `received` is the mean weight of each column, `measured` the mean habits of the heads that are
    shown, and `even` the habits of evenly spread attention.

    Args:
        card: the model.
        tokens: the tokens of the text and its pair.
        selection: the selection shown: a head, a mean or rollout.
        grid: the rows and columns that are shown, and the tokens that are hidden.
        pad: the length padded to, 0 for none.
    """
    layer, head = selection.layer, selection.head
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        *_batch(card, (tokens.text, tokens.pair), pad),
        "with torch.inference_mode():",
        "    layers = model(**batch, output_attentions=True).attentions",
        "attentions = torch.stack(layers)[:, 0]  # (layers, heads, tokens, tokens)",
        *[line.format(layer=layer, head=head) for line in _SELECTED[selection.scope]],
        *_arranged(grid),
        _received(grid),
        "print(attention, received)",
        _habits(tokens, selection).rstrip(),
    ]
    return "\n".join(lines) + "\n"


def attention_picture(grid: Grid) -> str:
    """A script that goes on from `attention_snippet`: the weights as a heatmap."""
    rows, columns = (
        f"[{', '.join(literal(f'{i} {item.label}') for i, item in enumerate(items))}]"
        for items in (grid.rows, grid.columns)
    )
    lines = [
        "import plotly.express as px",
        "",
        f"rows = {rows}",
        f"columns = {'rows' if rows == columns else columns}",
        'names = {"x": "looks at", "y": "from", "color": "weight"}',
        'px.imshow(attention.numpy(), x=columns, y=rows, labels=names, aspect="auto")',
    ]
    return "\n".join(lines) + "\n"


def _batch(card: ModelCard, texts: tuple[str, str | None], pad: int) -> list[str]:
    written = ", ".join(literal(text) for text in texts if text is not None)
    padding = f'padding="max_length", max_length={pad}' if pad else f"max_length={card.max_length}"
    return [
        "batch = tokenizer(",
        f"    {written},",
        f'    truncation="longest_first", {padding}, return_tensors="pt",',
        # ALBERT's tokenizer returns segments only on request.
        *(["    return_token_type_ids=True,"] if card.has_segments else []),
        ")",
    ]


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
        "attention = torch.stack([attention[:, tokens].sum(dim=1) for tokens in columns], dim=1)",
        "attention = torch.stack([attention[tokens].mean(dim=0) for tokens in rows])",
    ]


def _received(grid: Grid) -> str:
    """The code for the mean weight of each column over the rows that are not padding."""
    real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
    rows = "" if len(real) == len(grid.rows) else f"[{real}]"
    return f"received = attention{rows}.mean(dim=0)"


def _habits(tokens: Tokens, selection: HeadSelection) -> str:
    real = np.flatnonzero(tokens.attention_mask)
    return _HABITS.format(
        names=[literal(name) for name in habit_names(selection)],
        others=np.flatnonzero(np.isin(real, separators(tokens))).tolist(),
        word=_words(tokens)[real].tolist(),
        heads=_HEADS[selection.scope].format(layer=selection.layer, head=selection.head),
    )


def _words(tokens: Tokens) -> np.ndarray:
    """(n_tokens,) the number of each token's word; a token outside any word has its own number."""
    texts, words = tokens.text_ids.tolist(), tokens.word_ids.tolist()
    keys = [
        (t, w) if w >= 0 else (-2, i) for i, (t, w) in enumerate(zip(texts, words, strict=True))
    ]
    numbers = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys])


def _hidden(grid: Grid) -> list[str]:
    if not grid.hidden:
        return []
    lines = ["attention = attention.clone()", f"attention[:, {list(grid.hidden)}] = 0"]
    if grid.renormalised:
        lines.append("attention = (attention / attention.sum(dim=1, keepdim=True)).nan_to_num()")
    return lines
