"""The numbers of the Anatomy page as rows and arrays: for its tables and its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.core.schema import Architecture
from components.features.anatomy.compute.anatomy import AnatomyView
from components.features.anatomy.measures.costs import operations
from components.features.anatomy.measures.parameters import (
    Node,
    build_tree,
    n_values,
    parameter_rows,
)

__all__ = ["arrays", "counts_by_part", "parameters_table", "rows_below"]


def parameters_table(anatomy: AnatomyView) -> pd.DataFrame:
    """A row for each array, of those that were found where something is searched."""
    table = pd.DataFrame(parameter_rows(anatomy.tree))
    if anatomy.lit is not None:
        table = table[table["name"].isin(anatomy.lit)]
    return table if table["tied to"].any() else table.drop(columns="tied to")


def rows_below(part: Node) -> list[Mapping[str, str | int]]:
    """The parts or the arrays that a part consists of."""
    if part.children:
        return [{"part": c.name, "parameters": c.n_values} for c in part.children]
    return [
        {
            "array": p.name.rpartition(".")[2],
            "shape": " × ".join(map(str, p.shape)),
            "parameters": n_values(p),
        }
        for p in part.parameters
    ]


def counts_by_part(architecture: Architecture) -> dict[str, int]:
    """How many parameters stand in the embedding layer, in the layers and in the pooler."""
    counts = {"Embedding layer": 0, "Layers": 0, "Pooler": 0}
    names = {"embeddings": "Embedding layer", "pooler": "Pooler"}
    for child in build_tree(architecture).children:
        counts[names.get(child.kind, "Layers")] += child.n_values
    return counts


def arrays(anatomy: AnatomyView) -> dict[str, NDArray[Any]]:
    """Every parameter and the work of a text, by name."""
    own = anatomy.architecture.parameters
    work = operations(anatomy.architecture, anatomy.n_tokens)
    return {
        "names": np.array([p.name for p in own]),
        "shapes": np.array([str(p.shape) for p in own]),
        "n_values": np.array([n_values(p) for p in own], dtype=np.int64),
        "n_bytes": np.array([p.n_bytes for p in own], dtype=np.int64),
        "tied_to": np.array([p.tied_to or "" for p in own]),
        "n_tokens": np.array(anatomy.n_tokens),
        "multiply_adds": np.array([work.linear, work.attention, work.pooler], dtype=np.int64),
    }
