"""The beginning of every script that computes an explanation with transformers alone."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.families import FAMILIES
from contextlens.core.schema import ModelCard
from contextlens.core.words import Span
from contextlens.features.why.score import Score, Side, VectorKind
from contextlens.ui.widgets.comparison.compute import chosen_span

_COUNTS = {
    "mean": ['    counts = batch["attention_mask"][0].bool()  # the mean of all real tokens'],
    "cls": ["    counts = torch.arange(len(first)) == 0  # the first token alone"],
    "word": [
        "    is_own = torch.tensor([n == 0 for n in batch.sequence_ids(0)])  # not the pair's",
        "    counts = is_own & (first < word[1]) & (last > word[0])  # the word's tokens",
    ],
}
_HOOKS = """
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


def at(layer, change):
    \"\"\"A hook that changes the states of a layer.\"\"\"
{layer_0}    return once(layer + 1, "", change, before=True)
"""
_LAYER_0 = """\
    if layer == 0:  # what the word table gives; all layers read it
        words = model.get_input_embeddings()
        return words.register_forward_hook(lambda _, given, made: change(made))
"""
COSINE = """
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


def reader(score: Score, *, hides: bool = False) -> str:
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


def text_arguments(text: str, pair: str | None, span: Span | None) -> str:
    """The arguments of `read` and `vector` for a text."""
    parts = [literal(text)]
    parts += [f"pair={literal(pair)}"] if pair is not None else []
    parts += [f"word={span}"] if span is not None else []
    return ", ".join(parts)


def side_arguments(side: Side, kind: VectorKind) -> str:
    """The arguments for an unchanged sentence."""
    span = chosen_span(side.sentence) if kind == "word" else None
    return text_arguments(side.encoding.text, side.encoding.pair, span)


def both_vectors(score: Score) -> str:
    """The lines that compute both sentences' vectors, `a` and `b`, and their cosine, `score`."""
    first, second = (side_arguments(side, score.vector_kind) for side in score.sides)
    return f"a = vector({first})\nb = vector({second})\nscore = cosine(a, b)"


def hooks(card: ModelCard) -> str:
    """The definitions of `blocks`, the layers, and of hooks.

    `once` hooks a part of a layer, and `at` the states of a layer.
    """
    parts = FAMILIES[card.family].parts
    return _HOOKS.format(layers=parts.layers, layer_0=_LAYER_0 if parts.layer_inputs else "")
