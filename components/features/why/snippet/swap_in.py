"""Swapping hidden states in with transformers alone, the hook written out."""

from __future__ import annotations

from components.features.why.compute.swap_in import SwappedIn
from components.features.why.snippet.start import of_side, reads, script, wires

__all__ = ["swap_in_snippet"]

_SWAP = """
states, counts = read({receiver})
donor, donor_counts = read({donor})
pairs = {pairs}  # positions in the one and in the other
start = states[{layer}, counts].double().mean(dim=0)
way = donor[{layer}, donor_counts].double().mean(dim=0) - start


def swapped(layer, i, j):
    \"\"\"The states of all layers where one of them has the other's state at a position.\"\"\"

    def put(x):
        x = x.clone()
        x[..., i, :] = donor[layer, j]
        return x

    if layer == {layer}:
        return torch.stack([*states[:layer], put(states[layer])])
    hook = once(layer + 1, "", put, before=True)
    moved, _ = read({receiver})
    hook.remove()
    return moved


fractions = torch.zeros({n_layers}, len(pairs))
for layer in range({n_layers}):
    for k, (i, j) in enumerate(pairs):
        moved = swapped(layer, i, j)[{layer}, counts].double().mean(dim=0) - start
        fractions[layer, k] = moved @ way / (way @ way)
print(fractions)
"""


def swap_in_snippet(shown: SwappedIn) -> str:
    """A script that leaves `fractions`, (n_layers, n_aligned); of no way, only both vectors."""
    score = shown.score
    if shown.problem is not None:
        ends = f"a = vector({of_side(score.first, score.what)})\n"
        ends += f"b = vector({of_side(score.second, score.what)})\nprint((a - b).norm())"
        return script(score.card, reads(score), ends)
    body = _SWAP.format(
        receiver=of_side(shown.receiver, score.what),
        donor=of_side(shown.donor, score.what),
        pairs=list(shown.alignment.pairs),
        layer=score.layer,
        n_layers=score.layer + 1,
    )
    return script(score.card, reads(score), wires(score.card), body, imports=("itertools",))
