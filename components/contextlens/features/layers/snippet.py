"""Layer by layer with transformers alone: measures, CKA of layers, variance, and the pooler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard

Span = tuple[int, int]

_ENCODE = """\
batch = tokenizer(
    {texts}, truncation=True, max_length={max_length}, return_token_type_ids={segments},
    return_tensors="pt",
)
with torch.inference_mode():
    output = model(**batch, output_hidden_states=True)
hidden = torch.stack(output.hidden_states)[:, 0]  # (layers, tokens, dims)
"""

_WORDS = '''\
def word_vectors(tokenizer, model, max_length, segments):
    """The vectors of all words at every layer: (layers, words, dims)."""
    vectors = []
    for (text, pair), (spans, more) in zip(texts, words):
        batch = tokenizer(
            text, pair, truncation=True, max_length=max_length,
            return_token_type_ids=segments, return_offsets_mapping=True, return_tensors="pt",
        )
        which = batch.sequence_ids(0)
        offsets = batch.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
        for side, word_spans in enumerate((spans, more)):
            for start, end in word_spans:
                inside = [
                    i for i, (a, b) in enumerate(offsets)
                    if which[i] == side and a < end and b > start
                ]
                vectors.append(hidden[:, inside].mean(dim=1))
    return torch.stack(vectors, dim=1).double()


def cka(x, y):
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    return (y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())


def hsic(k, l):
    """The unbiased estimator of Song et al. 2007, of Gram matrices without their diagonals."""
    n = len(k)
    both = k.sum() * l.sum() / ((n - 1) * (n - 2)) - 2 / (n - 2) * (k @ l).sum()
    return ((k * l).sum() + both) / (n * (n - 3))


def debiased_cka(x, y):
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    k, l = x @ x.T, y @ y.T
    k, l = k - k.diag().diag(), l - l.diag().diag()
    return hsic(k, l) / (hsic(k, k) * hsic(l, l)).sqrt()


def shuffled_cka(x, y):
    random = numpy.random.default_rng(0)
    orders = [random.permutation(len(y)) for _ in range(5)]
    return torch.stack([cka(x, y[order]) for order in orders]).mean()
'''

_AVERAGED = '''
# Averages are over the text's own tokens; over all where there are none.
texts = batch.sequence_ids(0)
of_text = [i for i, text in enumerate(texts) if text is not None] or list(range(len(texts)))
measures = {"length": length, "start": start, "before": before, "first": first}
averages = {name: values[:, of_text].mean(dim=1) for name, values in measures.items()}
averages["first"] = first[:, [i for i in of_text if i > 0]].mean(dim=1)
units = torch.nn.functional.normalize(hidden, dim=-1)
pairs = units @ units.mT  # the cosine of every two tokens


def to_others(later, earlier):
    """The average cosine of one of the text's own tokens with the others: (layers,)."""
    cosines = (later @ earlier.mT)[:, of_text][:, :, of_text]
    n = len(of_text)
    return (cosines.sum(dim=(1, 2)) - cosines.diagonal(0, 1, 2).sum(dim=1)) / (n * (n - 1))


chance = {
    "start": to_others(units, units[:1]),
    "before": to_others(units[1:], units[:-1]),
}
tokens = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
for token, values in zip(tokens, start.T.tolist()):
    print(token, [f"{value:.4f}" for value in values])
for name, values in [*averages.items(), *chance.items()]:
    print(name, [f"{value:.4f}" for value in values.tolist()])
'''


@dataclass(frozen=True)
class SnippetText:
    """A text (and pair) with the spans of the compared words, in code points."""

    text: str
    pair: str | None
    words: tuple[Span, ...]
    pair_words: tuple[Span, ...] = ()


def layers_snippet(card: ModelCard, text: str, pair: str | None) -> str:
    """A script that leaves the page's numbers for one text.

    `length`, `start`, `before`, `first`: (layers, tokens); `pairs`: (layers, tokens, tokens).
    `averages` holds the averages by name, `chance` those of "start" and "before" with other tokens.
    """
    return _joined(
        *_torch(),
        *load_lines(card),
        "",
        _encode(card, text, pair),
        "length = hidden.norm(dim=-1)",
        "start = torch.cosine_similarity(hidden, hidden[:1], dim=-1)",
        "before = torch.cosine_similarity(hidden[1:], hidden[:-1], dim=-1)",
        "first = torch.cosine_similarity(hidden, hidden[:, :1], dim=-1)",
        _AVERAGED.rstrip(),
    )


def layers_picture(measure: str, kind: str) -> str:
    """A script that goes on from `layers_snippet`: one measure of each token at every layer.

    Args:
        measure: the measure's title, as the page has it.
        kind: its name in the script: "length", "start", "before" or "first".
    """
    lines = [
        "import plotly.express as px",
        "",
        'names = [f"{i} {token}" for i, token in enumerate(tokens)]',
        f"layers = list(range({int(kind == 'before')}, len(hidden)))",
        f'labels = {{"x": "token", "y": "layer", "color": {literal(measure)}}}',
        "px.imshow(",
        f'    measures["{kind}"].numpy(), x=names, y=layers, labels=labels,',
        '    text_auto=".2f", aspect="auto", origin="lower",',
        ")",
    ]
    return _joined(*lines)


def cka_snippet(
    card: ModelCard, texts: Sequence[SnippetText], other_card: ModelCard | None = None
) -> str:
    """A script that leaves `matrix`, `debiased` and `shuffled`: (layers, other layers) each."""
    second = ["theirs = ours"] if other_card is None else _loaded(other_card, "theirs")
    return _joined(
        "import numpy",
        *_torch(),
        "texts = [",
        *(f"    ({literal(t.text)}, {_optional(t.pair)})," for t in texts),
        "]",
        "words = [  # where the words of each text and of its pair are",
        *(f"    ({list(t.words)}, {list(t.pair_words)})," for t in texts),
        "]",
        "",
        "",
        _WORDS,
        "",
        *_loaded(card, "ours"),
        *second,
        "matrix, debiased, shuffled = (",
        "    torch.stack([torch.stack([how(x, y) for y in theirs]) for x in ours])",
        "    for how in (cka, debiased_cka, shuffled_cka)",
        ")",
        "print(matrix, debiased, shuffled.mean(), sep='\\n')",
    )


def pooler_snippet(card: ModelCard, text: str, pair: str | None, *, linear: str) -> str:
    """A script that leaves `by_hand` and `by_model`, (dims,); `linear` names the pooler's layer."""
    return _joined(
        *_torch(),
        *load_lines(card),
        "",
        _encode(card, text, pair),
        f"linear = model.{linear}",
        "with torch.inference_mode():",
        "    by_hand = torch.tanh(linear.weight @ hidden[-1, 0] + linear.bias)",
        "by_model = output.pooler_output[0]",
        "print((by_hand - by_model).abs().max())",
    )


def variance_snippet(n: int) -> str:
    """A script that leaves `shares`, (layers, n), from the page's NPZ download."""
    return _joined(
        "import numpy",
        "import torch",
        "",
        "# The sample's word vectors (layers, words, dims), from this page's NPZ download.",
        'with numpy.load("layer-by-layer.npz") as page:',
        '    vectors = torch.from_numpy(page["sample_vectors"]).double()',
        "singular = torch.linalg.svdvals(vectors - vectors.mean(dim=1, keepdim=True))",
        "variance = singular.square()",
        f"shares = variance.cumsum(dim=1)[:, :{n}] / variance.sum(dim=1, keepdim=True)",
        "print(shares)",
    )


def _loaded(card: ModelCard, name: str) -> list[str]:
    """Lines that load a model and leave its word vectors under a name."""
    arguments = f"{card.max_length}, segments={card.has_segments}"
    return [*load_lines(card), f"{name} = word_vectors(tokenizer, model, {arguments})"]


def _torch() -> list[str]:
    return ["import torch", "from transformers import AutoModel, AutoTokenizer", ""]


def _encode(card: ModelCard, text: str, pair: str | None) -> str:
    texts = literal(text) if pair is None else f"{literal(text)}, {literal(pair)}"
    # Not every tokenizer returns segments of a pair by default (ALBERT's does not).
    return _ENCODE.format(texts=texts, max_length=card.max_length, segments=card.has_segments)


def _optional(text: str | None) -> str:
    return "None" if text is None else literal(text)


def _joined(*lines: str) -> str:
    return "\n".join(lines) + "\n"
