"""`python -m components.features.why.table`: the heads that hold the senses of words apart.

Of the ambiguous words that ship with the app; `docs/why.md` shows what it prints.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from components.core import BUNDLED_ID, EncoderService, open_service
from components.core.cache import CachedService
from components.features.why.compute import HeadCosts, head_costs

__all__ = ["N_HEADS", "in_markdown", "main", "table"]

N_HEADS = 10
_N_WORDS = 3


def table(service: EncoderService, model: str = BUNDLED_ID, words: Sequence[str] = ()) -> str:
    """The table in Markdown: the ten heads whose absence costs most of the separation of senses."""
    own = service.uncached if isinstance(service, CachedService) else service
    return in_markdown(head_costs(own, own.load(model), words, told=_tell))


def in_markdown(costs: HeadCosts) -> str:
    """The measurements as a table in Markdown."""
    head = ["", "head", "change of the gap", "of it", "words that lose", "most"]
    lines = [_row(head), _row(["--:", "---", "--:", "--:", "--:", "---"])]
    lines += [
        _row(_cells(place, costs, layer, number))
        for place, (layer, number) in enumerate(costs.dearest(N_HEADS), start=1)
    ]
    return "\n".join([*lines, "", _foot(costs)])


def main(given: Sequence[str] | None = None) -> None:
    """Print the table of one model."""
    parser = argparse.ArgumentParser(
        prog="python -m components.features.why.table", description=__doc__
    )
    parser.add_argument("--model", default=BUNDLED_ID, help="a model's id (default: the bundled)")
    print(table(open_service(), parser.parse_args(given).model))


def _tell(word: str) -> None:
    print(word, file=sys.stderr, flush=True)


def _cells(place: int, costs: HeadCosts, layer: int, head: int) -> list[str]:
    own = costs.changes[:, layer - 1, head]
    mean, gap = float(own.mean()), float(costs.gaps.mean())
    lose = [i for i in np.argsort(own, kind="stable") if own[i] < 0]
    most = ", ".join(f"{costs.words[i]} ({own[i]:+.3f})" for i in lose[:_N_WORDS])
    return [
        str(place),
        f"layer {layer}, head {head}",
        f"{mean:+.4f}",
        f"{mean / gap:+.1%}" if gap else "",
        f"{len(lose)} of {len(own)}",
        most,
    ]


def _foot(costs: HeadCosts) -> str:
    means = costs.changes.mean(axis=0)
    lower = int((means < 0).sum())
    return (
        f"With all heads on, the gap is {costs.gaps.mean():.4f} on average over {len(costs.words)} "
        f"words. {lower} of {means.size} heads lower it when they are off; the largest rise is "
        f"{means.max():+.4f}."
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
