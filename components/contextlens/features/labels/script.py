"""The beginning of every script that labels a text with transformers' pipeline."""

from __future__ import annotations

from contextlens.analysis.snippet_start import import_lines, join_lines, literal, model_arguments
from contextlens.core.schema import ModelCard


def pipeline_lines(card: ModelCard, task: str) -> str:
    """Return lines that make the pipeline `label` of a card's model, which reads as this app does.

    Args:
        card: the model's card.
        task: the pipeline's name in transformers.
    """
    is_hub = card.source == "hub"
    source = literal(card.repository if is_hub else f"path/to/{card.title}")
    revision = f"revision={literal(card.revision)}, " if is_hub else ""
    lines = [
        "import torch",
        "from transformers import AutoTokenizer, pipeline",
        "",
        *import_lines(card),
        f"source = {source}",
        f"tokenizer = {card.read_by}.from_pretrained(",
        f"    source, {revision}model_max_length={card.max_length}",
        ")",
        "label = pipeline(",
        f'    "{task}", model=source, {revision}tokenizer=tokenizer, {model_arguments(card)}',
        ")",
        *join_lines(card, "label.model", f"source, {revision}".removesuffix(", ")),
    ]
    return "\n".join(lines) + "\n"
