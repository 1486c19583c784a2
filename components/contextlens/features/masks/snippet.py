"""Padding & masks with transformers alone: each text alone and padded, their cosines."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard

PICTURE = """\
import plotly.express as px

px.line(
    {name: cosines["mean"].tolist() for name, cosines in results.items()},
    markers=True, labels={"index": "layer", "value": "cosine, alone and padded"},
)
"""
"""Goes on from `masks_snippet`: a line for each text."""

_RUN = '''\
def run(text, pair, pad_to=None, mask=True):
    """The hidden states (layers, tokens, dims), and `pooler_output` where there is one."""
    batch = tokenizer(
        text, pair, truncation=True, max_length=pad_to or {max_length},
        padding="max_length" if pad_to else False,{segments} return_tensors="pt",
    )
    if not mask:
        batch["attention_mask"] = torch.ones_like(batch["attention_mask"])
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    return torch.cat(output.hidden_states), {pooled}


def cosine(a, b):
    return torch.cosine_similarity(a, b, dim=-1)
'''

_LOOP = """\
results = {}
for name, (text, pair) in texts.items():
    alone, alone_pooled = run(text, pair)
    padded, padded_pooled = run(text, pair, pad_to=PAD_TO, mask=MASK)
    real = alone.shape[1]  # padding stands behind the real tokens
    results[name] = {
        "tokens": cosine(alone, padded[:, :real]),
        "mean": cosine(alone.mean(1), padded[:, :real].mean(1)),
        "mean with padding": cosine(alone.mean(1), padded.mean(1)),
    }
    if alone_pooled is not None:
        results[name]["pooler_output"] = cosine(alone_pooled, padded_pooled)
    print(name, [f"{value:.4f}" for value in results[name]["mean"].tolist()])
"""


def masks_snippet(
    card: ModelCard, texts: Sequence[tuple[str, str, str | None]], *, pad_to: int, masked: bool
) -> str:
    """A script that leaves `results`: for each (name, text, pair), cosines at each layer."""
    pooled = "None" if card.provenance.pooler.state == "absent" else "output.pooler_output[0]"
    segments = " return_token_type_ids=True," if card.has_segments else ""
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        f"PAD_TO = {pad_to}",
        f"MASK = {masked}",
        "",
        *_RUN.format(max_length=card.max_length, segments=segments, pooled=pooled).splitlines(),
        "",
        "",
        "texts = {",
        *(
            f"    {literal(name)}: ({literal(text)}, {'None' if pair is None else literal(pair)}),"
            for name, text, pair in texts
        ),
        "}",
        *_LOOP.splitlines(),
    ]
    return "\n".join(lines) + "\n"
