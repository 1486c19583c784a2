"""Contextlens: what a BERT-family encoder does with your text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlens.core import open_service

__all__ = ["open_service"]


def __getattr__(name: str) -> Any:
    """Import a public name only once it is used: parts of the package load without the others."""
    if name == "open_service":
        from contextlens.core import open_service

        return open_service
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
