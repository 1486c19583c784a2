"""What visitors' files hold in memory, bounded for each visitor and for all of them together.

Where there is no more room, the visitor who holds most gives up what was unused for longest: files
of one visitor, however many, never push out the small ones of others. No streamlit.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Shelf"]

_OVERHEAD = 4_096
"""Bytes counted for each thing beside its texts."""


@dataclass(eq=False)
class _Kept:
    """One thing, the bytes that it takes, and the visitors who put it there."""

    value: Any
    n_bytes: int
    owners: dict[str, None] = field(default_factory=dict)


class Shelf:
    """Things by name, each for the visitors who put it there. Thread-safe."""

    def __init__(self, max_bytes: int, *, max_own_bytes: int, max_own: int) -> None:
        """An empty shelf.

        Args:
            max_bytes: what all of it may take.
            max_own_bytes: what one visitor's things may take.
            max_own: how many things one visitor may have there.
        """
        self._max_bytes, self._max_own_bytes, self._max_own = max_bytes, max_own_bytes, max_own
        self._kept: OrderedDict[str, _Kept] = OrderedDict()  # what was used last comes last
        self._lock = threading.Lock()

    @property
    def n_bytes(self) -> int:
        """What all of it takes."""
        with self._lock:
            return self._taken()

    def put(self, visitor: str, name: str, value: Any, n_bytes: int) -> None:
        """Keep a thing for a visitor; what there is of the same name stays as it is."""
        with self._lock:
            kept = self._kept.setdefault(name, _Kept(value, n_bytes + _OVERHEAD))
            kept.owners[visitor] = None
            self._kept.move_to_end(name)
            own = self._of(visitor)
            while len(own) > 1 and (
                len(own) > self._max_own or self._size(own) > self._max_own_bytes
            ):
                self._leave(own.pop(0), visitor)
            while len(self._kept) > 1 and self._taken() > self._max_bytes:
                largest = max(self._owners(), key=lambda owner: self._size(self._of(owner)))
                self._leave(self._of(largest)[0], largest)

    def get(self, name: str, *, of: str = "") -> Any | None:
        """What is there under a name; None where it is not, or no longer.

        Args:
            name: what it was put there under.
            of: the visitor who put it there; "" for whoever did.
        """
        with self._lock:
            kept = self._kept.get(name)
            if kept is None or (of and of not in kept.owners):
                return None
            self._kept.move_to_end(name)
            return kept.value

    def _of(self, visitor: str) -> list[str]:
        """The names of a visitor's things, that unused for longest first."""
        return [name for name, kept in self._kept.items() if visitor in kept.owners]

    def _owners(self) -> set[str]:
        return {owner for kept in self._kept.values() for owner in kept.owners}

    def _size(self, names: list[str]) -> int:
        return sum(self._kept[name].n_bytes for name in names)

    def _taken(self) -> int:
        return sum(kept.n_bytes for kept in self._kept.values())

    def _leave(self, name: str, visitor: str) -> None:
        """A visitor gives a thing up; it goes where nobody else put it there."""
        owners = self._kept[name].owners
        del owners[visitor]
        if not owners:
            del self._kept[name]
