"""The embedding layer with transformers alone: rows, sum, layer 0, and each row's contribution."""

from __future__ import annotations

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.families import PROJECTIONS
from contextlens.core.schema import EmbeddingParts, ModelCard

PICTURE = """\
import plotly.express as px

names = [f"{i} {token}" for i, token in enumerate(tokenizer.convert_ids_to_tokens(ids))]
rows = [(n, part, v) for part in shares for n, v in zip(names, shares[part].tolist())]
px.bar(rows, x=0, y=2, color=1, labels={"0": "token", "1": "part", "2": "share of the sum"})
"""
"""Goes on from `embedding_snippet`: each part's share at each token."""

_PARTS = """\
shares, norms, moved, turned = {}, {}, {}, {}
for name, rows in parts.items():
    shares[name] = (rows * total).sum(-1) / (total * total).sum(-1).clamp(min=1e-24)
    norms[name] = rows.norm(dim=-1)
    with torch.inference_mode():
        without = finish(sum(other for part, other in parts.items() if part != name))
    moved[name] = (without - output).norm(dim=-1) / output.norm(dim=-1)
    turned[name] = 1 - torch.cosine_similarity(without, output, dim=-1)

for i, token in enumerate(tokenizer.convert_ids_to_tokens(ids)):
    print(i, token)
    for name in parts:
        print(
            f"  {name}: share {shares[name][i]:.1%}, norm {norms[name][i]:.4f}, left out: layer 0 "
            f"moves by {moved[name][i]:.1%} of its length (1 - cosine {turned[name][i]:.4f})"
        )
"""


def embedding_snippet(card: ModelCard, parts: EmbeddingParts) -> str:
    """A script that computes the rows, their sum, and the page's numbers for each part.

    It defines `parts` (the rows), `total`, `output` and `difference`, and by part, (n_tokens,)
    each, `shares`, `norms`, `moved` and `turned`.
    """
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
        "",
        "",
        "def finish(total):",
        '    """What follows the sum."""',
        f"    return {_after_sum(card, parts)}",
        "",
        "",
        "with torch.inference_mode():",
        '    parts = {"word": tables.word_embeddings(ids)}',
        *_position(parts),
        *_segment(card, parts),
        "    total = sum(parts.values())",
        "    output = finish(total)",
        "    layer_0 = model(**batch, output_hidden_states=True).hidden_states[0][0]",
        "difference = (output - layer_0).abs().max().item()",
        'print(f"largest difference to the model\'s own layer 0: {difference:.1e}")',
        "",
        *_PARTS.splitlines(),
    ]
    return "\n".join(lines) + "\n"


def _after_sum(card: ModelCard, parts: EmbeddingParts) -> str:
    normalized = "tables.LayerNorm(total)"
    return f"model.{PROJECTIONS[card.family]}({normalized})" if parts.projected else normalized


def _position(parts: EmbeddingParts) -> list[str]:
    """The code for positions, from 0, or from the row after padding in families with such a row."""
    if not parts.position_ids[0]:
        return ['    parts["position"] = tables.position_embeddings(torch.arange(len(ids)))']
    pad = int(parts.position_ids[0]) - 1
    return [
        f"    real = (ids != {pad}).long()  # padding keeps its own row",
        f"    places = torch.cumsum(real, 0) * real + {pad}",
        '    parts["position"] = tables.position_embeddings(places)',
    ]


def _segment(card: ModelCard, parts: EmbeddingParts) -> list[str]:
    if parts.segment is None:
        return []
    which = 'batch["token_type_ids"][0]' if card.has_segments else "torch.zeros_like(ids)"
    return [f'    parts["segment"] = tables.token_type_embeddings({which})']
