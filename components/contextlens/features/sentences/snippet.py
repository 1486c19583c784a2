"""Scripts that compute the page's cosines with transformers, and with sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.analysis.snippet_start import literal, load_lines, recipe_lines
from contextlens.core.schema import ModelCard
from contextlens.features.sentences.measures import layers_of
from contextlens.ui.state.view import Sentence

PICTURE = """\
import plotly.express as px

px.imshow(cosines["mean"].numpy(), text_auto=".2f", labels={"color": "cosine of the means"})
"""
"""Goes on from `cosines_snippet`: the matrix of the means."""

_VECTORS = '''\
def vectors(*text):
    """The vector of a text, or of a pair of texts, by each way."""
    batch = tokenizer(
        *text, truncation=True, max_length={max_length},
        return_special_tokens_mask=True, return_tensors="pt",
    )
    own = batch.pop("special_tokens_mask")[0] == 0
    with torch.inference_mode():
        output = model(**batch, output_hidden_states=True)
    last = output.last_hidden_state[0]
    return {{
        "cls": last[0],
        "mean": last.mean(dim=0),
        "own": last[own].mean(dim=0) if own.any() else last.mean(dim=0),
        "max": last.max(dim=0).values,{pooler}
        "last_four": torch.stack(output.hidden_states[-{n_layers}:])[:, 0].mean(dim=(0, 1)),
    }}
'''
_COSINES = """\
found = [vectors(*text) for text in texts]
cosines = {}
for name in found[0]:
    rows = torch.nn.functional.normalize(torch.stack([each[name] for each in found]), dim=-1)
    cosines[name] = rows @ rows.T
    print(name, cosines[name].numpy().round(4), sep="\\n")
"""


_SEARCH = """\
def vector(text):
    batch = tokenizer(text, truncation=True, max_length={max_length}, return_tensors="pt")
    with torch.inference_mode():
        mean = model(**batch).last_hidden_state[0].mean(dim=0)
    return torch.nn.functional.normalize(mean, dim=-1)


cosines = (torch.stack([vector(text) for text in texts]) @ vector(query)).numpy()
words = TfidfVectorizer(stop_words="english")
tf_idf = (words.fit_transform(texts) @ words.transform([query]).T).toarray()[:, 0]
for i in cosines.argsort()[::-1]:
    print(f"{{cosines[i]:.4f}} {{tf_idf[i]:.4f}} {{texts[i]}}")
"""


def search_snippet(card: ModelCard, query: str, texts: Sequence[str]) -> str:
    """A script that leaves `cosines` and `tf_idf` (n,) of texts with a query."""
    lines = [
        "import torch",
        "from sklearn.feature_extraction.text import TfidfVectorizer",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        f"query = {literal(query)}",
        "texts = [",
        *(f"    {literal(text)}," for text in texts),
        "]",
        "",
        "",
        _SEARCH.format(max_length=card.max_length),
    ]
    return "\n".join(lines)


def cosines_snippet(
    card: ModelCard, sentences: Sequence[Sentence] | str, *, has_pooler: bool
) -> str:
    """A script that leaves `cosines`, (n, n) for each way but the model's own recipe.

    Args:
        card: the model's card.
        sentences: the sentences, or the name of the page's NPZ that holds them.
        has_pooler: True if the model's pooler is one of the ways.
    """
    made = _VECTORS.format(
        max_length=card.max_length,
        n_layers=len(layers_of(card)),
        pooler='\n        "pooler": output.pooler_output[0],' if has_pooler else "",
    )
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "",
        made,
        "",
        *_texts(sentences),
        _COSINES,
    ]
    return "\n".join(lines)


def recipe_snippet(card: ModelCard, sentences: Sequence[Sentence] | str) -> str:
    """A script that leaves `cosines` (n, n) by the model's own recipe."""
    lines = [
        "import torch",
        "from sentence_transformers import SentenceTransformer",
        "",
        *recipe_lines(card),
        "",
        *_texts(sentences),
        "given = [list(text) if len(text) == 2 else text[0] for text in texts]",
        "rows = model.encode(given, convert_to_tensor=True)",
        "rows = torch.nn.functional.normalize(rows, dim=-1)",
        "cosines = rows @ rows.T",
        "print(cosines.numpy().round(4))",
    ]
    return "\n".join(lines) + "\n"


def _texts(sentences: Sequence[Sentence] | str) -> list[str]:
    if isinstance(sentences, str):
        load = f'with np.load("{sentences}") as page:'
        return ["import numpy as np", "", load, '    texts = [(text,) for text in page["texts"]]']
    rows = [[s.text, *([s.pair] if s.pair else [])] for s in sentences]
    return ["texts = [", *(f"    ({', '.join(map(literal, row))},)," for row in rows), "]"]
