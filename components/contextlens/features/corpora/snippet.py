"""A corpus's most frequent words, counted without this app, from its export or its texts."""

from __future__ import annotations

from contextlens.analysis.snippet_start import literal

PICTURE = """\
import plotly.express as px

# The page leaves small words such as "the" aside.
px.bar(x=list(counts)[:15], y=list(counts.values())[:15], labels={"x": "words, small ones too"})
"""
"""Goes on from either script below: the most frequent words."""

_EXPORT = """\
import pyarrow.compute as pc
import pyarrow.parquet as pq

file = pq.ParquetFile("{file}")  # from "Export or delete": Parquet
words = file.read(columns=["word"])["word"]
counts = pc.value_counts(words)
pairs = [(entry["values"], entry["counts"]) for entry in counts.to_pylist()]
counts = dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
for word, n in list(counts.items())[:{n}]:
    print(word, n)

# One word in all its contexts, with the vectors of one layer.
rows = pq.read_table(
    "{file}", columns=["sentence", "start", "end", "layer_{layer}"], filters=[("word", "=", {word})]
)
vectors = rows["layer_{layer}"].combine_chunks().flatten().to_numpy().reshape(len(rows), -1)
print(vectors.shape)
"""

_TEXTS = """\
import json
import unicodedata
from collections import Counter

import numpy as np
import regex

with np.load("{file}") as page:
    texts = json.loads(str(page["texts"]))  # or the lines of a file of yours


def folded(word):  # without case; composed and decomposed spellings are equal
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", word).casefold())


boundary = regex.compile(r"\\b", regex.WORD | regex.V1)  # UAX 29
counts = Counter()
for text in texts:
    cuts = sorted({{0, len(text), *(match.start() for match in boundary.finditer(text))}})
    words = [text[a:b] for a, b in zip(cuts, cuts[1:])]
    counts.update(folded(word) for word in words if any(map(str.isalnum, word)))
counts = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
for word, n in list(counts.items())[:{n}]:
    print(word, n)
"""


def export_snippet(file: str, *, word: str, layer: int, n: int = 15) -> str:
    """A script that defines `counts`, a number for each word, and the `vectors` of one word.

    Args:
        file: the name of the export.
        word: a word of the corpus, casefolded.
        layer: an indexed layer.
        n: the number of words to print.
    """
    return _EXPORT.format(file=file, word=literal(word), layer=layer, n=n)


def texts_snippet(file: str, *, n: int = 15) -> str:
    """A script that defines `counts` of the texts in the page's NPZ."""
    return _TEXTS.format(file=file, n=n)
