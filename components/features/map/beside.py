"""One map, or two side by side: what each asks for, and what is drawn of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import CorpusError, RequestError
from components.corpus.corpus import Corpus
from components.features.map import corpora, page, panel, tabs, toolbar
from components.features.map.compute import MapShown, color_names, shown, usual_color
from components.features.map.request import PAGE, MapRequest, request_of, with_layer
from components.features.map.waiting import drawn
from components.maps.settings import METHODS, MapSettings, method_name
from components.ui.models import runtime, second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs

__all__ = ["Asked", "asked", "main", "show"]


@dataclass(frozen=True)
class Asked:
    """What the page is asked to map; without a corpus a file is to be chosen first."""

    chosen: corpora.Chosen
    request: MapRequest | None
    colors: tuple[str, ...]
    usual: str
    problem: str = ""  # why its texts cannot be used

    @property
    def corpus(self) -> Corpus | None:
        """The texts."""
        return self.chosen.corpus


def asked(view: ViewState, card: ModelCard) -> Asked:
    """What a view asks for; a problem, and no corpus, where its texts cannot be used."""
    problem = ""
    try:
        chosen = corpora.chosen(view)
    except CorpusError as exc:
        source = str(view.control(PAGE, "source", "ambiguous"))
        chosen, problem = corpora.Chosen(source, None), str(exc)
    corpus = chosen.corpus
    digest = "" if corpus is None else corpus.digest
    request = request_of(view, card, digest, chosen.source)
    return Asked(
        chosen=chosen,
        request=None if corpus is None else request,
        colors=tuple(color_names(request.unit, corpus)),
        usual=usual_color(request.unit, corpus, request.only),
        problem=problem,
    )


def main(view: ViewState, card: ModelCard, what: Asked) -> MapShown | None:
    """The page's map as it is looked at, or None where there is none yet."""
    if what.problem:
        st.error(escape(what.problem), icon=":material/error:")
    if what.chosen.source == "file":
        toolbar.file_panel(view, what.chosen)
    found = drawn(what.request, what.corpus, card, slot="map", height=page.HEIGHT)
    return None if found is None else shown(view, found)


def show(view: ViewState, what: MapShown, card: ModelCard, asked: Asked) -> None:
    """The map with its panel, or beside another one with the panel below."""
    baseline = runtime.baseline(card)
    pooling = what.picture.request.pooling
    band = None
    if baseline is not None and pooling in {"mean", "first", "last"}:
        band = baseline.band(pooling, centred=False)  # type: ignore[arg-type]
    beside = str(view.control(PAGE, "beside", ""))
    if beside in toolbar.BESIDE and beside and asked.request is not None:
        _both(view, what, card, asked, beside)
        tabs.words(what)
        tabs.notes(what)
        page.layer_control(view, what, card)
        panel.panel(view, what, band)
    else:
        left, right = st.columns([7, 3], gap="medium")
        with left:
            page.picture(what)
            tabs.words(what)
            page.layer_control(view, what, card)
            tabs.notes(what)
        with right, st.container(height=page.PANEL_HEIGHT, border=False, key="map_panel"):
            panel.panel(view, what, band)


def _both(view: ViewState, what: MapShown, card: ModelCard, asked: Asked, beside: str) -> None:
    """Both maps, the other one with its own choice above it."""
    left, right = st.columns(2, gap="medium")
    with right:
        other = _other(view, what, card, asked, beside)
        selection = what.marked.selection
        if other is not None:
            linked = None
            if selection is not None and selection.key == page.CHART:
                linked = _linked(what, other, selection.points)
            page.picture(other, key=f"{page.CHART}_other", linked=linked, half=True)
    with left:
        with st.container(height=72, border=False, vertical_alignment="bottom"):
            st.caption(escape(what.picture.request.in_words()))
        linked = None
        if selection is not None and other is not None and selection.key != page.CHART:
            linked = _linked(other, what, selection.points)
        page.picture(what, linked=linked, half=True)


def _linked(what: MapShown, other: MapShown, points: tuple[int, ...]) -> tuple[int, ...]:
    """The other map's points that stand for the same words of the same texts."""
    spots = what.picture.spots
    own = {spots[i] for i in points if i < len(spots)}
    return tuple(i for i, spot in enumerate(other.picture.spots) if spot in own)


def _other(
    view: ViewState, what: MapShown, card: ModelCard, asked: Asked, beside: str
) -> MapShown | None:
    """The second map, which differs from the first in one thing."""
    if asked.request is None or asked.corpus is None:
        return None
    own, layer = asked.request, None
    request: MapRequest | None
    # As high as on the left, so that the maps align; a model may have more to say.
    with st.container(height="content" if beside == "model" else 72, border=False):
        if beside == "layer":
            layer = inputs.number(
                view, PAGE, "other_layer", "Its layer", between=(0, card.n_layers), default=1
            )
            request = own if own.layer is None else with_layer(own, layer)
        elif beside == "model":
            card, request = _of_another_model(view, card, asked.corpus, own.source)
        else:
            request = replace(own, settings=_other_settings(view, own.settings, beside))
    if request is None:
        return None
    found = drawn(request, asked.corpus, card, slot="map_other", height=page.HEIGHT)
    return None if found is None else shown(view, found, order=what.color.order, layer=layer)


def _other_settings(view: ViewState, own: MapSettings, beside: str) -> MapSettings:
    if beside == "seed":
        seed = inputs.number(
            view, PAGE, "other_seed", "Its seed", between=(0, 2**31 - 1), default=1
        )
        return replace(own, seed=seed)
    options: dict[str, str] = {m: method_name(m) for m in METHODS if m != own.method}
    method = inputs.select(view, PAGE, "other_method", options, "Its method")
    return replace(own, method=method)  # type: ignore[arg-type]


def _of_another_model(
    view: ViewState, card: ModelCard, corpus: Corpus, source: str
) -> tuple[ModelCard, MapRequest | None]:
    """A model chosen here, with what it is asked for; no request where it cannot be used."""
    specs = {s.id: s for s in runtime.service().models() if s.id != view.model}
    if not specs:
        st.info("There is no second model here. Choose one on the left first.")
        return card, None
    titles = {i: s.title for i, s in specs.items()}
    chosen = inputs.select(view, PAGE, "other_model", titles, "Its model")
    other = second.model_card(specs[chosen])
    if other is None:
        return card, None
    try:
        return other, request_of(replace(view, model=chosen), other, corpus.digest, source)
    except RequestError as exc:
        st.info(escape(str(exc)))
        return card, None
