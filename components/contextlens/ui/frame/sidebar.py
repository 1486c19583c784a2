"""The sidebar: model and its card, menu, Reset."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.english import is_foreign
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard, ModelSpec
from contextlens.core.errors import ServiceAwayError
from contextlens.core.registry import ENGLISH_MODELS
from contextlens.jobs import Job
from contextlens.ui.access import guard, sign_in
from contextlens.ui.access.roles import FETCH
from contextlens.ui.models import requested_model, runtime, waiting
from contextlens.ui.models.recipes import recipe_of
from contextlens.ui.models.requested_model import ModelRequest
from contextlens.ui.page import errors, navigation
from contextlens.ui.state import session
from contextlens.ui.state.services import service, settings
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import kit

# --- The model picker, and below it the state of the chosen model

_BETWEEN = " · "
_ARRIVED = "came"  # the model that arrived last, until the visitor is told


def draw_picker(view: ViewState) -> None:
    """Draw the picker with the model in use, or with the chosen one while it loads."""
    request = requested_model.current(view)
    selected = request.model if request is not None and request.is_pending else view.model
    specs = _specs(selected)
    key = session.bind("model", selected)
    may_fetch = settings().allow_downloads and guard.is_allowed(FETCH)
    st.selectbox(
        "Model",
        list(specs),
        index=list(specs).index(selected),
        key=key,
        format_func=lambda name: (
            _label(specs[name], may_fetch=may_fetch) if name in specs else str(name)
        ),
        help=_help(specs),
        accept_new_options=runtime.may_choose_any(),
        placeholder="Choose a model",
        on_change=_choose,
        args=(key,),
    )
    if request is not None and request.is_pending and request.job is not None:
        _watch(request.job)
    elif request is not None:
        _failure(request)


def _specs(selected: str) -> dict[str, ModelSpec]:
    """Return every model that this visitor can choose, and the current one if no list has it."""
    specs = {spec.id: spec for spec in (*service().models(), *runtime.own_models())}
    specs.setdefault(selected, ModelSpec(selected, selected, "A model of your own choice.", "hub"))
    return specs


def _label(spec: ModelSpec, *, may_fetch: bool) -> str:
    if spec.source == "folder":
        return spec.title + _BETWEEN + say(f"frame.models.folder.{spec.obstacle or 'model'}")
    parts = [spec.title]
    if spec.purpose:
        parts.append(say(f"frame.models.purpose.{spec.purpose}"))
    if spec.loaded or spec.on_disk:
        pass
    elif not may_fetch:
        parts.append("not on this machine")
    elif spec.download_bytes is not None:
        parts.append(f"{spec.download_bytes / 1e6:,.0f} MB to fetch")
    return _BETWEEN.join(parts)


def _help(specs: Mapping[str, ModelSpec]) -> str:
    """Return the help text with the purpose of each model."""
    lines = [f"- **{escape(spec.title)}**: {escape(spec.summary)}" for spec in specs.values()]
    rule = say(f"frame.models.{'any' if runtime.may_choose_any() else 'listed'}")
    return "\n".join([*lines, "", rule])


def _choose(key: str) -> None:
    if session.is_shown(key):
        requested_model.choose(_model_named(str(session.value(key) or "")))


def _model_named(text: str) -> str:
    """Return the model that a picked label or a typed text names.

    A label changes when its model has been fetched, and a browser may still send the old one.
    """
    specs = {spec.id: spec for spec in (*service().models(), *runtime.own_models())}
    if text in specs:
        return text
    title = text.partition(_BETWEEN)[0].strip()
    matches = (s.id for s in specs.values() if title.casefold() in {s.title.casefold(), s.id})
    return next(matches, title)


def _watch(job: Job) -> None:
    """Draw the progress of the chosen model; the page continues with its present one."""
    with st.container(border=True, gap="xsmall", key="model_wish"):
        waiting.follow(
            job,
            requested_model.PLACE,
            on_cancel=requested_model.drop,
            note=say("frame.models.meanwhile"),
            below=True,
            on_over=_switch_model,
        )


def _switch_model() -> None:
    """Switch the page to the model that arrived, or say why it did not."""
    request: ModelRequest | None = session.requested_model()
    is_there = request is not None and request.is_pending and request.has_ended
    if request and is_there and requested_model.apply(request):
        session.keep(_ARRIVED, request.model)
    st.rerun()


def announce_model() -> None:
    """Say that another model is in use: as a toast, because the sidebar may be closed.

    It belongs at the end of a run: output before a rerun may not reach the browser.
    """
    model = session.kept(_ARRIVED)
    if model is not None:
        session.keep(_ARRIVED, None)
        st.toast(f"The page now shows {escape(model)}.", icon=":material/check:", duration="long")


def _failure(request: ModelRequest) -> None:
    with st.container(gap="xsmall", key="model_wish"):
        errors.draw(request.error)
        with st.container(horizontal=True, gap="small"):
            if request.job is not None:
                st.button("Try again", key="wish_retry", on_click=requested_model.retry)
            st.button("Dismiss", key="wish_dismiss", on_click=requested_model.drop)


def draw(view: ViewState, page: str) -> DeltaGenerator | None:
    """Draw the whole sidebar; return the place of the model card if its model is not loaded yet."""
    with st.sidebar:
        with st.container(key="brand"):
            st.markdown(":material/center_focus_strong: **Contextlens**")
        sign_in.account(view)
        try:
            draw_picker(view)
        except ServiceAwayError:  # before it listed any models; the page says so
            st.caption("The models can be chosen once the service answers.")
        with st.container(key="facts_of_model"):  # as high before they are there
            card_place = st.empty()
        is_finished = finish(card_place, view)
        navigation.menu(view, page)
        st.button(
            "Reset", icon=":material/restart_alt:", key="reset", type="tertiary", on_click=_reset
        )
    return None if is_finished else card_place


def finish(place: DeltaGenerator, view: ViewState) -> bool:
    """Draw the model card in its place; a caption, and return False, without a loaded model."""
    is_loaded = runtime.is_loaded(view.model)
    if is_loaded:
        with place.container():
            _card(runtime.service().load(view.model))
            if (note := language_note(view)) is not None:
                st.caption(str(note))
    else:
        place.caption("Not loaded yet")
    return is_loaded


def language_note(view: ViewState) -> Claim | None:
    """Return a remark if the model was trained on English and sentences are plainly not English."""
    names = [
        letter(i)
        for i, sentence in enumerate(view.sentences)
        if is_foreign(f"{sentence.text} {sentence.pair or ''}")
    ]
    if view.model not in ENGLISH_MODELS or not names:
        return None
    return claim("frame.card.english", n=len(names), names=", ".join(names))


def _card(card: ModelCard) -> None:
    with st.container(gap=None):
        sizes = {"layers": card.n_layers, "dims": card.n_dims, "heads": card.n_heads}
        st.caption(say("frame.card.sizes", **sizes))
        origin = say(f"frame.origin.{card.source}", revision=(card.revision or "")[:7])
        icon, key = ":material/verified:", "model_card"
        details = st.popover(origin, type="tertiary", icon=icon, key=key, on_change="rerun")
        if kit.is_open(details):
            with details:
                _card_details(card)


def _card_details(card: ModelCard) -> None:
    of = "_language" if card.language else "_joined" if card.n_joined else ""
    facts = [
        say("frame.card.family", family=escape(card.family)),
        say("frame.card.location", location=escape(card.location)),
        say("frame.card.revision", revision=escape(card.revision or "none")),
        say(f"frame.card.checksum{of}", checksum=escape(card.checksum)),
        say("frame.card.parameters", n=card.n_parameters),
        *([say("frame.card.joined", n=card.n_joined)] if card.n_joined else []),
        say("frame.card.memory", megabytes=card.memory_bytes / 1e6),
        say(
            f"frame.card.{'converted' if card.was_converted else 'computed'}",
            dtypes=", ".join(card.stored_as),
        ),
        say("frame.card.device", device=escape(card.device)),
        say(f"frame.card.{'cased' if card.cased else 'uncased'}", n_pieces=card.vocabulary_size),
        say("frame.card.longest", n_tokens=card.max_length),
        *([say("frame.card.language", language=escape(card.language))] if card.language else []),
        escape(recipe_of(card)),
    ]
    st.markdown(f"**{escape(card.title)}**")
    st.markdown("  \n".join(facts))
    for note in runtime.notes(card):
        st.markdown(str(note))
    parts = card.provenance
    for name, part in (
        ("embedding_layer", parts.embedding_layer),
        ("encoder", parts.encoder),
        ("pooler", parts.pooler),
    ):
        title = say(f"frame.part.{name}")
        st.markdown(say(f"frame.part.{part.state}", part=title, reason=escape(part.reason)))


def _reset() -> None:
    requested_model.drop()
    session.write(session.default())
