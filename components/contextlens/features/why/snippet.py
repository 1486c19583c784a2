"""Scripts that compute each look of Why alike? with transformers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import combinations

import numpy as np

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.families import FAMILIES
from contextlens.core.schema import ModelCard
from contextlens.core.words import Span
from contextlens.features.why.compute import (
    InputShares,
    InputsResult,
    LeaveOutResult,
    LeftOutWord,
    SharesResult,
    SwapInResult,
    SwitchOffResult,
    sample,
)
from contextlens.features.why.measures import VectorKind, cut
from contextlens.features.why.score import Score, Side
from contextlens.ui.widgets.comparison.compute import chosen_span

# --- The beginning of every script

_COUNTS = {
    "mean": ['    counts = batch["attention_mask"][0].bool()  # the mean of all real tokens'],
    "cls": ["    counts = torch.arange(len(first)) == 0  # the first token alone"],
    "word": [
        "    is_own = torch.tensor([n == 0 for n in batch.sequence_ids(0)])  # not the pair's",
        "    counts = is_own & (first < word[1]) & (last > word[0])  # the word's tokens",
    ],
}
_WIRES = """
layers = model.get_submodule("{layers}")  # fewer than n_layers where layers share weights
n_layers = model.config.num_hidden_layers
blocks = [layers[int(n / (n_layers / len(layers)))] for n in range(n_layers)]


def once(layer, name, change, before=False):
    \"\"\"A hook on a module of a layer: changes what comes out of it, or what goes in before.\"\"\"
    module, calls = blocks[layer - 1].get_submodule(name), itertools.count()
    earlier = sum(block is blocks[layer - 1] for block in blocks[: layer - 1])

    def goes_in(_, given):
        return (change(given[0]), *given[1:]) if next(calls) == earlier else None

    def comes_out(_, given, made):
        return change(made) if next(calls) == earlier else None

    add = module.register_forward_pre_hook if before else module.register_forward_hook
    return add(goes_in if before else comes_out)
"""
MAKES = """
def cosine(a, b):
    return float(torch.cosine_similarity(a, b, dim=0))
"""


def script(card: ModelCard, *parts: str, imports: Sequence[str] = ()) -> str:
    """A whole script: imports, the model, and its parts."""
    head = [
        *(f"import {name}" for name in imports),
        *([""] if imports else []),
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
    ]
    return "\n".join(head) + "\n" + "\n".join(part.strip("\n") + "\n" for part in parts)


def reads(score: Score, *, hides: bool = False) -> str:
    """The definitions of `read` (states of all layers, and the tokens that count) and `vector`."""
    kind, card = score.vector_kind, score.card
    word = ", word=None" if kind == "word" else ""
    hidden, passed = (", hidden=()", ", hidden") if hides else ("", "")
    passed = f"{', word' if word else ''}{passed}"
    lines = [
        f"def read(text, pair=None{word}{hidden}):",
        '    """Hidden states (layers, tokens, dims), and which tokens count."""',
        "    batch = tokenizer(",
        f'        text, pair, truncation="longest_first", max_length={card.max_length},',
        '        return_offsets_mapping=True, return_tensors="pt",',
        *(["        return_token_type_ids=True,"] if card.has_segments else []),
        "    )",
        '    first, last = batch.pop("offset_mapping")[0].T',
        *(
            ['    batch["attention_mask"][0, list(hidden)] = 0  # nothing looks at them']
            if hides
            else []
        ),
        *_COUNTS[kind],
        "    with torch.inference_mode():",
        "        states = model(**batch, output_hidden_states=True).hidden_states",
        "    return torch.stack(states)[:, 0], counts",
        "",
        "",
        f"def vector(text, pair=None{word}{hidden}):",
        f'    """What is compared of a text at layer {score.layer}, (dims,)."""',
        f"    states, counts = read(text, pair{passed})",
        f"    return states[{score.layer}, counts].double().mean(dim=0)",
        "",
    ]
    return "\n".join(lines)


def given(text: str, pair: str | None, span: Span | None, hidden: Sequence[int] = ()) -> str:
    """The arguments of `read` and `vector` for a text."""
    parts = [literal(text)]
    parts += [f"pair={literal(pair)}"] if pair is not None else []
    parts += [f"word={span}"] if span is not None else []
    parts += [f"hidden={list(hidden)}"] if hidden else []
    return ", ".join(parts)


def of_side(side: Side, kind: VectorKind) -> str:
    """The arguments for an unchanged sentence."""
    span = chosen_span(side.sentence) if kind == "word" else None
    return given(side.encoding.text, side.encoding.pair, span)


def numbers(score: Score) -> str:
    """The lines that compute both sentences' vectors, `a` and `b`, and their cosine, `score`."""
    first, second = (of_side(side, score.vector_kind) for side in score.sides)
    return f"a = vector({first})\nb = vector({second})\nscore = cosine(a, b)"


def wires(card: ModelCard) -> str:
    """The definitions of `blocks`, the layers, and of `once`, which hooks a part of a layer."""
    return _WIRES.format(layers=FAMILIES[card.family].parts.layers)


# --- Leaving out with transformers alone

MAX_WRITTEN = 40
"""Maximum words, and pairs of words, in the script: those with the largest effects."""

_CHANGES = """
changes = {name: cosine(one, other) - score for name, (one, other) in cases.items()}
for name, change in changes.items():
    print(f"{name}: {change:+.4f}")
"""


def leave_out_snippet(result: LeaveOutResult) -> str:
    """A script that computes `changes`, a dict by `case_name`."""
    score = result.score
    lines = ["cases = {  # what is left out, and both vectors without it"]
    for case in written_cases(result):
        vectors = [_without(result, side, [w for w in case if w.side == side]) for side in (0, 1)]
        lines.append(f"    {literal(case_name(result, case))}: ({vectors[0]}, {vectors[1]}),")
    parts = (
        reads(score, hides=result.how == "hidden"),
        MAKES,
        numbers(score),
        "\n".join([*lines, "}"]),
        _CHANGES,
    )
    return script(score.card, *parts)


def written_cases(result: LeaveOutResult) -> list[tuple[LeftOutWord, ...]]:
    """Words, then pairs of words if they were left out: those with the largest effects."""
    order = np.argsort(-np.abs(result.changes), kind="stable")[:MAX_WRITTEN]
    single: list[tuple[LeftOutWord, ...]] = [(result.words[i],) for i in sorted(order.tolist())]
    if result.pairs is None:
        return single
    pairs = list(combinations(range(len(result.words)), 2))
    pairs.sort(key=lambda pair: -abs(float(result.pairs[pair])))  # type: ignore[index]
    return [*single, *((result.words[i], result.words[j]) for i, j in pairs[:MAX_WRITTEN])]


def case_name(result: LeaveOutResult, case: tuple[LeftOutWord, ...]) -> str:
    """The name of the words that are left out: by letter, position and word."""
    sides = result.score.sides
    names = (f"{sides[w.side].letter} {w.unit.positions[0]} {w.unit.label}" for w in case)
    sided_names = [f"{name} ({w.side + 1})" for name, w in zip(names, case, strict=True)]
    return " and ".join(sided_names)


def _without(result: LeaveOutResult, index: int, words: list[LeftOutWord]) -> str:
    if not words:
        return "ab"[index]
    side, kind = result.score.sides[index], result.score.vector_kind
    if result.how == "hidden":
        hidden = [i for word in words for i in word.unit.positions]
        return f"vector({of_side(side, kind)}, hidden={hidden})"
    encoding, units = side.encoding, [word.unit for word in words]
    remaining = cut(encoding.text, [unit.span for unit in units if unit.span and unit.text_id == 0])
    pair = encoding.pair
    if pair is not None:
        pair = cut(pair, [unit.span for unit in units if unit.span and unit.text_id == 1]).text
    span = chosen_span(side.sentence) if kind == "word" else None
    return f"vector({given(remaining.text, pair, None if span is None else remaining.moved(span))})"


# --- Shares with transformers alone

_SHARES = """
first, second = read({one}), read({other})
states = [text[0][{layer}].double() for text in (first, second)]
weights = [text[1].double() / text[1].sum() for text in (first, second)]
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
    is_own = batch.pop("special_tokens_mask")[0, :, None] == 0
    states, counts = read(text, **how)
    padded = table.weight[tokenizer.pad_token_id].detach()
    hook = table.register_forward_hook(lambda _, given, rows: torch.where(is_own, padded, rows))
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
for name, values in shares.items():
    start, end = ends[name]
    print(name, values, "sum:", values.sum(), "of", end - start)
"""


def shares_snippet(result: SharesResult) -> str:
    """A script that computes `shares`, (n_first, n_second) by token."""
    score = result.score
    first, second = (of_side(side, score.vector_kind) for side in score.sides)
    body = _SHARES.format(one=first, other=second, layer=score.layer)
    return script(score.card, reads(score), body)


def integrated_snippet(result: InputsResult) -> str:
    """A script that computes `shares` and `ends` of the "first" and "second" sentence."""
    score = result.score
    first, second = (of_side(side, score.vector_kind) for side in score.sides)
    body = _INTEGRATED.format(
        max_length=score.card.max_length,
        segments=" return_token_type_ids=True," if score.card.has_segments else "",
        layer=score.layer,
        one=first,
        other=second,
        first_cuts=_cuts(result.first),
        n_first=_on_each(result.first),
        second_cuts=_cuts(result.second),
        n_second=_on_each(result.second),
    )
    parts = (reads(score), wires(score.card), MAKES, numbers(score), body)
    return script(score.card, *parts, imports=("itertools", "numpy"))


def _cuts(inputs: InputShares) -> str:
    return f"({', '.join(f'{cut:g}' if cut in (0, 1) else repr(cut) for cut in inputs.cuts)})"


def _on_each(inputs: InputShares) -> int:
    return inputs.n_steps // (len(inputs.cuts) - 1)


# --- Swapping hidden states in with transformers alone

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


def swap_in_snippet(result: SwapInResult) -> str:
    """A script that computes `fractions`, (n_layers, n_aligned), or a distance if none exist."""
    score = result.score
    if result.problem is not None:
        ends = f"a = vector({of_side(score.first, score.vector_kind)})\n"
        ends += f"b = vector({of_side(score.second, score.vector_kind)})\nprint((a - b).norm())"
        return script(score.card, reads(score), ends)
    body = _SWAP.format(
        receiver=of_side(result.receiver, score.vector_kind),
        donor=of_side(result.donor, score.vector_kind),
        pairs=list(result.alignment.pairs),
        layer=score.layer,
        n_layers=score.layer + 1,
    )
    return script(score.card, reads(score), wires(score.card), body, imports=("itertools",))


# --- Switching parts off with transformers alone

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
            for (n, part), outputs in rows.items():
                keep = lambda x, outputs=outputs: outputs.append(x[0]) or x
                stack.enter_context(hooked(n, part, keep))
            model(**batch)
    return {{place: torch.cat(outputs).mean(dim=0) for place, outputs in rows.items()}}


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
    cosines = [cosine(*pair) for pair in itertools.combinations(vectors, 2)]
    return sum(cosines) / len(cosines)


def without(layer, part, head=0, width=model.config.hidden_size):
    \"\"\"The change of the mean cosine with a part of a layer replaced by a constant.\"\"\"
    put, dims = constant(layer, part), slice(head * width, (head + 1) * width)

    def change(x):
        x = x.clone()
        x[..., dims] = put[dims]
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


def switch_off_snippet(result: SwitchOffResult) -> str:
    """A script that computes `heads`, a list for each layer, `attention` and `feed_forward`."""
    score = result.score
    parts = FAMILIES[score.card.family].parts
    sentences = [
        f"    functools.partial(vector, {of_side(side, score.vector_kind)}),"
        for side in result.sides
    ]
    texts = ["sample = [", *(f"    {literal(text)}," for text in sample()), "]"]
    constant = (
        _MEAN.format(n_layers=score.layer + 1, max_length=score.card.max_length)
        if result.to == "mean"
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
        *(["\n".join(texts)] if result.to == "mean" else []),
        body,
        imports=("contextlib", "functools", "itertools"),
    )


# --- The script of the chosen look


@singledispatch
def snippet_of(result: object) -> str:
    """A script that computes a look's numbers with transformers alone."""
    raise TypeError(f"There is no script for {type(result).__name__}.")


snippet_of.register(SharesResult, shares_snippet)
snippet_of.register(InputsResult, integrated_snippet)
snippet_of.register(LeaveOutResult, leave_out_snippet)
snippet_of.register(SwitchOffResult, switch_off_snippet)
snippet_of.register(SwapInResult, swap_in_snippet)


_PICTURES: Mapping[type, str] = {
    SharesResult: 'px.imshow(shares.numpy(), labels={"x": "token of the other", "y": "token"})',
    InputsResult: """\
rows = [(name, i, v) for name, values in shares.items() for i, v in enumerate(values.tolist())]
px.bar(rows, x=1, y=2, facet_row=0, labels={"0": "sentence", "1": "token", "2": "share"})""",
    LeaveOutResult: "px.bar(x=list(changes), y=[float(change) for change in changes.values()])",
    SwitchOffResult: """\
names = [f"layer {n}" for n in range(1, len(heads) + 1)]
px.imshow([[float(c) for c in row] for row in heads], y=names, labels={"x": "head"})""",
    SwapInResult: 'px.imshow(fractions.numpy(), labels={"x": "aligned token", "y": "layer"})',
}


def picture_of(result: object) -> str:
    """A script that goes on from `snippet_of`: the look's numbers as a chart; "" if it has none."""
    if isinstance(result, SwapInResult) and result.problem is not None:
        return ""
    if isinstance(result, SwitchOffResult) and result.score.layer == 0:
        return ""
    return f"import plotly.express as px\n\n{_PICTURES[type(result)]}\n"
