"""The data of the Embedding layer page: each token's parts, tables, and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.tokens import labels
from contextlens.content.examples import EXAMPLES
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.families import PROJECTIONS
from contextlens.core.schema import (
    EmbeddingParts,
    FloatArray,
    Parameter,
    Passport,
    Vocabulary,
)
from contextlens.core.words import token_of_word
from contextlens.features.embedding_layer.controls import (
    ALONE,
    FEW,
    MAX_ROWS,
    POSITIONS,
    SEGMENT_ONLY,
    SENTENCE,
    token_in,
)
from contextlens.features.embedding_layer.figures import Panel
from contextlens.features.embedding_layer.measures import (
    Contribution,
    Normalization,
    PositionStatistics,
    RandomBand,
    SharedToken,
    compare_positions,
    contributions,
    moved_by,
    part_rows,
    random_band,
    rebuild,
    row_cosines,
    shared_tokens,
    summands,
)
from contextlens.figures.frames import signed_bound
from contextlens.ui.state.controls import Choice, sentence_index
from contextlens.ui.state.view import Sentence, ViewState, letter

# --- The embedding layer taken apart for the chosen sentence

_DOWNLOADED = {
    "share": "share",
    "norm": "norm",
    "left_out_moved": "moved",
    "left_out_turned": "turned",
}
"""From the ending of an array's name in the download to the attribute of `Contribution`."""
_AGREE = 1e-5  # largest allowed difference, relative to the largest value (at least 1)


@dataclass(frozen=True, eq=False)
class EmbeddingView:
    """The embedding layer of one sentence.

    Attributes:
        index: the sentence's index.
        encoding: the model's own layer 0.
        labels: the text written on each token.
        normalization: the operations after the sum.
        rebuilt: (n_tokens, n_dims) layer 0 as recomputed here.
        contributions: the contribution of each part to each token.
        following: the choice of the token to follow; by default the chosen word's first.
        focus: the position of the followed token.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    parts: EmbeddingParts
    encoding: Encoding
    labels: tuple[str, ...]
    normalization: Normalization
    rebuilt: FloatArray
    contributions: Mapping[str, Contribution]
    following: Choice
    focus: int

    @property
    def n_tokens(self) -> int:
        """The number of tokens in the text, including added ones."""
        return self.parts.tokens.n_tokens

    @property
    def segment(self) -> int | None:
        """The segment of the followed token; None if the model adds none."""
        segments = self.parts.tokens.token_type_ids
        if self.parts.segment is None:
            return None
        return 0 if segments is None else int(segments[self.focus])

    @property
    def window(self) -> slice:
        """The tokens to draw: up to `MAX_ROWS`, with the followed one in the middle."""
        first = max(0, min(self.focus - MAX_ROWS // 2, self.n_tokens - MAX_ROWS))
        return slice(first, min(self.n_tokens, first + MAX_ROWS))

    @property
    def layer_0(self) -> FloatArray:
        """(n_tokens, n_dims) layer 0 as the model computes it."""
        return self.encoding.layer(0)

    @property
    def difference(self) -> float:
        """The largest difference between our layer 0 and the model's."""
        return float(np.abs(self.rebuilt - self.layer_0).max(initial=0))

    @property
    def agrees(self) -> bool:
        """True if the difference is within the rounding that the service promises."""
        return self.difference <= _AGREE * max(1.0, float(np.abs(self.layer_0).max(initial=0)))

    @property
    def passport(self) -> Passport:
        """The passport with which to reproduce these numbers."""
        encoded = self.encoding.passport
        settings = {**encoded.settings, "layer_norm_epsilon": self.parts.epsilon}
        return replace(encoded, settings=settings)

    def panels(self) -> list[Panel]:
        """The steps of the sum, limited to the tokens to draw."""
        parts = self.parts
        steps = [("" if i == 0 else "+", *row) for i, row in enumerate(summands(parts).items())]
        sum_steps = [*steps, ("=", "sum", parts.total)]
        norm_steps = [("→", "LayerNorm", parts.normalized)] if parts.projected else []
        bound = signed_bound(*(rows for _, _, rows in sum_steps))
        return [
            *(self._panel(*step, bound) for step in sum_steps),
            *(self._panel(*step, signed_bound(parts.normalized)) for step in norm_steps),
            self._panel("→", "layer 0", self.layer_0, signed_bound(self.layer_0)),
        ]

    def _panel(self, sign: str, name: str, rows: FloatArray, bound: float) -> Panel:
        return Panel(sign, name, rows[self.window], bound)


def embedding_view(view: ViewState, service: EncoderService, card: ModelCard) -> EmbeddingView:
    """Take the embedding layer apart for the chosen sentence."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    vocabulary = service.vocabulary(view.model)
    names = labels(parts.tokens, vocabulary)
    normalization = normalization_of(view.model, service, parts)
    following = token_in(names, focus_of(parts, sentence))
    return EmbeddingView(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        parts=parts,
        encoding=encoding,
        labels=names,
        normalization=normalization,
        rebuilt=rebuild(list(summands(parts).values()), normalization),
        contributions=contributions(parts, normalization),
        following=following,
        focus=int(following.of(view)),
    )


def token_table(embedding: EmbeddingView) -> pd.DataFrame:
    """A row for each token, without columns for parts that the model lacks."""
    rows = part_rows(embedding.parts, embedding.contributions, embedding.labels)
    return pd.DataFrame(rows).dropna(axis=1, how="all")


def value_table(embedding: EmbeddingView) -> pd.DataFrame:
    """A row for each dimension, a column for each step of one token's sum."""
    parts, i = embedding.parts, embedding.focus
    columns = {name: rows[i] for name, rows in summands(parts).items()}
    columns |= {"sum": parts.total[i]}
    columns |= {"LayerNorm": parts.normalized[i]} if parts.projected else {}
    columns |= {"layer 0, ours": embedding.rebuilt[i]}
    columns |= {"layer 0, the model's": embedding.layer_0[i]}
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    table.insert(0, "dimension", range(len(table)))
    return table


def arrays(embedding: EmbeddingView) -> dict[str, NDArray[Any]]:
    """The arrays of the download: the steps of the sum, and the contribution of each part."""
    parts = embedding.parts
    return {
        **summands(parts),
        "sum": parts.total,
        "normalized": parts.normalized,
        "layer_0": embedding.layer_0,
        "rebuilt": embedding.rebuilt,
        "token_ids": parts.tokens.token_ids,
        "position_ids": parts.position_ids,
        "tokens": np.array(parts.tokens.tokens),
        "text": np.array(parts.tokens.text),
        "pair": np.array(parts.tokens.pair or ""),
        **{
            f"{name}_{ending}": getattr(part, field)
            for name, part in embedding.contributions.items()
            for ending, field in _DOWNLOADED.items()
        },
    }


def normalization_of(model: str, service: EncoderService, parts: EmbeddingParts) -> Normalization:
    """The operations after the sum in a model, read from its parameters."""
    projection = None
    if parts.projected:
        name = _projection(service.parameters(model))
        projection = (
            service.matrix(model, f"{name}.weight"),
            service.matrix(model, f"{name}.bias"),
        )
    return Normalization(
        scale=service.matrix(model, "embeddings.LayerNorm.weight"),
        shift=service.matrix(model, "embeddings.LayerNorm.bias"),
        epsilon=parts.epsilon,
        projection=projection,
    )


def focus_of(parts: EmbeddingParts, sentence: Sentence) -> int:
    """The first token of the chosen word, or else of the last one."""
    return token_of_word(parts.tokens, sentence.word)


def _projection(parameters: tuple[Parameter, ...]) -> str:
    names = {parameter.name for parameter in parameters}
    return next(name for name in PROJECTIONS.values() if f"{name}.weight" in names)


# --- A closer look at word rows

MAX_TOKENS = 24
"""The maximum number of tokens of each text in the matrix."""
_N_NEIGHBOURS = 10
_N_RANDOM = 2000  # rows behind the random-row band
_SEED = 0


@dataclass(frozen=True, eq=False)
class TwoTexts:
    """The word rows of two texts beside each other.

    Attributes:
        parts: the embedding layer of the first text and of the second.
        labels: the text written on the tokens of each.
        shared: the tokens that occur in both.
        band: the cosines of random rows.
    """

    parts: tuple[EmbeddingParts, EmbeddingParts]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    shared: list[SharedToken]
    band: RandomBand

    @property
    def share_text_token(self) -> bool:
        """True if both texts share a token that the tokenizer did not add."""
        one, other = (p.tokens.token_ids[p.tokens.text_ids >= 0] for p in self.parts)
        return bool(np.isin(one, other).any())

    @property
    def drawn_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels of the tokens in the matrix."""
        one, other = self.labels
        return one[:MAX_TOKENS], other[:MAX_TOKENS]

    @property
    def drawn_cosines(self) -> FloatArray:
        """Cosines of the rows in the matrix."""
        one, other = self.parts
        return row_cosines(one.word[:MAX_TOKENS], other.word[:MAX_TOKENS])

    @property
    def drawn_equal(self) -> list[SharedToken]:
        """The tokens in the matrix whose word rows are equal."""
        return [s for s in self.shared if s.word == 0 and max(s.first, s.second) < MAX_TOKENS]

    @property
    def is_cut(self) -> bool:
        """True if the matrix leaves out some tokens."""
        return max(map(len, self.labels)) > MAX_TOKENS

    def rows(self) -> list[dict[str, Any]]:
        """The table of the tokens that occur in both texts."""
        return [
            {
                "token": self.labels[0][shared.first],
                "ID": shared.token_id,
                "position here": shared.first,
                "position there": shared.second,
                "word rows differ by": shared.word,
                "layer 0 differs by": shared.output,
            }
            for shared in self.shared
        ]


@dataclass(frozen=True, eq=False)
class NearRows:
    """The rows of the word table nearest to a given one, nearest first.

    Attributes:
        token_ids: the rows' numbers.
        pieces: their names in the vocabulary.
        names: the text written on them.
        cosines: (n_rows,).
        band: the cosines of random rows.
    """

    token_ids: tuple[int, ...]
    pieces: tuple[str, ...]
    names: tuple[str, ...]
    cosines: tuple[float, ...]
    band: RandomBand

    def rows(self) -> list[dict[str, Any]]:
        """The table of these rows."""
        columns = zip(self.token_ids, self.pieces, self.cosines, strict=True)
        return [{"ID": i, "token": piece, "cosine": cosine} for i, piece, cosine in columns]


def other_texts(view: ViewState, embedding: EmbeddingView) -> dict[str, Sentence]:
    """Texts to compare with: the other sentences, and an example, so that there is always one."""
    text = embedding.sentence.text.strip()
    others = {letter(i): s for i, s in enumerate(view.sentences) if i != embedding.index}
    example = next(s.text for s in EXAMPLES[0].sentences[::-1] if s.text.strip() != text)
    return {**others, "Example": Sentence(example)}


def two_texts(embedding: EmbeddingView, other: Sentence, service: EncoderService) -> TwoTexts:
    """Compare the word rows of the page's text with those of another text."""
    other_parts = service.embedding_parts(embedding.card.id, other.text, pair=other.pair)
    return TwoTexts(
        parts=(embedding.parts, other_parts),
        labels=(embedding.labels, labels(other_parts.tokens, embedding.vocabulary)),
        shared=shared_tokens(embedding.parts, other_parts),
        band=_random_rows(service, embedding.card),
    )


def near_rows(embedding: EmbeddingView, position: int, service: EncoderService) -> NearRows | None:
    """The rows nearest to a token's row, without itself; None if that row is all zeros."""
    parts, vocabulary = embedding.parts, embedding.vocabulary
    row, token_id = parts.word[position], int(parts.tokens.token_ids[position])
    if not row.any():
        return None
    nearest = service.nearest_rows(embedding.card.id, row, _N_NEIGHBOURS + 1)
    others = [near for near in nearest if near[0] != token_id][:_N_NEIGHBOURS]
    return NearRows(
        token_ids=tuple(i for i, _, _ in others),
        pieces=tuple(piece for _, piece, _ in others),
        names=tuple(_written(vocabulary, i, piece) for i, piece, _ in others),
        cosines=tuple(cosine for _, _, cosine in others),
        band=_random_rows(service, embedding.card),
    )


def _written(vocabulary: Vocabulary, token_id: int, piece: str) -> str:
    """The text shown for a piece: the piece itself, or its decoded text if pieces are encoded."""
    is_encoded = token_id < len(vocabulary.texts) and vocabulary.method != "WordPiece"
    return (vocabulary.texts[token_id] if is_encoded else "") or piece


def _random_rows(service: EncoderService, card: ModelCard) -> RandomBand:
    """The similarity of unrelated rows in a model's word table."""

    def compute() -> RandomBand:
        ids = np.random.default_rng(_SEED).integers(card.vocabulary_size, size=_N_RANDOM)
        return random_band(service.word_rows(card.id, ids))

    return remembered("random word rows", card.checksum, compute=compute)


# --- A closer look at the position and segment tables

MAX_BARS = 20
"""The maximum number of tokens of each text drawn as bars."""
_MAX_CELLS = 128  # positions on each side of the matrix
_POSITION_ROWS = "embeddings.position_embeddings.weight"
_SEGMENT_ROWS = "embeddings.token_type_embeddings.weight"
_LAYER_NAMES = ("embeddings.", *(f"{name}." for name in PROJECTIONS.values()))


@dataclass(frozen=True, eq=False)
class PositionTable:
    """A model's position table: (n_rows, n_embedding_dims), and its measurements."""

    rows: FloatArray
    statistics: PositionStatistics


@dataclass(frozen=True, eq=False)
class MovedTokens:
    """The distance that each token's vector moved at layer 0.

    Attributes:
        names: the text written on each token.
        text_ids: the text of each token, 0 or 1, and -1 for added ones.
        shares: (n_tokens,) the length of the change divided by the vector's length before.
    """

    names: list[str]
    text_ids: list[int]
    shares: FloatArray

    @property
    def drawn(self) -> list[int]:
        """The indices of the first `MAX_BARS` tokens of each text, so that both are drawn."""
        ids = self.text_ids
        return [i for i, text_id in enumerate(ids) if ids[:i].count(text_id) < MAX_BARS]

    @property
    def drawn_names(self) -> list[str]:
        """The names of the tokens to draw."""
        return [self.names[i] for i in self.drawn]


def position_table(embedding: EmbeddingView, service: EncoderService) -> PositionTable:
    """The position table of a model.

    Raises:
        RequestError: it has too many rows to be sent.
    """
    rows = service.matrix(embedding.card.id, _POSITION_ROWS)
    first = int(embedding.parts.position_ids[0])
    statistics = remembered(
        "position table",
        embedding.card.checksum,
        first,
        compute=lambda: compare_positions(rows, first),
    )
    return PositionTable(rows, statistics)


def drawn_positions(view: ViewState, n: int) -> range:
    """The positions in the matrix: the first `FEW` of n, or every kth so that they fit."""
    if POSITIONS.of(view) == POSITIONS.default:
        return range(0, n, -(-n // _MAX_CELLS))
    return range(n)[:FEW]


def segment_rows(embedding: EmbeddingView, service: EncoderService) -> FloatArray | None:
    """The segment table; None if the model has none."""
    if embedding.parts.segment is None:
        return None
    return service.matrix(embedding.card.id, _SEGMENT_ROWS)


def moved_tokens(
    view: ViewState, embedding: EmbeddingView, service: EncoderService, change: str
) -> MovedTokens:
    """The effect of a second text, or of the other segment row, on layer 0."""
    rows = segment_rows(embedding, service)
    if change == SEGMENT_ONLY and rows is not None:
        return _other_segment(embedding, service, rows)
    other = next(iter(other_texts(view, embedding).values()))
    moved = _second_text(embedding, other, service)
    still = np.zeros_like(moved.shares)
    return MovedTokens(moved.names, moved.text_ids, still) if change == ALONE else moved


def layer_parameters(embedding: EmbeddingView, service: EncoderService) -> list[Parameter]:
    """The embedding layer's parameters."""
    return [p for p in service.parameters(embedding.card.id) if p.name.startswith(_LAYER_NAMES)]


def parameter_rows(parameters: list[Parameter]) -> list[dict[str, str | int]]:
    """The table of parameters."""
    states = {True: "in a trained layer", False: "in a layer that looks untrained", None: ""}
    return [
        {
            "parameter": parameter.name,
            "shape": " x ".join(map(str, parameter.shape)),
            "numbers": int(np.prod(parameter.shape)),
            "state": states[parameter.trained],
        }
        for parameter in parameters
    ]


def _other_segment(
    embedding: EmbeddingView, service: EncoderService, rows: FloatArray
) -> MovedTokens:
    """The movement of the text alone if it gets segment row 1 instead of 0."""
    parts = service.embedding_parts(embedding.card.id, embedding.sentence.text)
    before, after = (
        rebuild([parts.word, parts.position, row[None]], embedding.normalization)
        for row in rows[:2]
    )
    names = list(labels(parts.tokens, embedding.vocabulary))
    return MovedTokens(names, parts.tokens.text_ids.tolist(), moved_by(before, after))


def _second_text(embedding: EmbeddingView, other: Sentence, service: EncoderService) -> MovedTokens:
    """The movement of the text and its pair (or `other`) from each alone to both joined."""
    model, first = embedding.card.id, embedding.sentence
    second = first.pair or other.text
    joined = service.embedding_parts(model, first.text, pair=second)
    alone = [service.embedding_parts(model, text) for text in (first.text, second)]
    return _against_alone(joined, alone, labels(joined.tokens, embedding.vocabulary))


def _against_alone(
    joined: EmbeddingParts, alone: list[EmbeddingParts], names: tuple[str, ...]
) -> MovedTokens:
    """The movement of each text's tokens from the text alone to the pair."""
    positions: list[int] = []
    moved: list[FloatArray] = []
    for text_id, single in enumerate(alone):
        in_pair = np.flatnonzero(joined.tokens.text_ids == text_id)
        in_single = np.flatnonzero(single.tokens.text_ids == 0)[: len(in_pair)]
        in_pair = in_pair[: len(in_single)]
        positions += in_pair.tolist()
        moved.append(moved_by(single.output[in_single], joined.output[in_pair]))
    text_ids = joined.tokens.text_ids[positions].tolist() if positions else []
    return MovedTokens([names[i] for i in positions], text_ids, np.concatenate(moved))
