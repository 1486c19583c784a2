"""Contextlens: what a BERT-family encoder does with your text."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlens.core import open_service
    from contextlens.show import Chart, show_attention, show_layers, show_map, show_meaning

__all__ = [
    "Chart",
    "open_service",
    "show_attention",
    "show_layers",
    "show_map",
    "show_meaning",
]


def __getattr__(name: str) -> Any:
    """Import a public name only once it is used: parts of the package load without the others."""
    if name in __all__:
        module = "contextlens.core" if name == "open_service" else "contextlens.show"
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
