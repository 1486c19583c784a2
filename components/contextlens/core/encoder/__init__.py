"""The only package that imports torch and transformers; its results are numpy arrays."""

from __future__ import annotations

from contextlens.core.encoder.architecture import architecture_of, build_architecture
from contextlens.core.encoder.devices import (
    device_of,
    fast_precision,
    free_memory,
    needed_memory,
    tidy_memory,
)
from contextlens.core.encoder.embedding import embedding_parts, nearest_rows, word_rows
from contextlens.core.encoder.gradients import (
    integrated_gradients,
    label_gradients,
    label_replacements,
)
from contextlens.core.encoder.inputs import Request
from contextlens.core.encoder.intervening import intervene
from contextlens.core.encoder.loading import LoadedModel, load_model
from contextlens.core.encoder.parameters import list_parameters, read_matrix
from contextlens.core.encoder.predicting import (
    PredictionRequest,
    classify,
    follows,
    labelling_head,
    masked_texts,
    predict,
    trained_head,
)
from contextlens.core.encoder.running import (
    BatchKey,
    PreparedText,
    prepare_texts,
    processors,
    run_alone,
)
from contextlens.core.encoder.sentences import sentence_vectors
from contextlens.core.encoder.tokenizing import normalize, tokenize
from contextlens.core.encoder.vocabulary import (
    LoadedTokenizer,
    decode,
    load_tokenizer,
)

__all__ = [
    "BatchKey",
    "LoadedModel",
    "LoadedTokenizer",
    "PredictionRequest",
    "PreparedText",
    "Request",
    "architecture_of",
    "build_architecture",
    "classify",
    "decode",
    "device_of",
    "embedding_parts",
    "fast_precision",
    "follows",
    "free_memory",
    "integrated_gradients",
    "intervene",
    "label_gradients",
    "label_replacements",
    "labelling_head",
    "list_parameters",
    "load_model",
    "load_tokenizer",
    "masked_texts",
    "nearest_rows",
    "needed_memory",
    "normalize",
    "predict",
    "prepare_texts",
    "processors",
    "read_matrix",
    "run_alone",
    "sentence_vectors",
    "tidy_memory",
    "tokenize",
    "trained_head",
    "word_rows",
]
