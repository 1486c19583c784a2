"""From encodings to the points of a map and their vectors, a few texts at a time.

Encodings come one by one and only the wanted rows of each are kept, so that a corpus of many
sentences needs no more memory than its points. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from components.core.errors import RequestError
from components.core.schema import Encoding, FloatArray, Passport
from components.core.words import Span
from components.maps.points import Points, Unit
from components.maps.text_rows import TextRows, parts_of, rows_of

__all__ = ["Gathered", "gather"]


@dataclass(frozen=True, eq=False)
class Gathered:
    """Points and their vectors.

    Attributes:
        points: what each point is.
        vectors: (n_layers, n_points, n_dims) float32.
        layers: the layer of each row of `vectors`; (-1,) for the pooler's output.
        n_cut: texts whose end did not fit the model.
        passport: of the encodings.
    """

    points: Points
    vectors: FloatArray
    layers: tuple[int, ...]
    n_cut: int
    passport: Passport | None

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return self.vectors.nbytes + 300 * self.points.n_points + sum(map(len, self.points.texts))


def gather(
    encodings: Iterable[Encoding],
    *,
    unit: Unit,
    pooling: str = "mean",
    spans: Sequence[Span] | None = None,
    only: Sequence[str] = (),
    special: bool = False,
    labels: Mapping[str, Sequence[str]] | None = None,
    most: int = 50_000,
) -> Gathered:
    """The points of a corpus and their vectors.

    Args:
        encodings: one for each text, in order, on the wanted layers.
        unit: what becomes a point.
        pooling: of a word's sub-tokens (`WORD_POOLINGS`) or a sentence's tokens
            (`SENTENCE_POOLINGS`); tokens need none.
        spans: for words: the one word of each text to take, instead of all.
        only: words or tokens to take, letter case aside; empty takes all.
        special: for tokens: also those that the tokenizer added.
        labels: columns of labels, a value for each text; each point gets its text's.
        most: the largest number of points; texts beyond it are not asked for, and `points.texts`
            has those that were.

    Raises:
        RequestError: the model has no pooler, or there is nothing to map.
    """
    wanted = {word.casefold() for word in only}
    texts: list[str] = []
    rows: list[TextRows] = []
    layers: tuple[int, ...] = ()
    passport, n_cut, n = None, 0, 0
    for index, encoding in enumerate(encodings):
        span = None if spans is None else spans[index]
        rows.append(rows_of(encoding, unit, pooling, span, wanted, special))
        texts.append(encoding.text)
        layers = (-1,) if pooling == "pooler" and unit == "sentences" else encoding.layers
        passport = encoding.passport
        n_cut += encoding.n_truncated > 0
        n += len(rows[-1].names)
        if n >= most:
            break
    if not n:
        raise RequestError(_nothing(unit, only))
    kept = min(n, most)
    return Gathered(
        points=_points(unit, texts, rows, labels or {}, kept),
        vectors=np.ascontiguousarray(np.concatenate([r.vectors for r in rows], axis=1)[:, :kept]),
        layers=layers,
        n_cut=n_cut,
        passport=passport,
    )


def _nothing(unit: Unit, only: Sequence[str]) -> str:
    if only:
        asked = ", ".join(f"“{word}”" for word in only[:3])
        return (
            f"No {unit.removesuffix('s')} here is {asked}. Write it as in the texts, or empty the "
            "field to map them all."
        )
    return f"These texts have no {unit} to map. Choose other texts, or another kind of point."


def _points(
    unit: Unit,
    texts: list[str],
    rows: list[TextRows],
    labels: Mapping[str, Sequence[str]],
    kept: int,
) -> Points:
    sentence = np.repeat(np.arange(len(rows)), [len(row.names) for row in rows])[:kept]
    titles = rows[0].columns if rows else {}
    own = {t: tuple(v for row in rows for v in row.columns[t])[:kept] for t in titles}
    given = {title: tuple(column[i] for i in sentence) for title, column in labels.items()}
    clashing = {title for title in given if title in own and given[title] != own[title]}
    given = {f"{t} (label)" if t in clashing else t: column for t, column in given.items()}
    measures = {"sentence length in characters": np.array([len(texts[i]) for i in sentence])}
    if unit == "sentences":
        own["part of the texts"] = tuple(parts_of(sentence, len(texts)))
    else:
        measures = {
            "position in the sentence": np.array([p for row in rows for p in row.positions])[:kept],
            **measures,
        }
    return Points(
        unit=unit,
        texts=tuple(texts),
        sentence=sentence.astype(np.int64),
        spans=np.concatenate([row.spans for row in rows])[:kept].astype(np.int64),
        names=tuple(name for row in rows for name in row.names)[:kept],
        labels={**given, **own},
        measures={title: values.astype(np.float32) for title, values in measures.items()},
    )
