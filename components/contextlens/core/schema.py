"""The service's data types: requests, tokens and encodings, interventions, models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from contextlens.core.recipe import SentenceRecipe

__all__ = [
    "MAX_LABELS",
    "TEST",
    "TRAIN",
    "VALIDATION",
    "Architecture",
    "AttentionRequest",
    "Attribution",
    "Average",
    "Block",
    "Classification",
    "Counted",
    "CutRules",
    "EmbeddingParts",
    "Encoding",
    "FastPrecision",
    "FloatArray",
    "IntArray",
    "Intervention",
    "Labels",
    "Mask",
    "ModelCard",
    "ModelSpec",
    "Obstacle",
    "Parameter",
    "PartState",
    "Passport",
    "Patch",
    "Precision",
    "Progress",
    "ProgressEvent",
    "Provenance",
    "Purpose",
    "Replacements",
    "SentenceVector",
    "Source",
    "SwitchOff",
    "TokenPredictions",
    "TokenizerCard",
    "Tokens",
    "Vocabulary",
]


# --- The parts of labelled data

TRAIN = ("train", "training", "trn")
TEST = ("test", "testing", "tst")
VALIDATION = ("validation", "valid", "val", "dev", "development", "trial")
"""The casefolded values that separate rows to learn from and rows to test on; validation rows test
where no row is for testing."""


# --- Requests to a model

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
Mask = Literal["model", "ones"]
Precision = Literal["exact", "fast"]
AttentionRequest = bool | Sequence[tuple[int, int]]
"""False, True (all), or (layer, head) pairs: layers count from 1 as in `hidden`, heads from 0."""


@dataclass(frozen=True)
class ProgressEvent:
    """The progress of a load: a stage in words, and bytes if they are known."""

    stage: str
    done_bytes: int = 0
    total_bytes: int | None = None


Progress = Callable[[ProgressEvent], None]

Counted = Callable[[int, int], None]
"""Called with the amount done and the total; an exception that it raises ends the work."""


# --- A model's results for a text: frozen, shapes stated once


@dataclass(frozen=True)
class Passport:
    """Everything that is needed to compute the numbers of a result again."""

    model: str
    revision: str
    checksum: str
    precision: Precision
    versions: Mapping[str, str]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def with_prompt(self, prompt: str) -> Passport:
        """Return the passport with the text that was put before each text; "" for none."""
        if not prompt:
            return self
        return replace(self, settings={**self.settings, "prompt": prompt})

    @property
    def cosine_errors(self) -> Mapping[str, float] | None:
        """What fast reading cost: "median" and "greatest" error, of a number of "texts"."""
        return self.settings.get("errors of cosines")

    def with_cosine_errors(self, errors: FloatArray, n_texts: int, reason: str) -> Passport:
        """Return the passport with what fast reading costs, and the reason for it."""
        measured = {
            "texts": n_texts,
            "median": float(np.median(errors)),
            "greatest": float(errors.max()),
        }
        settings = {**self.settings, "speed": reason, "errors of cosines": measured}
        return replace(self, settings=settings)

    def as_dict(self) -> dict[str, Any]:
        """The passport as plain values, ready for JSON."""
        return {
            "model": self.model,
            "revision": self.revision,
            "checksum": self.checksum,
            "precision": self.precision,
            "versions": dict(self.versions),
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, eq=False)
class Tokens:
    """One text (or pair) as a model's tokenizer cuts it.

    Attributes:
        text: the text as given.
        pair: the second text, or None.
        tokens: the tokenizer's pieces, special tokens and padding included.
        token_ids: (n_tokens,) int64.
        attention_mask: (n_tokens,) int64, 1 for real tokens and 0 for padding.
        token_type_ids: (n_tokens,) int64 segment of each token, or None where the model has none.
        special_tokens_mask: (n_tokens,) int64, 1 where the tokenizer added the token.
        offsets: (n_tokens, 2) int64, start and end in code points of the text that the token
            came from; (0, 0) for added tokens.
        word_ids: (n_tokens,) int64, index of the token's word in `words.split_words` of the text
            that it came from; -1 for added tokens.
        text_ids: (n_tokens,) int64, 0 for `text`, 1 for `pair`, -1 for added tokens.
        n_truncated: tokens of the text(s) that did not fit the model.
    """

    text: str
    pair: str | None
    tokens: tuple[str, ...]
    token_ids: IntArray
    attention_mask: IntArray
    token_type_ids: IntArray | None
    special_tokens_mask: IntArray
    offsets: IntArray
    word_ids: IntArray
    text_ids: IntArray
    n_truncated: int

    @property
    def n_tokens(self) -> int:
        """The number of tokens, special ones and padding included."""
        return len(self.tokens)


@dataclass(frozen=True, eq=False, kw_only=True)
class Encoding(Tokens):
    """Everything a model says about one input.

    Attributes:
        hidden: (len(layers), n_tokens, n_dims) float32 hidden states.
        layers: the layer of each row of `hidden`; 0 is the embedding layer's output.
        pooler_output: (n_dims,) float32 of the model's own pooler, or None where it has none.
        attentions: (n_layers, n_heads, n_tokens, n_tokens) float32 with row 0 for layer 1; or
            (n_asked, n_tokens, n_tokens) in the order asked; or None. Rows are queries.
        passport: how to get the same numbers again.
    """

    hidden: FloatArray
    layers: tuple[int, ...]
    pooler_output: FloatArray | None
    attentions: FloatArray | None
    passport: Passport

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        arrays = (self.hidden, self.pooler_output, self.attentions, self.token_ids, self.offsets)
        return sum(a.nbytes for a in arrays if a is not None) + 5 * self.token_ids.nbytes

    def layer(self, layer: int) -> FloatArray:
        """(n_tokens, n_dims) hidden states of one layer by its number.

        Raises:
            ValueError: the layer was not requested when encoding.
        """
        if layer not in self.layers:
            raise ValueError(f"Layer {layer} was not encoded; there are layers {self.layers}.")
        rows: FloatArray = self.hidden[self.layers.index(layer)]
        return rows


@dataclass(frozen=True, eq=False)
class SentenceVector:
    """A text's vector by the model's own recipe.

    Attributes:
        vector: (n,) float32; n is the recipe's last size.
        n_tokens: the number of tokens that were read, special ones included.
        n_truncated: the number of tokens beyond the recipe's limit, which were not read.
        passport: how to get the same numbers again.
    """

    vector: FloatArray
    n_tokens: int
    n_truncated: int
    passport: Passport


@dataclass(frozen=True, eq=False)
class TokenPredictions:
    """The tokens that a model expects at some positions of a text, by its own trained head.

    Log-probabilities are natural, over the model's whole vocabulary; rank 1 is the most probable.

    Attributes:
        tokens: the text as written; what was hidden shows in `is_masked` alone.
        positions: the positions that were predicted.
        is_masked: True if the model read the mask token at all of these positions.
        layers: the layers whose hidden states the head read; it was trained on the last.
        best_ids: (n_layers, n_positions, n_best) int64, the most probable first.
        best: the same shape, float32 log-probabilities.
        written: (n_layers, n_positions) float32 log-probability of the token as written.
        written_ranks: the same shape, int64.
        candidates: (n_layers, n_positions, n_candidates) float32 log-probabilities.
        candidate_ranks: the same shape, int64.
        passport: how to get the same numbers again.
    """

    tokens: Tokens
    positions: tuple[int, ...]
    is_masked: bool
    layers: tuple[int, ...]
    best_ids: IntArray
    best: FloatArray
    written: FloatArray
    written_ranks: IntArray
    candidates: FloatArray
    candidate_ranks: IntArray
    passport: Passport


@dataclass(frozen=True, eq=False)
class Classification:
    """The labels that a model's own trained head gives a text, or each token of it.

    Attributes:
        tokens: the text as tokenized.
        labels: the labels of the last axis.
        logits: (n_labels,) float32 for a text, (n_tokens, n_labels) for its tokens.
        scores: the same shape, from the logits as `Labels.scores` says.
        passport: how to get the same numbers again.
    """

    tokens: Tokens
    labels: tuple[str, ...]
    logits: FloatArray
    scores: FloatArray
    passport: Passport


@dataclass(frozen=True, eq=False)
class EmbeddingParts:
    """The embedding layer's arithmetic for one input, step by step.

    word (+ position) (+ segment) = total (-> LayerNorm) -> normalized (-> projection) -> output.

    Attributes:
        tokens: the input as tokenized.
        position_ids: (n_tokens,) int64 rows of the position table, or None where the model has no
            such table.
        word: (n_tokens, n_embedding_dims) float32 rows of the word table, times `word_scale`.
        word_scale: the number by which the model multiplies these rows; 1 in most families.
        position, segment: rows of these tables, of the same shape, or None where the model has
            none.
        total: the sum of these rows.
        normalized: LayerNorm of `total`; the same as `total` where the layer has no LayerNorm.
        epsilon: the number that LayerNorm adds to the variance before it takes the root, or None
            where the layer has no LayerNorm.
        projected: True if a linear layer follows (ALBERT, RemBERT; ELECTRA where sizes differ).
        output: (n_tokens, n_dims) float32 hidden states of layer 0.
    """

    tokens: Tokens
    position_ids: IntArray | None
    word: FloatArray
    word_scale: float
    position: FloatArray | None
    segment: FloatArray | None
    total: FloatArray
    normalized: FloatArray
    epsilon: float | None
    projected: bool
    output: FloatArray


@dataclass(frozen=True, eq=False)
class Attribution:
    """Each token's contribution to a cosine or a label's score, by integrated gradients on layer 0.

    Attributes:
        tokens: the input as tokenized.
        layer: the layer whose states were compared or labelled.
        shares: (n_tokens,) float64 contributions along the path from the start to the input; 0 for
            tokens that are the same at both ends (special ones).
        start: the value where each token that is not special has the word vector of [PAD].
        end: the value of the input itself.
        steps: points of the path at which the gradient was taken, equally many on each piece.
        cuts: the ends of the path's pieces in order, from 0 to 1.
        missed: the absolute errors of the pieces, added up. Unlike those in the remainder, they
            cannot cancel out, so this tells whether the steps were enough.
        passport: how to get the same numbers again.
    """

    tokens: Tokens
    layer: int
    shares: NDArray[np.float64]
    start: float
    end: float
    steps: int
    cuts: tuple[float, ...]
    missed: float
    passport: Passport

    @property
    def remainder(self) -> float:
        """The difference that the shares leave unexplained: 0 with infinitely many steps."""
        return self.end - self.start - float(self.shares.sum())


@dataclass(frozen=True, eq=False)
class Replacements:
    """Whole words of a vocabulary in the place of each token, by their expected effect on a label.

    Attributes:
        tokens: the input as tokenized.
        ids: (n_tokens, n_best) int64 IDs of the words, those with the largest effect first.
        estimates: the same shape, float32: the expected change of the logarithm of the label's
            score (softmax), or of its logit.
        passport: how to get the same numbers again.
    """

    tokens: Tokens
    ids: IntArray
    estimates: FloatArray
    passport: Passport


# --- Changes inside a model while it reads a text


class SwitchOff(Struct, frozen=True, tag=True):
    """A part's output replaced by one constant vector at all positions.

    Attributes:
        part: a head (its output before the projection that follows all heads), or a layer's whole
            attention or feed-forward (the output before the residual is added).
        layer: 1 to n.
        head: the number of the head, from 0; only for the part "head".
        to: zeros, or the part's mean over all tokens of the call's `baseline` texts.
    """

    part: Literal["head", "attention", "feed_forward"]
    layer: int
    head: int | None = None
    to: Literal["zero", "mean"] = "zero"

    @property
    def words(self) -> str:
        """The change in words, for a passport."""
        part = f"head {self.head}" if self.part == "head" else self.part.replace("_", "-")
        return f"{part} of layer {self.layer} set to {self.to}"


class Block(Struct, frozen=True, tag=True):
    """A token hidden from attention; it keeps its position and still attends to the others.

    Attributes:
        token: the position that is hidden.
        seen_by: the one position that it is hidden from; None for all, including itself.
        layers: some of 1 to n; None for all.
    """

    token: int
    seen_by: int | None = None
    layers: tuple[int, ...] | None = None

    @property
    def words(self) -> str:
        """The change in words, for a passport."""
        by = "all positions" if self.seen_by is None else f"position {self.seen_by}"
        where = "all layers" if self.layers is None else f"layers {_listed(self.layers)}"
        return f"position {self.token} hidden from {by} in {where}"


class Patch(Struct, frozen=True, tag=True):
    """Hidden states of a layer replaced by those of another text at the same layer.

    Attributes:
        layer: 0 to n.
        positions: the positions whose states are replaced.
        source: the other text.
        source_positions: the other text's positions, one for each of `positions`.
        source_pair: the other text's pair.
    """

    layer: int
    positions: tuple[int, ...]
    source: str
    source_positions: tuple[int, ...]
    source_pair: str | None = None

    @property
    def words(self) -> str:
        """The change in words, for a passport."""
        pair = "" if self.source_pair is None else f" with the pair {self.source_pair!r}"
        return (
            f"layer {self.layer} at positions {_listed(self.positions)} taken from positions "
            f"{_listed(self.source_positions)} of {self.source!r}{pair}"
        )


class Average(Struct, frozen=True, tag=True):
    """Hidden states of a layer replaced by their mean.

    Attributes:
        layer: 0 to n.
        positions: the positions whose states are replaced.
        over: the text's own tokens, or those of all different texts of the call.
    """

    layer: int
    positions: tuple[int, ...]
    over: Literal["text", "batch"] = "text"

    @property
    def words(self) -> str:
        """The change in words, for a passport."""
        over = "the text" if self.over == "text" else "all texts"
        return f"layer {self.layer} at positions {_listed(self.positions)} averaged over {over}"


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


Intervention = SwitchOff | Block | Patch | Average


# --- Facts about a model

Source = Literal["bundled", "hub", "folder"]
Obstacle = Literal["", "adapter", "link"]
"""What a folder is that cannot be loaded: a LoRA adapter, or a link to a folder elsewhere."""
Purpose = Literal["", "words", "sentences", "search", "languages", "long"]
"""What an offered model is the first choice for; "" for none."""


@dataclass(frozen=True)
class ModelSpec:
    """A model that can be loaded: its id, and what to know before loading it."""

    id: str
    title: str
    summary: str
    source: Source
    download_bytes: int | None = None  # None: nothing to fetch, or unknown
    loaded: bool = False
    on_disk: bool = False  # True if its files are complete on this machine
    obstacle: Obstacle = ""  # why its folder cannot be loaded as it is
    purpose: Purpose = ""


@dataclass(frozen=True)
class PartState:
    """The state of training of one part of a model, with the reason for saying so."""

    state: Literal["trained", "untrained", "absent"]
    reason: str


@dataclass(frozen=True)
class Provenance:
    """The state of each part's weights; pages check it before they interpret the part."""

    embedding_layer: PartState
    encoder: PartState
    pooler: PartState
    token_head: PartState = PartState("absent", "")  # predicts hidden words
    next_head: PartState = PartState("absent", "")  # says whether a sentence follows another
    text_head: PartState = PartState("absent", "")  # gives a text one of its labels
    label_head: PartState = PartState("absent", "")  # gives each token one of its labels


@dataclass(frozen=True)
class FastPrecision:
    """The data type behind `precision="fast"` on this machine, with the reason."""

    dtype: Literal["bfloat16", "float16", "float32"]
    reason: str


MAX_LABELS = 1000
"""The most labels that a head may have."""


@dataclass(frozen=True)
class Labels:
    """The labels that a checkpoint's own head gives, and how logits become scores.

    Attributes:
        names: the name of each label, in the order of the logits.
        scores: "softmax" over the labels, "sigmoid" of each alone, or "none": the logits.
    """

    names: tuple[str, ...] = ()
    scores: Literal["softmax", "sigmoid", "none"] = "softmax"


@dataclass(frozen=True)
class ModelCard:
    """A loaded model's sizes, origin, checksum and provenance."""

    id: str
    title: str
    family: str  # config.model_type: "bert", "roberta", ...
    source: Source
    location: str  # the source of its files, in words
    revision: str  # hub commit, package version, or "" for a folder
    checksum: str  # SHA-256 of the weight file(s), hex
    n_layers: int
    n_dims: int
    n_heads: int
    vocabulary_size: int  # rows of its word table
    max_length: int  # tokens, special ones included
    cased: bool
    has_segments: bool
    n_parameters: int
    memory_bytes: int
    provenance: Provenance
    fast: FastPrecision
    device: str = "cpu"  # the device it runs on, as torch names it: "cpu", "cuda:0", "mps"
    last_projection: str = ""  # of each state after the last layer; hidden states leave it out
    recipe: SentenceRecipe | None = None  # its authors' own steps to a sentence vector
    recipe_note: str = ""  # why a recipe in its files is not offered
    tokenizer_size: int = 0  # tokens in its tokenizer, added ones included
    left_out: tuple[str, ...] = ()  # modules of the checkpoint besides the encoder: "classifier"
    stored_as: tuple[str, ...] = ("float32",)  # the data types of its weights in their files
    is_wrapped: bool = False  # True if its weights' names begin with those of a training wrapper
    labels: Labels = Labels()  # of its head for texts or tokens, if it has one that is trained
    local_layers: tuple[int, ...] = ()  # in these, a token attends to its neighbours alone
    window: int | None = None  # the most positions between two that attend to each other there
    positions: Literal["bias", "distances", "rotation"] | None = (
        None  # how attention is told of them
    )

    @property
    def repository(self) -> str:
        """The id without a commit, as other tools name the model."""
        return self.id.partition("@")[0]

    @property
    def was_converted(self) -> bool:
        """True if its weights are stored in another data type than float32, which computes."""
        return self.stored_as != ("float32",)


@dataclass(frozen=True)
class TokenizerCard:
    """A tokenizer's facts, whether or not its model is loaded; fields are as in `ModelCard`."""

    id: str
    title: str
    family: str
    source: Source
    location: str
    revision: str
    checksum: str  # SHA-256 of the tokenizer's files, hex
    vocabulary_size: int  # tokens in it, added ones included
    max_length: int
    n_added: tuple[int, int]  # special tokens added to one text, and to a pair
    cased: bool
    has_segments: bool
    versions: Mapping[str, str]  # of the libraries that tokenize, for passports


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Every token that a tokenizer knows, by ID.

    Attributes:
        method: how words are cut: "WordPiece", "BPE" (of bytes), "SentencePiece BPE" (of
            characters) or "Unigram".
        pieces: tokens as the tokenizer writes them: "##an", "Ġthe", "▁the".
        texts: each piece without the sign for its place in a word: "an", "the", "the".
        kinds: whether a token begins a word, continues one, or is special.
        unknown_id: the ID of the unknown token, or None if everything can be spelled.
        pad_id: the ID of padding.
        longest_word: the most characters of a word that is cut; None if there is no limit.
        mask_id: the ID of the token that hides a word, or None if there is none.
    """

    method: str
    pieces: tuple[str, ...]
    texts: tuple[str, ...]
    kinds: tuple[Literal["start", "continuation", "special"], ...]
    unknown_id: int | None
    pad_id: int
    longest_word: int | None
    mask_id: int | None = None

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The ID of each piece."""
        return MappingProxyType({piece: i for i, piece in enumerate(self.pieces)})

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters that can be spelled."""
        return frozenset(text for text in self.texts if len(text) == 1)


@dataclass(frozen=True, eq=False)
class CutRules:
    """The rules for cutting a word that a tokenizer learned besides its vocabulary.

    Attributes:
        merges: for BPE, the rank of each pair of pieces in the order of merges, from 0; else empty.
        scores: for Unigram, each piece's log-probability, by ID; else empty.
    """

    merges: Mapping[tuple[str, str], int]
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a model."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    n_bytes: int
    tied_to: str | None  # the earlier-listed parameter that shares its memory
    trained: bool | None  # None: the weights are not here


@dataclass(frozen=True, eq=False)
class Architecture:
    """A model's sizes and parameters, known with or without its weights.

    Attributes:
        n_head_dims: dimensions of a head in each layer; heads need not share `n_dims` among them.
        n_inner: width of the feed-forward layer inside each encoder layer.
        max_length: tokens that fit, special ones included.
        dropout: share of values that training sets to 0, as the config says; no parameters.
        attention_dropout: the same for attention weights.
        n_distance_terms: parts of an attention score that read a table of distances (DeBERTa).
        parameters: every parameter, in the model's own order.
    """

    id: str
    title: str
    family: str
    n_layers: int
    n_dims: int
    n_heads: int
    n_head_dims: tuple[int, ...]
    n_inner: int
    vocabulary_size: int
    max_length: int
    dropout: float
    attention_dropout: float
    parameters: tuple[Parameter, ...]
    n_distance_terms: int = 0
