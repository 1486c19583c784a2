"""Scripts for the cosines of pairs, and for the results from the page's download."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.analysis.snippet_start import literal, load_lines, prompt_argument, recipe_lines
from contextlens.core.schema import ModelCard
from contextlens.core.words import Span

# Charts that go on from the scripts below.
ACCURACY_PICTURE = """\
import plotly.express as px

px.line(y=accuracy, markers=True, labels={"x": "layer", "y": "accuracy"})
"""
CORRELATION_PICTURE = """\
import plotly.express as px

px.line(y=[r for r, *_ in spearman], markers=True, labels={"x": "layer", "y": "Spearman"})
"""
COSINES_PICTURE = """\
import plotly.express as px

px.line(torch.stack(cosines).T.numpy(), labels={"index": "layer", "value": "cosine"})
"""

_VECTORS = '''\
def vectors(text, span):
    """(layers, dims): the mean over the word text[start:end], or over all tokens."""
    batch = tokenizer(
        text, truncation=True, max_length={max_length},
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    inside = torch.ones_like(first, dtype=torch.bool)
    if span is not None:
        inside = (first < span[1]) & (last > span[0])
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
    return hidden[:, inside].mean(dim=1)
'''

_COSINES = """\
cosines = []
for text1, span1, text2, span2 in pairs:
    cosines.append(torch.cosine_similarity(vectors(text1, span1), vectors(text2, span2), dim=-1))
    print(*[f"{value:.4f}" for value in cosines[-1].tolist()])
"""

_START = """\
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

with np.load("{file}") as page:
    cosines, gold, split = page["cosines"], page["gold"], page["split"]


def threshold(c, same):
    \"\"\"The cut that gets most right; of several that do equally well, the middle one.\"\"\"
    c = np.sort(c.astype(float)), np.argsort(c, kind="stable")
    values, kinds = c[0], same[c[1]]
    right = np.append(0, np.cumsum(~kinds)) + kinds.sum() - np.append(0, np.cumsum(kinds))
    between = (values[1:] + values[:-1]) / 2
    cuts = np.concatenate([values[:1], between, [np.nextafter(values[-1], 9)]])
    cuts[1:-1] = np.where(cuts[1:-1] > values[:-1], cuts[1:-1], values[1:])
    able = np.concatenate([[True], values[1:] > values[:-1], [True]])
    best = np.flatnonzero(able & (right == right[able].max()))
    return cuts[best[(len(best) - 1) // 2]]


known = (gold >= 0) & ~np.isnan(cosines[0])
same = gold == 1
"""

_SPLIT = """\
train, test = known & (split == 0), known & (split == 1)
accuracy, auc = [], []
for c in cosines:
    says = c[test] >= threshold(c[train], same[train])
"""

_FOLDS = """\
test = known
k = min(5, same[known].sum(), (~same[known]).sum())
folds = list(StratifiedKFold(k, shuffle=True, random_state=0).split(same[known], same[known]))
accuracy, auc = [], []
for c in cosines:
    says = np.zeros(known.sum(), bool)
    for fit, judge in folds:
        says[judge] = c[known][judge] >= threshold(c[known][fit], same[known][fit])
"""

_END = """\
    accuracy.append((says == same[test]).mean())
    auc.append(roc_auc_score(same[test], c[test]) if len(set(same[test])) == 2 else np.nan)
    print(f"accuracy {accuracy[-1]:.4f}, AUC {auc[-1]:.4f}")
print(f"by chance {max(same[test].mean(), 1 - same[test].mean()):.4f}, {test.sum()} pairs")
"""

_CORRELATION = """\
import numpy as np
from scipy.stats import pearsonr, spearmanr

with np.load("{file}") as page:
    cosines, scores = page["cosines"], page["scores"]

rows = ~np.isnan(scores) & ~np.isnan(cosines).any(axis=0)
spearman, pearson = [], []
for c in cosines[:, rows].astype(float):
    r = spearmanr(c, scores[rows]).statistic
    half = 1.959964 * np.sqrt((1 + r**2 / 2) / (rows.sum() - 3))  # Bonett and Wright, 2000
    spearman.append((r, np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)))
    line = pearsonr(c, scores[rows])
    pearson.append((line.statistic, *line.confidence_interval(0.95)))
    print("Spearman {:.4f} ({:.4f} to {:.4f}),".format(*spearman[-1]), end=" ")
    print("Pearson {:.4f} ({:.4f} to {:.4f})".format(*pearson[-1]))
print(f"{rows.sum()} pairs")
"""


@dataclass(frozen=True)
class SnippetPair:
    """A pair: its texts and the compared words; None for a whole text."""

    text1: str
    span1: Span | None
    text2: str
    span2: Span | None


def cosines_snippet(card: ModelCard, pairs: Sequence[SnippetPair]) -> str:
    """A script that computes and prints `cosines`, an (n_layers,) tensor for each pair."""
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "",
        _VECTORS.format(max_length=card.max_length),
        "",
        "pairs = [",
        *(f"    ({literal(p.text1)}, {p.span1}, {literal(p.text2)}, {p.span2})," for p in pairs),
        "]",
        _COSINES,
    ]
    return "\n".join(lines)


def recipe_snippet(card: ModelCard, pairs: Sequence[tuple[str, str]], *, prompt: str) -> str:
    """A script that computes `cosines` (n_pairs,) of whole texts by the model's own recipe."""
    before = prompt_argument(card, prompt)
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card),
        "",
        "pairs = [",
        *(f"    ({literal(one)}, {literal(two)})," for one, two in pairs),
        "]",
        "first, second = (",
        f"    model.encode(list(texts){before}, convert_to_tensor=True) for texts in zip(*pairs)",
        ")",
        "cosines = torch.cosine_similarity(first, second)",
        'print(*[f"{value:.4f}" for value in cosines.tolist()])',
    ]
    return "\n".join(lines) + "\n"


def accuracy_snippet(how: str, *, file: str) -> str:
    """A script that computes `accuracy` and `auc` for each layer from the page's NPZ.

    Args:
        how: "split" or "folds".
        file: the name of the NPZ.
    """
    start = _START.replace("{file}", file)
    if how == "split":
        start = start.replace("from sklearn.model_selection import StratifiedKFold\n", "")
    return start + (_SPLIT if how == "split" else _FOLDS) + _END


def correlation_snippet(*, file: str) -> str:
    """A script that computes `spearman` and `pearson` with intervals from the page's NPZ."""
    return _CORRELATION.replace("{file}", file)
