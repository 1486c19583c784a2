"""One word's start in several sentences: the same numbers each time, and what its place adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

import numpy as np
from plotly import graph_objects as go

from contextlens.analysis.tokens import labels, source
from contextlens.content.examples import FRAMES
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, two
from contextlens.core import EncoderService
from contextlens.core.schema import EmbeddingParts, FloatArray
from contextlens.features.embedding_layer.arithmetic import sum_of, summands
from contextlens.features.embedding_layer.embedding_sum import EmbeddingSum, untrained_caution
from contextlens.features.embedding_layer.word_rows import row_cosines
from contextlens.figures.frames import signed_bound
from contextlens.figures.theme import CATEGORICAL, INK, MUTED, SIGNED, figure, plain
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.view import Sentence, ViewState, letter

N_STRIPES = 48
"""Numbers of a vector that are drawn: more could not be told apart on a phone."""
_LITTLE = 0.8  # from this similarity on, a place changes a little
_ROW = 132  # pixels of a sentence, with what stands below it
_COLUMNS = ((0.0, 0.3), (0.36, 0.66), (0.72, 1.0))
_TWO_COLUMNS = ((0.0, 0.47), (0.53, 1.0))
_SENTENCE = 60  # characters
_HEADS: tuple[Literal["word", "place", "start"], ...] = ("word", "place", "start")


class StartVerdict(StrEnum):
    """How much another place changes a word's start."""

    LITTLE = "little"
    MUCH = "much"
    NOTHING = "nothing"


@dataclass(frozen=True, eq=False)
class Start:
    """A word's start in one sentence.

    Attributes:
        name: the letter of the sentence.
        text: the sentence, or its second text if the word is in that.
        position: the word's token, counted from 0.
        word: (n_embedding_dims,) the row of the word table.
        place: (n_embedding_dims,) the rows of the position and of the segment, added; None if the
            model has no positions.
        output: (n_dims,) its vector at layer 0.
        is_example: True if the sentence is ours.
    """

    name: str
    text: str
    position: int
    word: FloatArray
    place: FloatArray | None
    output: FloatArray
    is_example: bool = False


@dataclass(frozen=True, eq=False)
class Starts(Panel):
    """One word's start in its sentence and in others.

    Attributes:
        embedding: the sentence that is shown.
        token: the word's token.
        starts: the word in its sentence, then in one or two others.
    """

    embedding: EmbeddingSum
    token: str
    starts: Sequence[Start]

    @property
    def similarity(self) -> float:
        """The cosine of the first start and the last one, whose place differs most."""
        return _alike(self.starts[0].output, self.starts[-1].output)

    @property
    def verdict(self) -> StartVerdict:
        """How much the place changes the start."""
        if two(self.similarity) == two(1.0):
            return StartVerdict.NOTHING
        return StartVerdict.LITTLE if self.similarity >= _LITTLE else StartVerdict.MUCH

    def headline(self) -> Claim:
        """The one idea of the page."""
        return claim("embedding_layer.starts.headline", token=quoted(self.token))

    def claims(self) -> list[Claim]:
        """What another place changes, and one caution."""
        caution = untrained_caution(self.embedding.state)
        names = {"first": self.starts[0].name, "last": self.starts[-1].name}
        has_place = self.starts[0].place is not None
        key = f"embedding_layer.starts.{self.verdict if has_place else 'no_place'}"
        number = claim(key, similarity=self.similarity, **names)
        return [number, *(caution or [claim("embedding_layer.starts.later")])]

    def sure(self) -> list[Claim]:
        """What a place is made of, and the check against the model."""
        kind = sum_of(self.embedding.parts)
        places = claim(f"embedding_layer.starts.places.{kind}")
        embedding = self.embedding
        return [places, *embedding.told(), *embedding.scaled(), *embedding.sure()]

    def notes(self) -> list[Claim]:
        """The colours."""
        n = len(self.starts[0].word)
        return [claim("embedding_layer.starts.stripes", shown=min(N_STRIPES, n), n=n)]

    def alt(self) -> str:
        """A description of the picture."""
        return say("embedding_layer.starts.alt", title=str(self.headline()))

    def rows(self) -> Rows:
        """Every start, and how alike it is to the first."""
        first = self.starts[0]
        return [
            {
                "sentence": f"{start.name} {start.text}",
                "position": start.position,
                "word, alike": _alike(first.word, start.word),
                **(
                    {"place, alike": _alike(first.place, start.place)}
                    if first.place is not None and start.place is not None
                    else {}
                ),
                "start, alike": _alike(first.output, start.output),
            }
            for start in self.starts
        ]

    def figure(self) -> go.Figure:
        """A row for each sentence: its word's stripes, its place's, and their sum, rescaled."""
        n = len(self.starts)
        added = signed_bound(*(rows for s in self.starts for rows in _parts(s)[:-1]))
        last = signed_bound(*(s.output for s in self.starts))
        traces: list[dict[str, Any]] = []
        layout: dict[str, Any] = {}
        for column, (domain, bound) in enumerate(
            zip(self._columns, [added] * (len(self._columns) - 1) + [last], strict=True), start=1
        ):
            at = "" if column == 1 else column  # plotly's first axis has no number
            layout[f"xaxis{at}"] = {**_BARE, "domain": domain}
            traces += [
                _stripes(rows, f"x{at}", row, bound)
                for row, rows in enumerate(_parts(start)[column - 1] for start in self.starts)
            ]
        layout |= {
            "yaxis": {**_BARE, "range": [n - 0.36, -0.5]},
            "annotations": [*self._heads(), *self._names(), *self._signs(), *self._links()],
            "margin": {"l": 12, "r": 12, "t": 32, "b": 4},
        }
        return figure(traces, layout, title="", height=36 + n * _ROW)

    @property
    def _columns(self) -> Sequence[tuple[float, float]]:
        """The horizontal ranges: of the word, of its place if the model adds one, of the start."""
        return _TWO_COLUMNS if self.starts[0].place is None else _COLUMNS

    def _heads(self) -> Iterator[dict[str, Any]]:
        names = _HEADS if len(self._columns) > 2 else _HEADS[::2]
        for name, (start, end) in zip(names, self._columns, strict=True):
            text = f"<b>{say(f'embedding_layer.starts.{name}')}</b>"
            yield _note(text, (start + end) / 2, 1.02, yref="paper", yanchor="bottom")

    def _names(self) -> Iterator[dict[str, Any]]:
        for row, start in enumerate(self.starts):
            whose = f" ({say('embedding_layer.starts.example')})" if start.is_example else ""
            text = f"<b>{start.name}</b>{whose}  {plain(start.text, _SENTENCE)}"
            yield _note(text, 0, row - 0.27, xanchor="left", yanchor="bottom")

    def _signs(self) -> Iterator[dict[str, Any]]:
        columns = self._columns
        signs = "+=" if len(columns) > 2 else "→"
        for (_, left), (right, _), sign in zip(columns, columns[1:], signs, strict=False):
            for row in range(len(self.starts)):
                size = {"font": {"size": 24, "color": INK}}
                yield _note(f"<b>{sign}</b>", (left + right) / 2, row) | size

    def _links(self) -> Iterator[dict[str, Any]]:
        """Below each column, how alike a sentence's part is to that of the first."""
        first = _parts(self.starts[0])
        for row, start in enumerate(self.starts[1:], start=1):
            for mine, other, (left, right) in zip(_parts(start), first, self._columns, strict=True):
                alike = _alike(mine, other)
                is_same = two(alike) == two(1.0)
                key = "same" if is_same else "alike"
                text = say(f"embedding_layer.starts.link.{key}", name=self.starts[0].name, n=alike)
                color = CATEGORICAL[2] if is_same else MUTED
                bold = f"<b>{text}</b>" if is_same else text
                yield _note(bold, (left + right) / 2, row + 0.27, yanchor="top") | {
                    "font": {"color": color}
                }


_BARE = {"showgrid": False, "zeroline": False, "ticks": "", "showticklabels": False}


def starts_of(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> Starts | None:
    """The followed token's start here, in another sentence of the view, and at another place.

    None if no other text has the token.
    """
    focus, parts = embedding.focus, embedding.parts
    token = int(parts.tokens.token_ids[focus])
    starts = [_start(letter(embedding.index), embedding.sentence, parts, focus)]
    for i, sentence in enumerate(view.sentences):
        if i != embedding.index and (found := _find(service, view.model, sentence, token)):
            starts.append(_start(letter(i), sentence, *found))
            break
    if starts[-1].position == focus:
        example = _example(view, embedding, service, token)
        starts += [] if example is None else [example]
    if len(starts) == 1:
        return None
    names = labels(parts.tokens, embedding.vocabulary)
    return Starts(embedding, names[focus], starts)


def _example(
    view: ViewState, embedding: EmbeddingSum, service: EncoderService, token: int
) -> Start | None:
    """The token in a sentence of ours, at another place; None if none of them has it."""
    word = source(embedding.parts.tokens, embedding.focus).strip()
    for text in (frame.format(word=word) for frame in FRAMES):
        found = _find(service, view.model, Sentence(text), token)
        if found is not None and found[1] != embedding.focus:
            name = letter(len(view.sentences))
            return _start(name, Sentence(text), *found, is_example=True)
    return None


def _find(
    service: EncoderService, model: str, sentence: Sentence, token: int
) -> tuple[EmbeddingParts, int] | None:
    """The parts of a sentence, and the first position of a token in it; None without it."""
    parts = service.embedding_parts(model, sentence.text, pair=sentence.pair)
    positions = np.flatnonzero(parts.tokens.token_ids == token)
    return (parts, int(positions[0])) if len(positions) else None


def _start(
    name: str,
    sentence: Sentence,
    parts: EmbeddingParts,
    position: int,
    *,
    is_example: bool = False,
) -> Start:
    places = [rows[position] for name, rows in summands(parts).items() if name != "word"]
    return Start(
        name=name,
        text=(sentence.pair or "") if parts.tokens.text_ids[position] == 1 else sentence.text,
        position=position,
        word=parts.word[position],
        place=None if parts.position is None else np.sum(places, axis=0),
        output=parts.output[position],
        is_example=is_example,
    )


def _alike(one: FloatArray, other: FloatArray) -> float:
    """The cosine of two vectors."""
    return float(row_cosines(one[None], other[None])[0, 0])


def _parts(start: Start) -> tuple[FloatArray, ...]:
    if start.place is None:
        return start.word, start.output
    return start.word, start.place, start.output


def _stripes(vector: FloatArray, axis: str, row: int, bound: float) -> dict[str, Any]:
    shown = vector[:N_STRIPES]
    return {
        "type": "heatmap",
        "z": np.round(shown[None], 5).astype(np.float32),
        "x0": 0,
        "dx": 1,
        "y": [row - 0.24, row + 0.24],
        "xaxis": axis,
        "zmin": -bound,
        "zmax": bound,
        **SIGNED,
        "showscale": False,
        "hovertemplate": "%{z:.4f}<extra></extra>",
    }


def _note(
    text: str,
    x: float,
    y: float,
    *,
    yref: str = "y",
    xanchor: str = "center",
    yanchor: str = "middle",
) -> dict[str, Any]:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": yref,
        "xanchor": xanchor,
        "yanchor": yanchor,
        "showarrow": False,
        "font": {"color": INK},
    }
