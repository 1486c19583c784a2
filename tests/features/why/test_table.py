"""The table of the heads that hold senses apart, on a tiny model."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import EncoderService
from components.features.why.compute import head_costs
from components.features.why.table import N_HEADS, in_markdown


@pytest.mark.slow
def test_it_names_the_heads_whose_absence_costs_most(tiny_service: EncoderService) -> None:
    words = ("python", "bank")
    costs = head_costs(tiny_service, tiny_service.load("folder:bert"), words)
    assert costs.changes.shape == (2, 3, 4)
    means = costs.changes.mean(axis=0)
    best = costs.dearest(3)
    assert means[best[0][0] - 1, best[0][1]] == means.min()
    assert [means[layer - 1, head] for layer, head in best] == sorted(means.ravel())[:3]
    lines = in_markdown(costs).splitlines()
    assert len(lines) == 2 + N_HEADS + 2
    layer, head = best[0]
    change = costs.changes[:, layer - 1, head]
    assert lines[2].startswith(f"| 1 | layer {layer}, head {head} | {change.mean():+.4f} |")
    assert f"{(change < 0).sum()} of 2" in lines[2]
    assert f"{costs.gaps.mean():.4f}" in lines[-1]
    assert np.isfinite(costs.gaps).all()
