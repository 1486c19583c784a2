"""Shares with transformers alone: at a layer, and followed down to the input tokens."""

from __future__ import annotations

from components.features.why.compute.shares import Integrated, IntegratedSide, SharesShown
from components.features.why.snippet.start import MAKES, numbers, of_side, reads, script, wires

__all__ = ["integrated_snippet", "shares_snippet"]

_SHARES = """
first, second = read({one}), read({other})
states = [each[0][{layer}].double() for each in (first, second)]
weights = [each[1].double() / each[1].sum() for each in (first, second)]
a, b = [w @ h for w, h in zip(weights, states)]
parts = [w[:, None] * h for w, h in zip(weights, states)]  # what each token adds to a and b
shares = parts[0] @ parts[1].T / (a.norm() * b.norm())
print(shares, "sum:", shares.sum())
"""
_INTEGRATED = """
def integrated(text, toward, cuts, n_steps, **how):
    \"\"\"What each token adds to the cosine with `toward`, from padding in its place on.\"\"\"
    table = model.get_input_embeddings()
    batch = tokenizer(
        text, how.get("pair"), truncation="longest_first", max_length={max_length},
        return_special_tokens_mask=True, return_tensors="pt",{segments}
    )
    own = batch.pop("special_tokens_mask")[0, :, None] == 0
    states, counts = read(text, **how)
    padded = table.weight[tokenizer.pad_token_id].detach()
    hook = table.register_forward_hook(lambda _, given, rows: torch.where(own, padded, rows))
    start = read(text, **how)[0][0]  # layer 0 with [PAD]'s word vectors
    hook.remove()

    def value(x):
        \"\"\"The cosine where layer 0 is `x`.\"\"\"
        if {layer} == 0:
            top = x
        else:
            hook = once(1, "", lambda _: x[None], before=True)
            top = model(**batch, output_hidden_states=True).hidden_states[{layer}][0]
            hook.remove()
        return torch.cosine_similarity(top[counts].double().mean(dim=0), toward, dim=0)

    way, slopes = states[0] - start, 0
    for low, high in itertools.pairwise(cuts):  # more steps where the cosine changes fast
        for place, part in zip(*numpy.polynomial.legendre.leggauss(n_steps)):
            x = (start + (low + (high - low) * (place + 1) / 2) * way).clone().requires_grad_()
            slope = torch.autograd.grad(value(x), x)[0].double()
            slopes = slopes + (high - low) * part / 2 * slope
    with torch.no_grad():
        ends = float(value(start)), float(value(states[0]))
    return (slopes * way).sum(dim=1), ends


shares, ends = {{}}, {{}}
shares["first"], ends["first"] = integrated(
    {one}, toward=b, cuts={first_cuts}, n_steps={n_first}
)
shares["second"], ends["second"] = integrated(
    {other}, toward=a, cuts={second_cuts}, n_steps={n_second}
)
for name, own in shares.items():
    start, end = ends[name]
    print(name, own, "sum:", own.sum(), "of", end - start)
"""


def shares_snippet(shown: SharesShown) -> str:
    """A script that leaves `shares`, (n_first, n_second) by token."""
    score = shown.score
    one, other = (of_side(side, score.what) for side in score.sides)
    body = _SHARES.format(one=one, other=other, layer=score.layer)
    return script(score.card, reads(score), body)


def integrated_snippet(shown: Integrated) -> str:
    """A script that leaves `shares` and `ends` of the "first" and "second" sentence."""
    score = shown.score
    one, other = (of_side(side, score.what) for side in score.sides)
    body = _INTEGRATED.format(
        max_length=score.card.max_length,
        segments=" return_token_type_ids=True," if score.card.has_segments else "",
        layer=score.layer,
        one=one,
        other=other,
        first_cuts=_cuts(shown.first),
        n_first=_on_each(shown.first),
        second_cuts=_cuts(shown.second),
        n_second=_on_each(shown.second),
    )
    parts = (reads(score), wires(score.card), MAKES, numbers(score), body)
    return script(score.card, *parts, imports=("itertools", "numpy"))


def _cuts(own: IntegratedSide) -> str:
    return f"({', '.join(f'{cut:g}' if cut in (0, 1) else repr(cut) for cut in own.cuts)})"


def _on_each(own: IntegratedSide) -> int:
    return own.n_steps // (len(own.cuts) - 1)
