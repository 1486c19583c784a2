"""One map, or two side by side: what is drawn of both, and where each part of the page stands."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import streamlit as st

from components.analysis.baseline import Band
from components.analysis.ruler import Ruler
from components.analysis.words import POOLINGS
from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import RequestError
from components.corpus.corpus import Corpus
from components.features.map import controls
from components.features.map.compute.asked import Asked
from components.features.map.compute.shown import MapShown, linked_points, map_shown
from components.features.map.looks import panel
from components.features.map.marks import Selection
from components.features.map.page import chart, file_panel, kept_panel, tabs
from components.features.map.page.waiting import drawn
from components.features.map.request import request_of
from components.maps.request import MapRequest, with_layer
from components.maps.settings import MapSettings, Method
from components.ui.models import runtime, second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs

__all__ = ["first_map", "one_or_two"]

_OWN_CHOICE_HEIGHT = 72
"""Of what stands above each of two maps, so that they align."""


def first_map(view: ViewState, card: ModelCard, asked: Asked) -> MapShown | None:
    """The page's map as it is looked at, or None where there is none yet."""
    if asked.problem:
        st.error(escape(asked.problem), icon=":material/error:")
    if controls.SOURCE.of(view) == "file":
        file_panel.file_panel(view, asked.corpus)
    if controls.SOURCE.of(view) == "kept" and asked.corpus is None:
        kept_panel.kept_panel(view)
    picture, is_stale = drawn(asked.request, asked.corpus, card, slot="map", height=chart.HEIGHT)
    return None if picture is None else map_shown(view, picture, is_stale=is_stale)


def one_or_two(view: ViewState, shown: MapShown, card: ModelCard, asked: Asked) -> None:
    """The map with its reading and panel, or beside another one with both below."""
    if controls.BESIDE.of(view) and asked.request is not None and asked.corpus is not None:
        _two(view, shown, card, asked.request, asked.corpus)
        tabs.words(shown)
        tabs.notes(shown)
        chart.layer_control(view, shown, card)
        panel.panel(view, shown, *_yardsticks(shown, card))
        return
    left, right = st.columns([7, 3], gap="medium")
    with left:
        chart.map_chart(shown)
        chart.layer_control(view, shown, card)
        tabs.notes(shown)
    with right, st.container(key="map_closer"):
        tabs.words(shown)
        panel.panel(view, shown, *_yardsticks(shown, card))


def _yardsticks(shown: MapShown, card: ModelCard) -> tuple[Band | None, Ruler | None]:
    """Cosines of random pairs of words, pooled as on the map, and of labelled ones for two pins."""
    baseline = runtime.baseline(card)
    pooling = shown.picture.request.pooling
    if baseline is None or pooling not in POOLINGS:
        return None, None
    band = baseline.band(pooling, centred=False)
    has_two = None not in (shown.marked.pin_a, shown.marked.pin_b)
    return band, runtime.ruler(card, baseline) if has_two else None


def _two(
    view: ViewState, shown: MapShown, card: ModelCard, request: MapRequest, corpus: Corpus
) -> None:
    """Both maps, the other one with its own choice above it."""
    selection = shown.marked.selection
    left, right = st.columns(2, gap="medium")
    with right:
        other = _other(view, shown, card, request, corpus)
        if other is not None:
            linked = _linked(shown, other, selection, chart.CHART)
            chart.map_chart(other, key=chart.OTHER_CHART, linked=linked, half=True)
    with left:
        with st.container(height=_OWN_CHOICE_HEIGHT, border=False, vertical_alignment="bottom"):
            st.caption(escape(shown.picture.request.in_words()))
        linked = None if other is None else _linked(other, shown, selection, chart.OTHER_CHART)
        chart.map_chart(shown, linked=linked, half=True)


def _linked(
    one: MapShown, other: MapShown, selection: Selection | None, key: str
) -> tuple[int, ...] | None:
    """The other map's points that are selected on the one whose chart has a key."""
    if selection is None or selection.key != key:
        return None
    return linked_points(one, other, selection.points)


def _other(
    view: ViewState, shown: MapShown, card: ModelCard, own: MapRequest, corpus: Corpus
) -> MapShown | None:
    """The second map, which differs from the first in one thing."""
    beside, layer = controls.BESIDE.of(view), None
    request: MapRequest | None
    with st.container(
        height="content" if beside == "model" else _OWN_CHOICE_HEIGHT,  # a model may say more
        border=False,
    ):
        if beside == "layer":
            layer = inputs.number(view, controls.OTHER_LAYER.between(0, card.n_layers))
            request = own if own.layer is None else with_layer(own, layer)
        elif beside == "model":
            card, request = _of_another_model(view, card, corpus)
        else:
            request = replace(own, settings=_other_settings(view, own.settings))
    if request is None:
        return None
    picture, is_stale = drawn(request, corpus, card, slot="map_other", height=chart.HEIGHT)
    if picture is None:
        return None
    order = shown.finding.color.order
    return map_shown(view, picture, is_stale=is_stale, order=order, layer=layer)


def _other_settings(view: ViewState, own: MapSettings) -> MapSettings:
    if controls.BESIDE.of(view) == "seed":
        return replace(own, seed=inputs.number(view, controls.OTHER_SEED))
    method = inputs.select(view, controls.other_method(own.method))
    return replace(own, method=cast("Method", method))


def _of_another_model(
    view: ViewState, card: ModelCard, corpus: Corpus
) -> tuple[ModelCard, MapRequest | None]:
    """A model chosen here, with what it is asked for; no request where it cannot be used."""
    offered = (*runtime.service().models(), *runtime.own_models())
    specs = {s.id: s for s in offered if s.id != view.model}
    if not specs:
        st.info(say("map.waiting.no_second_model"))
        return card, None
    titles = {i: s.title for i, s in specs.items()}
    chosen = inputs.select(view, controls.OTHER_MODEL.among(titles))
    other = second.model_card(specs[chosen])
    if other is None:
        return card, None
    try:
        return other, request_of(replace(view, model=chosen), other, corpus.key)
    except RequestError as exc:
        st.info(escape(str(exc)))
        return card, None
