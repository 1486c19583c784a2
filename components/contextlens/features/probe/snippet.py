"""A script for the accuracy of the best vectors, from the texts in the page's download."""

from __future__ import annotations

from contextlens.analysis.snippet_start import load_lines, recipe_lines
from contextlens.core.schema import ModelCard
from contextlens.features.probe.grades import ALPHAS, GradeScore
from contextlens.features.probe.measures import Score, solver_of
from contextlens.maps.vectors import RECIPE, recipe_prompt

# Charts that go on from `probe_snippet`.
LABELS_PICTURE = """\
import plotly.express as px
from sklearn.metrics import confusion_matrix

counts = confusion_matrix(codes[tested], predicted[tested], labels=range(len(labels)))
names = {"x": "predicted label", "y": "label"}
px.imshow(counts, x=labels, y=labels, text_auto=True, labels=names)
"""
GRADES_PICTURE = """\
import plotly.express as px

px.scatter(x=grades[tested], y=predicted[tested], labels={"x": "grade", "y": "predicted grade"})
"""

_IMPORTS = """\
import json

import numpy as np
{libraries}
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
"""

_STATES = """\
vectors = []
for text in texts:
    batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    with torch.inference_mode():
        states = model(**batch, output_hidden_states=True).hidden_states[{layer}][0]
    vectors.append({pooled}.numpy())
vectors = np.stack(vectors)
"""

_LEARN = """\
predicted = np.full(len(codes), -1)
for number in range(folds.max() + 1):
    learned, tested = teaches & (folds != number), folds == number
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, solver="{solver}"))
    predicted[tested] = probe.fit(vectors[learned], codes[learned]).predict(vectors[tested])

tested = folds >= 0
accuracy = (predicted == codes)[tested].mean()
f1 = f1_score(codes[tested], predicted[tested], labels=np.unique(codes[tested]), average="macro",
              zero_division=0)
print(f"{{accuracy:.4f}} right of {{tested.sum()}}, macro-F1 {{f1:.4f}}")
"""

_LOAD = """\
with np.load("{file}") as page:
    texts, labels = json.loads(str(page["texts"])), page["labels"].tolist()
    codes, folds, teaches = page["label_of_text"], page["fold"], page["teaches"]
"""


_GRADE_IMPORTS = """\
from scipy.stats import spearmanr
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
"""

_LOAD_GRADES = """\
with np.load("{file}") as page:
    texts = json.loads(str(page["texts"]))
    grades, folds, teaches = page["grades"], page["fold"], page["teaches"]
"""

_LEARN_GRADES = """\
predicted = np.full(len(grades), np.nan)
for number in range(folds.max() + 1):
    learned, tested = teaches & (folds != number), folds == number
    probe = make_pipeline(StandardScaler(), RidgeCV(alphas={alphas}))
    predicted[tested] = probe.fit(vectors[learned], grades[learned]).predict(vectors[tested])

tested = folds >= 0
spearman = spearmanr(predicted[tested], grades[tested]).statistic
print(f"Spearman {{spearman:.4f}} of {{tested.sum()}} texts")
"""


def probe_snippet(card: ModelCard, best: Score | GradeScore, *, n_labels: int, file: str) -> str:
    """Return a script that prints how well the best vectors do: accuracy, or Spearman for grades.

    Args:
        card: the model's card.
        best: the score of the best vectors.
        n_labels: the number of labels; 0 for grades.
        file: the name of the page's NPZ.
    """
    if best.name == RECIPE:
        libraries = "from sentence_transformers import SentenceTransformer"
        prompt = recipe_prompt(card, RECIPE)
        vectors = f"vectors = model.encode([{prompt!r} + text for text in texts])\n"
        loaded = recipe_lines(card)
    else:
        libraries = "import torch\nfrom transformers import AutoModel, AutoTokenizer"
        pooled = "states.mean(dim=0)" if best.name == "mean" else "states[0]"
        vectors = _STATES.format(max_length=card.max_length, layer=best.layer, pooled=pooled)
        loaded = load_lines(card)
    imports = _IMPORTS.format(libraries=libraries)
    if not n_labels:
        imports = imports.partition("from sklearn")[0] + _GRADE_IMPORTS
        read = _LOAD_GRADES.format(file=file)
        learn = _LEARN_GRADES.format(alphas=ALPHAS)
        return "\n".join([imports, *loaded, "", read, vectors, learn])
    learn = _LEARN.format(solver=solver_of(n_labels))
    return "\n".join([imports, *loaded, "", _LOAD.format(file=file), vectors, learn])
