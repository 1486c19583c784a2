"""Anatomy, from a view to what is shown: a model's parts, with or without its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st

from components.core import EncoderService, ModelCard
from components.core.presets import preset_config
from components.core.schema import Architecture, Parameter, Passport
from components.features.anatomy.explain import NO_POOLER
from components.features.anatomy.measures.parameters import (
    Node,
    Totals,
    build_tree,
    n_values,
    search,
    totals,
)
from components.features.anatomy.measures.weights import (
    WeightStatistics,
    evenly_spaced,
    weight_statistics,
)
from components.ui.state.view import ViewState

__all__ = [
    "DEFAULT_TOKENS",
    "MAX_TOKENS",
    "PAGE",
    "PICTURES",
    "SECTIONS",
    "Anatomy",
    "Measured",
    "compute",
    "measure",
    "others",
    "subjects",
]

PAGE = "anatomy"
PICTURES: dict[str, Literal["treemap", "icicle"]] = {"Treemap": "treemap", "Tree": "icicle"}
SECTIONS = ("Beside other models", "Inside the weights")
DEFAULT_TOKENS, MAX_TOKENS = 128, 512
_MAX_SAMPLE = 2_000_000  # values of a word table that are measured: a second of work at most


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What the page shows.

    Attributes:
        card: the loaded model, whether or not it is the one taken apart.
        architecture: the model taken apart.
        own: its card where it is loaded; None where only its config is known.
        chosen: the part that is looked at.
        query, lit: what is searched, and the parameters found; None where nothing is searched.
        absent: what this model does not have, a sentence each.
        n_tokens: the text length that operations are counted for.
    """

    card: ModelCard
    architecture: Architecture
    own: ModelCard | None
    tree: Node
    totals: Totals
    chosen: Node
    query: str
    lit: frozenset[str] | None
    absent: tuple[str, ...]
    n_tokens: int
    passport: Passport


@dataclass(frozen=True, eq=False)
class Measured:
    """One array's statistics; `step` tells which rows were measured: every one, or every nth."""

    parameter: Parameter
    stats: WeightStatistics
    step: int


def subjects(view: ViewState, service: EncoderService, card: ModelCard) -> dict[str, str]:
    """What can be taken apart, by the control's value: the chosen model, then the presets."""
    rest = [spec for spec in service.models() if spec.id != view.model]
    return {
        "": card.title,
        **{s.id: f"{s.title} (loaded)" for s in rest if s.loaded},
        **{
            s.id: f"{s.title} (no weights)"
            for s in rest
            if not s.loaded and preset_config(s.id) is not None
        },
    }


def compute(view: ViewState, service: EncoderService, card: ModelCard) -> Anatomy:
    """The parts of the model that the view asks for."""
    asked = str(view.control(PAGE, "subject", ""))
    subject = asked if asked in subjects(view, service, card) else ""
    own = card if not subject else _card(service, subject)
    architecture = service.architecture(subject or view.model)
    tree = build_tree(architecture)
    query = str(view.control(PAGE, "search", "")).strip()
    return Anatomy(
        card=card,
        architecture=architecture,
        own=own,
        tree=tree,
        totals=totals(architecture.parameters),
        chosen=tree.find(str(view.control(PAGE, "part", ""))) or tree,
        query=query,
        lit=search(tree, query) if query else None,
        absent=_absent(tree, architecture, own),
        n_tokens=_tokens(view),
        passport=_passport(architecture, own, service.load_tokenizer(card.id).versions),
    )


def others(what: Anatomy, service: EncoderService) -> list[Architecture]:
    """The model taken apart, the loaded one, and every preset that is allowed here."""
    ids = [
        what.architecture.id,
        what.card.id,
        *(spec.id for spec in service.models() if preset_config(spec.id) is not None),
    ]
    return [service.architecture(name) for name in dict.fromkeys(ids)]


def measure(what: Anatomy, parameter: Parameter, service: EncoderService) -> Measured:
    """The statistics of one array; of a word table too large to send, of rows sampled evenly.

    Raises:
        RequestError: another array of more values than the service gives at once.
    """
    return _measure(what.architecture.id, what.passport.checksum, parameter, service)


@st.cache_resource(show_spinner=False, max_entries=64)
def _measure(
    model: str,
    checksum: str,  # noqa: ARG001 - part of the key
    parameter: Parameter,
    _service: EncoderService,
) -> Measured:
    if parameter.name.endswith("word_embeddings.weight") and n_values(parameter) > _MAX_SAMPLE:
        rows = evenly_spaced(parameter.shape[0], parameter.shape[1], _MAX_SAMPLE)
        array, step = _service.word_rows(model, rows), int(rows[1] - rows[0])
    else:
        array, step = _service.matrix(model, parameter.name), 1
    return Measured(parameter, weight_statistics(array), step)


def _tokens(view: ViewState) -> int:
    return min(max(int(view.control(PAGE, "tokens", DEFAULT_TOKENS)), 1), MAX_TOKENS)


def _card(service: EncoderService, model: str) -> ModelCard | None:
    """The card of a model that is in memory; nothing is loaded for it."""
    loaded = any(spec.id == model and spec.loaded for spec in service.models())
    return service.load(model) if loaded else None


def _absent(tree: Node, architecture: Architecture, card: ModelCard | None) -> tuple[str, ...]:
    """What other models of these families have and this one has not, with the reason."""
    said = []
    if tree.find("pooler") is None:
        family = f"This {architecture.family} model has no pooler."
        known = NO_POOLER.get(architecture.family, family)
        said.append("No pooler. " + (card.provenance.pooler.reason if card else known))
    if tree.find("embeddings/segment") is None:
        said.append(
            f"No segment table. The {architecture.family} architecture does not tell the first "
            "text of a pair from the second."
        )
    return tuple(said)


def _passport(architecture: Architecture, card: ModelCard | None, versions: object) -> Passport:
    return Passport(
        model=architecture.id,
        revision=card.revision if card else "",
        checksum=card.checksum if card else "",
        precision="exact",
        versions=versions,  # type: ignore[arg-type]
        settings={} if card else {"weights": "none: built from the config"},
    )
