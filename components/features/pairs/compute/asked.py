"""Which pairs a view asks for, and how a file's pairs are kept for whoever has its address."""

from __future__ import annotations

from components.core.errors import CorpusError
from components.corpus.readers import Sheet
from components.features.pairs.compute.bundled import bundled_pairs
from components.features.pairs.compute.files import PairColumns, chosen_columns, pairs_from
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.controls import COLUMNS, FILE, SOURCE
from components.ui.files import uploads
from components.ui.state.view import ViewState

__all__ = ["found_again", "pairs_of", "share"]


def pairs_of(view: ViewState) -> PairSet | None:
    """The pairs that a view names; None where a file is to be chosen first."""
    if SOURCE.of(view) != "file":
        return bundled_pairs()
    found = uploads.shared(FILE.of(view))
    return found if isinstance(found, PairSet) else None


def share(visitor: str, sheet: Sheet, columns: PairColumns) -> str:
    """Keep the pairs of a file's chosen columns for whoever has their digest, which is given.

    Raises:
        CorpusError: they cannot be used.
    """
    pairs = pairs_from(sheet, columns)
    digest = pairs.key[:32]
    uploads.keep_shared(visitor, digest, pairs, pairs.n_bytes)
    return digest


def found_again(visitor: str, view: ViewState, sheet: Sheet) -> PairColumns | None:
    """The columns of a file that a view names, where it is that one; they are shared again, then.

    They count only for a file that its visitor has just uploaded.
    """
    columns = chosen_columns(sheet, COLUMNS.of(view))
    try:
        pairs = pairs_from(sheet, columns)
    except CorpusError:
        return None
    if pairs.key[:32] != FILE.of(view):
        return None
    uploads.keep_shared(visitor, FILE.of(view), pairs, pairs.n_bytes)
    return columns
