"""Anatomy, from a view to what is shown: a model's parts, with or without its weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from components.content.language import say
from components.core import EncoderService, ModelCard, ModelSpec
from components.core.presets import preset_config
from components.core.schema import Architecture, Passport
from components.features.anatomy.controls import PART, SEARCH, SUBJECT, TOKENS
from components.features.anatomy.measures.parameters import (
    Node,
    Totals,
    build_tree,
    search,
    totals,
)
from components.ui.state.view import ViewState

__all__ = ["AnatomyView", "anatomy_view", "others", "subjects"]


@dataclass(frozen=True, eq=False)
class AnatomyView:
    """What the page shows.

    Attributes:
        card: the loaded model, whether or not it is the one taken apart.
        architecture: the model taken apart.
        own: its card where it is loaded; None where only its config is known.
        chosen: the part that is looked at.
        query, lit: what is searched, and the parameters found; None where nothing is searched.
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
    n_tokens: int
    passport: Passport


def subjects(
    view: ViewState, service: EncoderService, card: ModelCard, more: Iterable[ModelSpec] = ()
) -> dict[str, str]:
    """What can be taken apart, by the control's value: the chosen model, then the presets.

    To the models that everyone is offered come the visitor's own.
    """
    rest = [spec for spec in (*service.models(), *more) if spec.id != view.model]
    return {
        "": card.title,
        **{s.id: say("anatomy.loaded", model=s.title) for s in rest if s.loaded},
        **{
            s.id: say("anatomy.no_weights", model=s.title)
            for s in rest
            if not s.loaded and preset_config(s.id) is not None
        },
    }


def anatomy_view(
    view: ViewState, service: EncoderService, card: ModelCard, more: Iterable[ModelSpec] = ()
) -> AnatomyView:
    """The parts of the model that the view asks for."""
    subject = SUBJECT.among(subjects(view, service, card, more)).of(view)
    own = card if not subject else _card(service, subject)
    architecture = service.architecture(subject or view.model)
    tree = build_tree(architecture)
    query = SEARCH.of(view).strip()
    return AnatomyView(
        card=card,
        architecture=architecture,
        own=own,
        tree=tree,
        totals=totals(architecture.parameters),
        chosen=tree.find(PART.among(node.path for node in tree.walk()).of(view)) or tree,
        query=query,
        lit=search(tree, query) if query else None,
        n_tokens=TOKENS.of(view),
        passport=_passport(architecture, own, service.load_tokenizer(card.id).versions),
    )


def others(anatomy: AnatomyView, service: EncoderService) -> list[Architecture]:
    """The model taken apart, the loaded one, and every preset that is allowed here."""
    ids = [
        anatomy.architecture.id,
        anatomy.card.id,
        *(spec.id for spec in service.models() if preset_config(spec.id) is not None),
    ]
    return [service.architecture(name) for name in dict.fromkeys(ids)]


def _card(service: EncoderService, model: str) -> ModelCard | None:
    """The card of a model that is in memory; nothing is loaded for it."""
    return service.load(model) if service.spec(model).loaded else None


def _passport(
    architecture: Architecture, card: ModelCard | None, versions: Mapping[str, str]
) -> Passport:
    return Passport(
        model=architecture.id,
        revision=card.revision if card else "",
        checksum=card.checksum if card else "",
        precision="exact",
        versions=versions,
        settings={} if card else {"weights": "none: built from the config"},
    )
