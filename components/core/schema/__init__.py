"""The data that crosses layers: frozen, nothing imported but numpy."""

from __future__ import annotations

from components.core.schema.models import (
    PROJECTIONS,
    Architecture,
    CutRules,
    FastPrecision,
    ModelCard,
    ModelSpec,
    Parameter,
    PartState,
    Provenance,
    Source,
    TokenizerCard,
    Vocabulary,
)
from components.core.schema.requests import (
    AttentionRequest,
    FloatArray,
    IntArray,
    Mask,
    Precision,
    Progress,
    ProgressEvent,
)
from components.core.schema.results import EmbeddingParts, Encoding, Passport, Tokens

__all__ = [
    "PROJECTIONS",
    "Architecture",
    "AttentionRequest",
    "CutRules",
    "EmbeddingParts",
    "Encoding",
    "FastPrecision",
    "FloatArray",
    "IntArray",
    "Mask",
    "ModelCard",
    "ModelSpec",
    "Parameter",
    "PartState",
    "Passport",
    "Precision",
    "Progress",
    "ProgressEvent",
    "Provenance",
    "Source",
    "TokenizerCard",
    "Tokens",
    "Vocabulary",
]
