"""Anatomy with transformers and torch alone: counts, operations, and one array's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard

PICTURE = """\
import pandas
import plotly.express as px

frame = pandas.DataFrame([dict(enumerate(name.split("."))) for name in parameters])
frame["parameters"] = [torch.Size(shape).numel() for shape in parameters.values()]
px.treemap(frame, path=list(frame.columns[:-1]), values="parameters")
"""
"""Goes on from `anatomy_snippet`: the parameters as areas."""

_COUNT = """
parameters = {name: tuple(p.shape) for name, p in model.named_parameters()}  # tied ones once
total = sum(p.numel() for p in model.parameters())
in_matrices = sum(p.numel() for p in model.parameters() if p.ndim == 2)
n_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
print(len(parameters), total, in_matrices, n_bytes)
"""

_OPERATIONS = """
with FlopCounterMode(display=False) as counter, torch.no_grad():
    model(input_ids=torch.ones(1, {n_tokens}, dtype=torch.long, device=model.device))
multiply_adds = counter.get_total_flops() // 2  # a multiply-add counts there as two
print(multiply_adds)
"""

_WEIGHTS = """
values = dict(model.named_parameters(remove_duplicate=False))[{name}].detach(){rows}
print(values.shape, values.mean(), values.std(correction=0), values.norm())
"""


def anatomy_snippet(load: list[str], *, pooler: bool, n_tokens: int | None) -> str:
    """A script that defines `parameters` (name -> shape), `total`, `in_matrices` and `n_bytes`.

    Args:
        load: lines that define `model`: `card_lines` of a loaded model, else `config_lines`.
        pooler: False removes the random pooler that transformers adds to a model without one.
        n_tokens: the number of tokens to count `multiply_adds` for; None leaves the count out.
    """
    lines = ["import torch", "from torch.utils.flop_counter import FlopCounterMode", *load]
    if not pooler:
        lines += ["model.pooler = None  # the checkpoint has no weights for one"]
    body = _COUNT + ("" if n_tokens is None else _OPERATIONS.format(n_tokens=n_tokens))
    return "\n".join(lines) + "\n" + body


def weights_snippet(card: ModelCard, name: str, *, is_matrix: bool, step: int = 1) -> str:
    """A script that defines `values` and, for a matrix, `singular`."""
    rows = f"[::{step}]  # every {step}th row, as on the page" if step > 1 else ""
    lines = ["import torch", *card_lines(card)]
    body = _WEIGHTS.format(name=literal(name), rows=rows)
    tail = "singular = torch.linalg.svdvals(values)\nprint(singular[:8])\n" if is_matrix else ""
    return "\n".join(lines) + "\n" + body + tail


def card_lines(card: ModelCard) -> list[str]:
    """Lines that define `model`, read from the files that the card names."""
    loading = [line for line in load_lines(card) if not line.startswith("tokenizer = ")]
    return ["from transformers import AutoModel", "", *loading]


def config_lines(config: Mapping[str, Any]) -> list[str]:
    """Lines that define `model`, built from a config on the meta device: shapes without values."""
    settings = [
        f"    {name}={literal(value) if isinstance(value, str) else repr(value)},"
        for name, value in config.items()
        if name != "model_type"
    ]
    return [
        "from transformers import AutoConfig, AutoModel",
        "",
        "config = AutoConfig.for_model(",
        f"    {literal(str(config['model_type']))},",
        *settings,
        ")",
        'with torch.device("meta"):  # shapes without numbers',
        '    model = AutoModel.from_config(config, attn_implementation="eager").eval()',
    ]
