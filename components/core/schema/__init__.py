"""The data that crosses layers: frozen, nothing imported but numpy."""

from __future__ import annotations

from components.core.schema.interventions import (
    Average,
    Block,
    Intervention,
    Patch,
    SwitchOff,
)
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
    Counted,
    FloatArray,
    IntArray,
    Mask,
    Precision,
    Progress,
    ProgressEvent,
)
from components.core.schema.results import (
    Attribution,
    EmbeddingParts,
    Encoding,
    Passport,
    Tokens,
)

__all__ = [
    "PROJECTIONS",
    "Architecture",
    "AttentionRequest",
    "Attribution",
    "Average",
    "Block",
    "Counted",
    "CutRules",
    "EmbeddingParts",
    "Encoding",
    "FastPrecision",
    "FloatArray",
    "IntArray",
    "Intervention",
    "Mask",
    "ModelCard",
    "ModelSpec",
    "Parameter",
    "PartState",
    "Passport",
    "Patch",
    "Precision",
    "Progress",
    "ProgressEvent",
    "Provenance",
    "Source",
    "SwitchOff",
    "TokenizerCard",
    "Tokens",
    "Vocabulary",
]
