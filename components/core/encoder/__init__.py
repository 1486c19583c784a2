"""The only package that imports torch and transformers; its results are numpy arrays."""

from __future__ import annotations

from components.core.encoder.architecture import architecture_of, build_architecture
from components.core.encoder.devices import (
    device_of,
    fast_precision,
    free_memory,
    needed_memory,
    tidy_memory,
)
from components.core.encoder.embedding import embedding_parts, nearest_rows, word_rows
from components.core.encoder.gradients import integrated_gradients
from components.core.encoder.inputs import Request
from components.core.encoder.intervening import intervene
from components.core.encoder.loading import LoadedModel, load_model
from components.core.encoder.parameters import list_parameters, read_matrix
from components.core.encoder.running import BatchKey, encode, prepare_texts, processors
from components.core.encoder.sentences import sentence_vectors
from components.core.encoder.tokenizing import tokenize
from components.core.encoder.vocabulary import (
    LoadedTokenizer,
    decode,
    load_tokenizer,
    normalize,
)

__all__ = [
    "BatchKey",
    "LoadedModel",
    "LoadedTokenizer",
    "Request",
    "architecture_of",
    "build_architecture",
    "decode",
    "device_of",
    "embedding_parts",
    "encode",
    "fast_precision",
    "free_memory",
    "integrated_gradients",
    "intervene",
    "list_parameters",
    "load_model",
    "load_tokenizer",
    "nearest_rows",
    "needed_memory",
    "normalize",
    "prepare_texts",
    "processors",
    "read_matrix",
    "sentence_vectors",
    "tidy_memory",
    "tokenize",
    "word_rows",
]
