"""What is known of a model, its tokenizer and their parts, before and after it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

__all__ = [
    "PROJECTIONS",
    "Architecture",
    "CutRules",
    "FastPrecision",
    "ModelCard",
    "ModelSpec",
    "Parameter",
    "PartState",
    "Provenance",
    "Source",
    "TokenizerCard",
    "Vocabulary",
]

Source = Literal["bundled", "hub", "folder"]

PROJECTIONS: Mapping[str, str] = MappingProxyType(
    {"albert": "encoder.embedding_hidden_mapping_in", "electra": "embeddings_project"}
)
"""The linear layer between the embedding layer's LayerNorm and layer 0, by family.

A dotted name of transformers' models; ELECTRA has it only where the sizes differ.
"""


@dataclass(frozen=True)
class ModelSpec:
    """A model that can be loaded: its id, and what to know before loading it."""

    id: str
    title: str
    summary: str
    source: Source
    download_bytes: int | None = None  # None: nothing to fetch, or not known
    loaded: bool = False
    on_disk: bool = False  # its files are on this machine, whole


@dataclass(frozen=True)
class PartState:
    """Whether one part of a model was trained, with the reason for saying so."""

    state: Literal["trained", "untrained", "absent"]
    reason: str


@dataclass(frozen=True)
class Provenance:
    """What the weights of each part are; pages ask before they tell a story."""

    embedding_layer: PartState
    encoder: PartState
    pooler: PartState


@dataclass(frozen=True)
class FastPrecision:
    """What `precision="fast"` computes in on this machine, with the reason."""

    dtype: Literal["bfloat16", "float16", "float32"]
    reason: str


@dataclass(frozen=True)
class ModelCard:
    """What a loaded model is: sizes, origin, checksum and provenance."""

    id: str
    title: str
    family: str  # config.model_type: "bert", "roberta", ...
    source: Source
    location: str  # where its files came from, in words
    revision: str  # hub commit, package version, or "" for a folder
    checksum: str  # SHA-256 of the weight file(s), hex
    n_layers: int
    n_dims: int
    n_heads: int
    vocabulary_size: int
    max_length: int  # tokens, special ones included
    cased: bool
    has_segments: bool
    n_parameters: int
    memory_bytes: int
    provenance: Provenance
    fast: FastPrecision
    device: str = "cpu"  # what it computes on, as torch names it: "cpu", "cuda:0", "mps"


@dataclass(frozen=True)
class TokenizerCard:
    """What a tokenizer is, whether or not its model is loaded: as in `ModelCard`, but for it."""

    id: str
    title: str
    family: str
    source: Source
    location: str
    revision: str
    checksum: str  # SHA-256 of the tokenizer's files, hex
    vocabulary_size: int  # tokens that it knows, added ones included
    max_length: int
    n_added: tuple[int, int]  # special tokens added to one text, and to a pair
    cased: bool
    has_segments: bool
    versions: Mapping[str, str]  # of the libraries that cut, for passports


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Every token that a tokenizer knows, by ID.

    Attributes:
        method: how words are cut: "WordPiece", "BPE" (of bytes) or "Unigram".
        pieces: tokens as the tokenizer writes them: "##an", "Ġthe", "▁the".
        texts: what each stands for, without the sign for its place in a word: "an", "the", "the".
        kinds: whether a token begins a word, goes on with one, or is special.
        unknown_id: the ID of what cannot be spelled, or None where everything can.
        pad_id: the ID of padding.
        longest_word: characters of the longest word that is cut; None where there is no bound.
    """

    method: str
    pieces: tuple[str, ...]
    texts: tuple[str, ...]
    kinds: tuple[Literal["start", "continuation", "special"], ...]
    unknown_id: int | None
    pad_id: int
    longest_word: int | None

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
    """What a tokenizer learned, beside its vocabulary, of how a word is cut.

    Attributes:
        merges: of BPE, the place in which each pair of neighbours was merged, from 0; else empty.
        scores: of Unigram, each piece's log-probability, by ID; else empty.
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
    tied_to: str | None  # the name that holds the same memory, listed earlier
    trained: bool | None  # None: the weights are not here


@dataclass(frozen=True, eq=False)
class Architecture:
    """What a model is made of, with or without its weights.

    Attributes:
        n_inner: width of the feed-forward layer inside each encoder layer.
        max_length: tokens that fit, special ones included.
        parameters: every parameter in the model's own order; tied ones name the first holder.
    """

    id: str
    title: str
    family: str
    n_layers: int
    n_dims: int
    n_heads: int
    n_inner: int
    vocabulary_size: int
    max_length: int
    parameters: tuple[Parameter, ...]
