"""The numbers of each look as rows and arrays: for the page's tables and its files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.features.why.compute.edits import EditsShown
from components.features.why.compute.leave_out import LeftOut
from components.features.why.compute.shares import Integrated, SharesShown
from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff

__all__ = ["arrays", "rows"]

Rows = list[dict[str, Any]]


@singledispatch
def rows(shown: object) -> Rows:
    """A row for each number shown, as in a CSV file."""
    raise TypeError(f"There is no table of {type(shown).__name__}.")


@rows.register
def _(shown: SharesShown) -> Rows:
    one, other = shown.score.sides
    return [
        {
            "first": one.letter,
            "first position": a.positions[0],
            "first word": a.label,
            "second": other.letter,
            "second position": b.positions[0],
            "second word": b.label,
            "share": float(share),
        }
        for a, cells in zip(one.units, shown.by_word.cells, strict=True)
        for b, share in zip(other.units, cells, strict=True)
    ]


@rows.register
def _(shown: Integrated) -> Rows:
    return [
        {
            "sentence": own.side.letter,
            "position": i,
            "token": label,
            "share": float(share),
            "start": own.start,
            "end": own.end,
            "remainder": own.remainder,
            "steps": own.n_steps,
        }
        for own in shown.sides
        for i, (label, share) in enumerate(zip(own.side.labels, own.shares, strict=True))
    ]


@rows.register
def _(shown: LeftOut) -> Rows:
    letters = [side.letter for side in shown.score.sides]
    return [
        {
            "sentence": letters[word.side],
            "position": word.unit.positions[0],
            "word left out": word.unit.label,
            "cosine": word.cosine,
            "change": word.change,
            "share": float(share),
        }
        for word, share in zip(shown.words, shown.shares, strict=True)
    ]


@rows.register
def _(shown: SwitchedOff) -> Rows:
    found: Rows = []
    for row, layer in enumerate(shown.layers):
        own = {
            **{f"head {head}": value for head, value in enumerate(shown.heads[row])},
            "attention": shown.attention[row],
            "feed-forward": shown.feed_forward[row],
        }
        found += [
            {"layer": layer, "switched off": name, "change": float(value)}
            for name, value in own.items()
        ]
    return found


@rows.register
def _(shown: SwappedIn) -> Rows:
    pairs = list(zip(shown.names, shown.alignment.pairs, strict=True))
    return [
        {
            "layer": layer,
            "position": i,
            "from position": j,
            "token": name,
            "share of the way": float(shown.fractions[row, column]),
        }
        for row, layer in enumerate(shown.layers if shown.fractions.size else ())
        for column, (name, (i, j)) in enumerate(pairs)
    ]


@rows.register
def _(shown: EditsShown) -> Rows:
    return [
        {
            "edit": each.edit.kind,
            "changed": each.edit.what,
            "text": each.edit.text,
            "cosine": each.cosine,
        }
        for each in shown.edits
    ]


@singledispatch
def arrays(shown: object) -> Mapping[str, NDArray[Any]]:
    """What is shown, by name, as in an NPZ file."""
    raise TypeError(f"There are no arrays of {type(shown).__name__}.")


@arrays.register
def _(shown: SharesShown) -> Mapping[str, NDArray[Any]]:
    one, other = shown.score.sides
    return {
        "shares": shown.by_token.cells,
        "word_shares": shown.by_word.cells,
        "first_tokens": np.array(one.encoding.tokens),
        "second_tokens": np.array(other.encoding.tokens),
        "first_words": np.array([unit.label for unit in one.units]),
        "second_words": np.array([unit.label for unit in other.units]),
        "cosines": shown.score.cosines,
    }


@arrays.register
def _(shown: Integrated) -> Mapping[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for name, own in zip(("first", "second"), shown.sides, strict=True):
        ends = np.array([own.start, own.end, own.remainder])
        found |= {f"{name}_shares": own.shares, f"{name}_start_end_remainder": ends}
    return found


@arrays.register
def _(shown: LeftOut) -> Mapping[str, NDArray[Any]]:
    pairs = {} if shown.pairs is None else {"pairs": shown.pairs}
    return {
        "changes": shown.changes,
        "shares": shown.shares,
        "sides": np.array([word.side for word in shown.words], dtype=np.int64),
        "words": np.array([word.unit.label for word in shown.words], dtype=np.str_),
        **pairs,
    }


@arrays.register
def _(shown: SwitchedOff) -> Mapping[str, NDArray[Any]]:
    return {
        "heads": shown.heads,
        "attention": shown.attention,
        "feed_forward": shown.feed_forward,
        "each_pair": shown.each,
        "layers": np.array(shown.layers, dtype=np.int64),
    }


@arrays.register
def _(shown: SwappedIn) -> Mapping[str, NDArray[Any]]:
    return {
        "fractions": shown.fractions,
        "layers": np.array(shown.layers),
        "positions": np.array(shown.alignment.pairs, dtype=np.int64).reshape(-1, 2),
    }


@arrays.register
def _(shown: EditsShown) -> Mapping[str, NDArray[Any]]:
    return {
        "texts": np.array([each.edit.text for each in shown.edits], dtype=np.str_),
        "cosines": np.array([each.cosine for each in shown.edits], dtype=np.float64),
    }
