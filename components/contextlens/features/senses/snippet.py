"""The separation of a word's senses at every layer, with transformers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.core.schema import ModelCard

PICTURE = """\
import plotly.express as px

px.line(y=accuracy, markers=True, labels={"x": "layer", "y": "accuracy"})
"""
"""Goes on from `separation_snippet`: the curve over the layers."""

MAX_ROWS = 200
"""Maximum occurrences written into the script; more are read from the page's CSV download."""

_VECTORS = """\
rows = [row for row in rows if row[3]]  # those with a sense that takes part
senses = sorted({sense for *_, sense, _ in rows})
codes = torch.tensor([senses.index(sense) for *_, sense, _ in rows])
folds = torch.tensor([fold for *_, fold in rows])  # which one tests it; -1: it is learned from only

vectors = []
for text, start, end, _, _ in rows:
    batch = tokenizer(
        text, truncation=True, max_length=MAX_LENGTH,
        return_offsets_mapping=True, return_tensors="pt",
    )
    first, last = batch.pop("offset_mapping")[0].T
    inside = (first < end) & (last > start)
    with torch.inference_mode():
        hidden = torch.stack(model(**batch, output_hidden_states=True).hidden_states)[:, 0]
    vectors.append(hidden[:, inside].mean(dim=1))
units = torch.nn.functional.normalize(torch.stack(vectors, dim=1), dim=-1)  # layers, rows, dims

accuracy = []
for layer, vectors in enumerate(units):
    right = 0
    for fold in range(int(folds.max()) + 1):
        tested = folds == fold
        means = [vectors[~tested & (codes == i)].mean(dim=0) for i in range(len(senses))]
        centroids = torch.nn.functional.normalize(torch.stack(means).nan_to_num(0.0), dim=-1)
        cosines = vectors[tested] @ centroids.T
        cosines[:, centroids.norm(dim=-1) == 0] = -2.0  # a sense that nothing was learned of
        right += int((cosines.argmax(dim=1) == codes[tested]).sum())
    accuracy.append(right / int((folds >= 0).sum()))
    print(f"layer {layer}: {accuracy[-1]:.4f}")
"""

_READ = """\
# All occurrences, from this page's CSV download.
with open("senses.csv", encoding="utf-8-sig", newline="") as file:
    table = list(csv.DictReader(line for line in file if not line.startswith("# ")))
rows = [
    (row["sentence"], int(row["start"]), int(row["end"]), row["tested sense"], int(row["fold"]))
    for row in table
]
"""


@dataclass(frozen=True)
class SnippetRow:
    """An occurrence: its text, span and sense, and the fold that tests it (-1 for none)."""

    text: str
    start: int
    end: int
    sense: str
    fold: int


def separation_snippet(card: ModelCard, rows: Sequence[SnippetRow]) -> str:
    """A script that computes `accuracy` at each layer, as in the page's curve."""
    is_many = len(rows) > MAX_ROWS
    given = (
        [_READ.rstrip()]
        if is_many
        else [
            "rows = [  # text, start and end of the word, sense, fold",
            *(
                f"    ({literal(r.text)}, {r.start}, {r.end}, {literal(r.sense)}, {r.fold}),"
                for r in rows
            ),
            "]",
        ]
    )
    lines = [
        *(["import csv", ""] if is_many else []),
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        *given,
        _VECTORS.replace("MAX_LENGTH", str(card.max_length)),
    ]
    return "\n".join(lines)
