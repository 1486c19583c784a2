"""Switching parts off with transformers alone, the hooks written out."""

from __future__ import annotations

from components.analysis.snippet_start import literal
from components.core.families import FAMILIES
from components.features.why.compute.switch_off import SwitchedOff, sample
from components.features.why.snippet.start import MAKES, of_side, reads, script, wires

__all__ = ["switch_off_snippet"]

_ZERO = """
def constant(layer, part):
    return torch.zeros(model.config.hidden_size)
"""
_MEAN = """
def means_of_parts():
    \"\"\"Each part's mean output over all tokens of the sample sentences.\"\"\"
    rows = {{(n, part): [] for n in range(1, {n_layers}) for part in modules}}
    for text in sample:
        batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
        with torch.inference_mode(), contextlib.ExitStack() as stack:
            for (n, part), own in rows.items():
                stack.enter_context(hooked(n, part, lambda x, own=own: own.append(x[0]) or x))
            model(**batch)
    return {{place: torch.cat(own).mean(dim=0) for place, own in rows.items()}}


means = means_of_parts()


def constant(layer, part):
    return means[layer, part]
"""
_OFF = """
modules = {{  # of a layer, where each part passes
    "heads": {mixing},  # what goes in: all heads side by side
    "attention": {mixing},
    "feed_forward": {feed_forward},
}}
n_heads = model.config.num_attention_heads
size = model.config.hidden_size // n_heads


@contextlib.contextmanager
def hooked(layer, part, change):
    hook = once(layer, modules[part], change, before=part == "heads")
    yield
    hook.remove()


{constant}

def mean_cosine(vectors):
    found = [cosine(*pair) for pair in itertools.combinations(vectors, 2)]
    return sum(found) / len(found)


def without(layer, part, head=0, width=model.config.hidden_size):
    \"\"\"The change of the mean cosine with a part of a layer replaced by a constant.\"\"\"
    put, own = constant(layer, part), slice(head * width, (head + 1) * width)

    def change(x):
        x = x.clone()
        x[..., own] = put[own]
        return x

    vectors = []
    for sentence in sentences:
        with hooked(layer, part, change):
            vectors.append(sentence())
    return mean_cosine(vectors) - score


score = mean_cosine([sentence() for sentence in sentences])
heads = [[without(n, "heads", h, size) for h in range(n_heads)] for n in range(1, {n_layers})]
attention = [without(n, "attention") for n in range(1, {n_layers})]
feed_forward = [without(n, "feed_forward") for n in range(1, {n_layers})]
for n, (of_heads, *others) in enumerate(zip(heads, attention, feed_forward), start=1):
    print(f"layer {{n}}:", *[f"{{change:+.4f}}" for change in [*of_heads, *others]])
"""


def switch_off_snippet(shown: SwitchedOff) -> str:
    """A script that leaves `heads`, a list for each layer, `attention` and `feed_forward`."""
    score = shown.score
    parts = FAMILIES[score.card.family].parts
    sentences = [
        f"    functools.partial(vector, {of_side(side, score.what)})," for side in shown.sides
    ]
    texts = ["sample = [", *(f"    {literal(text)}," for text in sample()), "]"]
    constant = (
        _MEAN.format(n_layers=score.layer + 1, max_length=score.card.max_length)
        if shown.to == "mean"
        else _ZERO
    )
    body = _OFF.format(
        mixing=literal(parts.mixing),
        feed_forward=literal(parts.feed_forward),
        constant=constant.strip("\n") + "\n",
        n_layers=score.layer + 1,
    )
    return script(
        score.card,
        reads(score),
        wires(score.card),
        MAKES,
        "\n".join(["sentences = [", *sentences, "]"]),
        *(["\n".join(texts)] if shown.to == "mean" else []),
        body,
        imports=("contextlib", "functools", "itertools"),
    )
