"""The Map page: toolbar, the wait for a map, chart, panels beside it, files, a second map, tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.sense_names import SenseNames
from contextlens.analysis.words import POOLINGS
from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.errors import JobError, RequestError
from contextlens.core.schema import Passport
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import controls, finding, groups, methods, trust
from contextlens.features.map.chart import HEIGHT, notes_of, plays
from contextlens.features.map.display import (
    MapDisplay,
    linked_points,
    map_display,
    with_first_marks,
)
from contextlens.features.map.identity import name_of
from contextlens.features.map.in_common import InCommon, in_common
from contextlens.features.map.methods import layers_claims
from contextlens.features.map.point import picked_point, pinned_pair, sensed_word, short_name
from contextlens.features.map.request import (
    RequestedMap,
    by_chosen_words,
    corpus_of,
    max_points,
    request_of,
)
from contextlens.features.map.selection import PointSelection
from contextlens.features.map.table import (
    PICTURE,
    map_arrays,
    map_shapes,
    map_table,
    redraw_snippet,
)
from contextlens.features.map.vectors import vectors_snippet
from contextlens.features.map.widgets import (
    CHART,
    OTHER_CHART,
    SELECTION,
    card_list,
    check_webgl,
    draw_without_selection,
    group_fields,
    has_webgl,
    map_chart,
    map_names,
    mark,
    named,
    open_point,
    points_table,
    shown_names,
    stray_passages,
)
from contextlens.jobs import Job
from contextlens.maps.engine import first_request, last_layer, map_key
from contextlens.maps.plan import Plan
from contextlens.maps.points import Unit
from contextlens.maps.request import GIVEN, MapRequest, MapSettings, Method
from contextlens.maps.result import MapResult
from contextlens.maps.stability import Stability
from contextlens.ui.corpora import bar
from contextlens.ui.corpora.bar import texts_bar
from contextlens.ui.corpora.controls import FILE, LABEL, OWN_FILE, SENTENCES, VECTORS
from contextlens.ui.corpora.own_file import BEGIN
from contextlens.ui.corpora.texts import label_naming, texts_of, vector_titles
from contextlens.ui.models import runtime, second_model, waiting
from contextlens.ui.models.background import maps
from contextlens.ui.models.waiting import Latest, WaitingTexts
from contextlens.ui.page import errors
from contextlens.ui.state import session
from contextlens.ui.state.services import service
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.comparison import drawing
from contextlens.ui.widgets.layer_bar import AROUND_MAP, layer_bar
from contextlens.ui.widgets.passages import passages
from contextlens.ui.widgets.subject import subject_bar

PLACE, OTHER_PLACE = "map_progress", "map_other_progress"
"""The places where a visitor waits for the map, and for the one beside it."""
_FILE = "map"
_MAX_UNASKED_SECONDS = 300.0
"""The longest that the map of a chosen file may take to be drawn without a click."""

# --- Above the map: the mapped texts


def toolbar(view: ViewState, requested: RequestedMap) -> None:
    """The controls of the page."""
    if requested.request is not None and requested.request.source == SENTENCES:
        subject_bar(view, controls.PAGE)
    with texts_bar(view, controls.PAGE):
        columns = () if requested.corpus is None else tuple(requested.corpus.labels)
        inputs.select(view, requested.color, partial(_with_label, columns))
        if by_chosen_words(view):
            inputs.select(view, controls.word_of())
        with kit.menu(say("map.points"), icon="scatter_plot"):
            _texts(view, requested)
        with kit.menu(say("map.settings")):
            _settings(view, requested)


def _with_label(columns: Sequence[str], view: ViewState) -> ViewState:
    """The view with the column that colours the map as the label on the other pages, too."""
    title = controls.COLOR.asked(view) or ""
    return LABEL.put(view, label_naming(columns, title)) if title in columns else view


def _texts(view: ViewState, requested: RequestedMap) -> None:
    """The choice of the points: their kind, their words and their number."""
    if requested.request is not None and requested.request.pooling == GIVEN:
        st.caption(say("texts.given.sentences"))
        unit: Unit = "sentences"
    else:
        unit = cast("Unit", inputs.choice(view, controls.UNIT))
    if unit != "sentences" and not by_chosen_words(view):
        inputs.text(view, controls.only_of(unit))
    if unit == "words" and requested.corpus is not None and requested.corpus.spans is not None:
        inputs.switch(view, controls.EVERY_WORD)
    if unit == "tokens":
        inputs.switch(view, controls.SPECIAL)
    at_most = requested.at_most
    limits = {n: title for n, title in at_most.options.items() if int(n) <= max_points()}
    allowed = at_most.among(limits)
    inputs.menu(
        allowed.label,
        allowed.options,
        allowed.of(view),
        # The default depends on the texts, and a choice stays when these change.
        lambda n: session.write(replace(allowed, default="").put(session.current(), n)),
        key=allowed.key,
    )


def _settings(view: ViewState, requested: RequestedMap) -> None:
    """The settings for placing the points."""
    if requested.pooling is not None:
        inputs.select(view, requested.pooling)
    if requested.recipe:
        st.caption(escape(requested.recipe))
    left, right = st.columns(2, gap="small")
    with left:
        inputs.select(view, controls.METHOD)
        inputs.number(view, controls.NEIGHBORS)
        inputs.number(view, controls.SEED)
    with right:
        inputs.select(view, controls.METRIC)
        inputs.select(view, controls.MIN_DIST)
        inputs.choice(view, controls.DIMS)
    inputs.select(view, controls.beside_of(requested.request, _titles(view)))
    inputs.choice(view, controls.EFFORT)


# --- The map on screen


def normalised(requested: RequestedMap, card: ModelCard) -> RequestedMap:
    """The same map, not asked to be read exactly where that changes nothing."""
    request, corpus = requested.request, requested.corpus
    if request is None or corpus is None:
        return requested
    return replace(requested, request=maps().normalised(request, corpus, card))


def _drawn(
    request: MapRequest | None,
    corpus: Corpus | None,
    card: ModelCard,
    *,
    place: str,
    layer: int | None = None,
) -> Latest:
    """The requested map; until it is drawn, its progress or its cost, and the last map.

    Args:
        request: None if something must be chosen first.
        corpus: its texts.
        card: the model's card.
        place: one of the two places.
        layer: the layer to show of a map of all layers; None for the last one.
    """
    task, cost, seconds, parts = None, "", None, []
    if request is not None and corpus is not None:
        plan = maps().plan(request, corpus, card)
        task, cost, seconds = maps().task(request, corpus, card), _cost(plan), plan.seconds
        if request.layer is None and layer in {None, card.n_layers}:
            parts.append(map_key(last_layer(request, card)))
        if plan.first.size and (place == PLACE or request.layer is not None or parts):
            parts.append(map_key(first_request(request, card)))

    return waiting.latest_of(
        task,
        cost,
        place=place,
        height=HEIGHT + AROUND_MAP,
        texts=WaitingTexts(
            begin=say("map.waiting.draw"),
            picture=say("map.place"),
            stopped=say("map.waiting.was_stopped"),
            dropped=say("map.waiting.was_dropped"),
        ),
        seconds=seconds,
        parts=parts,
        on_stale=_say_stale,
    )


def _say_stale(is_under_way: bool) -> None:
    st.caption(say(f"map.waiting.{'drawing' if is_under_way else 'old'}"))


def _cost(plan: Plan) -> str:
    if not plan.n_tokens:
        return say(
            "map.waiting.cost_given",
            duration=duration(plan.seconds),
            megabytes=max(1, round(plan.n_bytes / 1e6)),
            n=plan.n_points,
        )
    return say(
        "map.waiting.cost",
        duration=duration(plan.seconds),
        megabytes=max(1, round(plan.n_bytes / 1e6)),
        n=plan.n_points,
        texts=plan.n_texts,
        tokens=plan.n_tokens,
    )


# --- One map, or two side by side


class SecondMap(NamedTuple):
    """The map on the right, and the card of its model."""

    display: MapDisplay
    card: ModelCard


_OWN_CHOICE_HEIGHT = 72
"""The height in pixels of the row above each of two maps, so that the maps align."""


def drawable(view: ViewState) -> ViewState:
    """The view of a map that this browser can draw: without WebGL it has two dimensions."""
    return view if has_webgl() else controls.DIMS.put(view, "2-D")


def first_map(view: ViewState, card: ModelCard, requested: RequestedMap) -> MapDisplay | None:
    """The page's map as shown, or None if there is none yet."""
    if requested.problem:
        st.error(escape(requested.problem), icon=":material/error:")
    bar.panel(view, controls.PAGE, requested.corpus)
    _begin_chosen_file(view, card, requested)
    latest = _drawn(
        requested.request,
        requested.corpus,
        card,
        place=PLACE,
        layer=view.layer,
    )
    if latest.result is not None:
        view = _with_first_marks(view, card, requested, latest.result)
    return _display(view, latest)


_MOVED = "map_moved_marks"
"""The session key for the name of the first map whose marks went on to the whole map."""


def _with_first_marks(
    view: ViewState, card: ModelCard, requested: RequestedMap, result: MapResult
) -> ViewState:
    """The view with its marks on the first map moved to the whole one; a selection moves too."""
    request, corpus = requested.request, requested.corpus
    if request is None or corpus is None or result.request.points_key != request.points_key:
        return view
    first = maps().result(first_request(request, card))
    if first is None:
        return view
    name = name_of(first)
    planned = maps().plan(request, corpus, card).first
    rows = np.flatnonzero(np.isin(result.points.sentence, planned))
    selection = session.kept(SELECTION)
    if selection is not None and selection.of == name:
        points = tuple(rows[[i for i in selection.points if i < len(rows)]].tolist())
        session.keep(SELECTION, PointSelection(name_of(result), CHART, "", points))
    if session.kept(_MOVED) != name:  # once, or it would undo Back
        session.keep(_MOVED, name)
        before = session.current()
        after = with_first_marks(before, first, result, rows)
        if after != before:
            session.write(after)
    return with_first_marks(view, first, result, rows)


def _begin_chosen_file(view: ViewState, card: ModelCard, requested: RequestedMap) -> None:
    """Begin the map of a file that was chosen here, which needs no click unless it takes long."""
    request, corpus = requested.request, requested.corpus
    is_chosen = session.kept(BEGIN) == FILE.of(view) != ""
    session.keep(BEGIN, None)
    if is_chosen and request is not None and corpus is not None:
        seconds = maps().plan(request, corpus, card).seconds
        if seconds <= _MAX_UNASKED_SECONDS:
            session.keep(f"{PLACE}_wanted", map_key(request))


def _display(
    view: ViewState, latest: Latest, *, order: tuple[str, ...] = (), layer: int | None = None
) -> MapDisplay | None:
    if latest.result is None:
        return None
    return map_display(
        view,
        latest.result,
        service=service(),
        selection=session.kept(SELECTION),
        is_stale=latest.is_stale,
        follow_rest=latest.follow_rest,
        order=order,
        layer=layer,
        has_webgl=has_webgl(),
    )


def one_or_two(
    view: ViewState, display: MapDisplay, card: ModelCard, requested: RequestedMap
) -> SecondMap | None:
    """The map with its claims and panel, or beside another one, which it returns, above both."""
    headline = st.container()
    if display.result.is_first:
        st.caption(_so_far(display))
    beside = controls.beside_of(requested.request, _titles(view)).of(view)
    if beside and requested.request is not None and requested.corpus is not None:
        second = _two(view, display, card, requested.request, requested.corpus)
        other = None if second is None else second.display
        common = None
        if other is not None and beside in {"model", "vectors"}:
            common = in_common(display.result, display.row, other.result, other.row)
        with headline:
            findings = _of_both(display, other)
            if common is None or not common.claims():
                kit.headline(*findings, key="reading")
            else:
                kit.headline(*common.claims())
                kit.claims(findings)  # the first of them goes with the saved picture, of the left
        if common is not None:
            _in_common(common)
        _claims(display)
        _notes(view, display)
        _layer_control(view, display, card)
        check_webgl(display)
        _panel(view, display, card)
        return second
    with headline:
        kit.headline(display.headline, key="reading")
    left, right = st.columns([7, 3], gap="medium")
    with left:
        map_chart(display)
        map_names(display)
        _layer_control(view, display, card)
        _notes(view, display)
        group_fields(display)
        check_webgl(display)
    with right, st.container(key="map_closer"):
        _panel(view, display, card)
        _claims(display)
    return None


def _titles(view: ViewState) -> tuple[str, ...]:
    """The titles of the vectors that the view's file brings."""
    return vector_titles(texts_of(view, OWN_FILE))


def _of_both(display: MapDisplay, other: MapDisplay | None) -> Sequence[object]:
    """The findings on both maps, where they differ."""
    if other is None or other.headline == display.headline:
        return (display.headline,)
    return (
        say("map.two.left", finding=display.headline),
        say("map.two.right", finding=other.headline),
    )


def _in_common(result: InCommon) -> None:
    """How many points were compared, and where their nearest neighbours differ most."""
    kit.notes(result.notes())
    with st.expander(say("map.in_common.title")):
        kit.table(result.rows(), key="map_in_common")
        st.markdown(result.formula)


def _two(
    view: ViewState, display: MapDisplay, card: ModelCard, request: MapRequest, corpus: Corpus
) -> SecondMap | None:
    """Draw both maps, the second with its own choice above it, and return the second."""
    selection = display.marked.selection
    left, right = st.columns(2, gap="medium")
    with right:
        second = _other(view, display, card, request, corpus)
        other = None if second is None else second.display
        if other is not None:
            linked = _linked(display, other, selection, CHART)
            map_chart(other, key=OTHER_CHART, linked=linked, half=True)
    with left:
        with st.container(height=_OWN_CHOICE_HEIGHT, border=False, vertical_alignment="bottom"):
            st.caption(escape(display.result.request.in_words(display.result.map.method)))
        linked = None if other is None else _linked(other, display, selection, OTHER_CHART)
        map_chart(display, linked=linked, half=True)
    return second


def _linked(
    one: MapDisplay, other: MapDisplay, selection: PointSelection | None, key: str
) -> tuple[int, ...] | None:
    """The other map's points that correspond to a selection on the chart with this key."""
    if selection is None or selection.key != key:
        return None
    return linked_points(one, other, selection.points)


def _other(
    view: ViewState, display: MapDisplay, card: ModelCard, first: MapRequest, corpus: Corpus
) -> SecondMap | None:
    """The second map, which differs from the first in one setting."""
    beside, layer = controls.BESIDE.of(view), None
    request: MapRequest | None
    with st.container(
        height="content" if beside == "model" else _OWN_CHOICE_HEIGHT,  # a model's may be higher
        border=False,
        key="map_other_choice",
    ):
        if beside == "layer":
            layer = inputs.number(view, controls.OTHER_LAYER.between(0, card.n_layers))
            request = first if first.layer is None else replace(first, layer=layer)
        elif beside == "model":
            card, request = _of_another_model(view, card, corpus)
        elif beside == "vectors":
            corpus, request = _of_other_vectors(view, corpus, first)
        else:
            request = replace(first, settings=_other_settings(view, first.settings))
    if request is None:
        return None
    latest = _drawn(request, corpus, card, place=OTHER_PLACE, layer=layer)
    other = _display(view, latest, order=display.finding.color.order, layer=layer)
    return None if other is None else SecondMap(other, card)


def _other_settings(view: ViewState, first: MapSettings) -> MapSettings:
    if controls.BESIDE.of(view) == "seed":
        return replace(first, seed=inputs.number(view, controls.OTHER_SEED))
    method = inputs.select(view, controls.other_method(first.method))
    return replace(first, method=cast("Method", method))


def _of_other_vectors(
    view: ViewState, corpus: Corpus, first: MapRequest
) -> tuple[Corpus, MapRequest | None]:
    """The texts by other vectors of their file, and the request for their map."""
    titles = [title for title in _titles(view) if corpus.own is None or title != corpus.own.title]
    if not titles:
        return corpus, None
    chosen = controls.OTHER_VECTORS.of(view)
    chosen = chosen if chosen in titles else titles[0]
    inputs.menu(
        VECTORS.label,
        {title: title for title in titles},
        chosen,
        lambda title: session.write(controls.OTHER_VECTORS.put(session.current(), title)),
        key="map_other_vectors",
    )
    position = label_naming(_titles(view), chosen)
    other = texts_of(VECTORS.put(view, position), OWN_FILE, takes_vectors=True)
    return (corpus, None) if other is None else (other, replace(first, corpus=other.key))


def _of_another_model(
    view: ViewState, card: ModelCard, corpus: Corpus
) -> tuple[ModelCard, MapRequest | None]:
    """The second map's model and its request; no request if the model cannot be used."""
    offered = (*runtime.service().models(), *runtime.own_models())
    is_given = corpus.own is not None  # beside the file's vectors, the loaded model is another one
    specs = {s.id: s for s in offered if is_given or s.id != view.model}
    if not specs:
        st.info(say("map.waiting.no_second_model"))
        return card, None
    titles = {i: s.title for i, s in specs.items()}
    chosen = inputs.select(view, controls.OTHER_MODEL.among(titles))
    other = second_model.model_card(specs[chosen])
    if other is None:
        return card, None
    try:
        view = controls.UNIT.put(view, "sentences") if is_given else view
        request = request_of(replace(view, model=chosen), other, corpus.key, len(corpus.texts))
        return other, maps().normalised(request, corpus, other)
    except RequestError as exc:
        st.info(escape(str(exc)))
        return card, None


# --- The chart, and what stands under it


def _layer_control(view: ViewState, display: MapDisplay, card: ModelCard) -> None:
    """The layer bar; on a map of one layer it requests another map, and does not play."""
    if display.result.request.pooling == GIVEN:
        st.caption(say("texts.given.no_layers"))
    elif display.layer < 0 and not display.result.is_first:
        st.caption(say("map.no_layers"))
    elif display.follow_rest is not None:
        display.follow_rest()
    elif not display.result.is_first:
        has_frames = plays(display.result)
        framed = [CHART, OTHER_CHART] if has_frames else ()
        layer_bar(view, range(card.n_layers + 1), framed=framed, plays=has_frames)


def _notes(view: ViewState, display: MapDisplay) -> None:
    st.caption(notes_of(display))
    bar.precision_note(view, display.result.passport)


def _claims(display: MapDisplay) -> None:
    """The test behind the finding, and how layers belong together, folded."""
    finding, drawn = display.finding, display.result.map
    sure = list(finding.sure)
    layers = layers_claims(drawn.moved, display.result.layers, drawn.method)
    if layers and display.points.n_points > 1 and not finding.every_layer:
        sure.append(" ".join(map(str, layers)))
    kit.claims([], sure=sure, key="reading_sure")


def _so_far(display: MapDisplay) -> str:
    """What is on a first map, and whether the other texts will join it."""
    result = display.result
    case = "first" if display.layer < 0 else "first_at"
    case = case if display.follow_rest is not None else "first_only"
    n, total = len(result.points.texts), result.n_able
    return say(f"map.waiting.{case}", n=n, total=total, layer=display.layer)


# --- The panels beside the map


def _panel(view: ViewState, display: MapDisplay, card: ModelCard) -> None:
    """Draw the chosen panel; a click or a selection on the map opens the panel for it."""
    yardsticks = _yardsticks(display, card)
    _PANELS[inputs.choice(view, controls.PANEL)](view, display, yardsticks)


Yardsticks = tuple[Band | None, Ruler | None, SenseNames | None]
"""Cosines of random pairs of words, pooled as on the map; for two pins, those of labelled pairs,
and the senses of the word that both are uses of."""


def _yardsticks(display: MapDisplay, card: ModelCard) -> Yardsticks:
    baseline = runtime.baseline(card)
    pooling = display.result.request.pooling
    if baseline is None or pooling not in POOLINGS:
        return None, None, None
    band = baseline.band(pooling, centred=False)
    pins = display.marked.pin_a, display.marked.pin_b
    ruler = None if None in pins else runtime.ruler(card, baseline)
    return band, ruler, runtime.sense_names(card, baseline, sensed_word(display, *pins))


def _point_panel(_: ViewState, display: MapDisplay, yardsticks: Yardsticks) -> None:
    """The selected point, if any, and the pinned ones."""
    of, point = name_of(display.result), display.point
    if point is None:
        st.caption(say("map.point_panel.empty"))
    else:
        picked = picked_point(display, point)
        st.markdown(picked.title)
        left, middle, right = st.columns(3, gap="small")
        left.button(
            say("map.point_panel.pin_a"),
            key="map_to_pin_a",
            width="stretch",
            on_click=mark,
            args=(of, {controls.PIN_A: point}, controls.POINT_PANEL),
        )
        middle.button(
            say("map.point_panel.pin_b"),
            key="map_to_pin_b",
            width="stretch",
            on_click=mark,
            args=(of, {controls.PIN_B: point}, controls.POINT_PANEL),
        )
        clear = say("map.point_panel.clear")
        right.button(clear, key="map_let_go", width="stretch", on_click=open_point, args=(of, None))
        kit.claims(picked.claims(), key="reading_point")
        st.caption(say("map.point_panel.full"))
        kit.table(picked.near_full, height=180, columns=_NEAR_COLUMNS, key="map_near_full")
        st.caption(say("map.point_panel.here"))
        kit.table(picked.near_here, height=180, columns=_NEAR_COLUMNS, key="map_near_here")
    a, b = display.marked.pin_a, display.marked.pin_b
    if a is not None and b is not None:
        pair = pinned_pair(display, a, b, *yardsticks)
        if pair.on_ruler is not None or pair.by_sense:
            names = {"a": short_name(display, a), "b": short_name(display, b)}
            st.caption(say("map.point_panel.pins", **names))
        kit.claims(pair.claims(), key="reading_pinned")
        if pair.on_ruler is not None:
            lowest = min(kind.low for kind in pair.on_ruler.ranges)
            drawing.ruler(pair.on_ruler, scale=(lowest, 1.0), key="map_ruler", height=160)
    elif a is not None or b is not None:
        one = short_name(display, a if a is not None else cast("int", b))
        st.caption(say("map.point_panel.one_pin", name=one))
    if (a, b) != (None, None):
        st.button(
            say("map.point_panel.unpin"),
            key="map_unpin",
            on_click=mark,
            args=(of, {controls.PIN_A: None, controls.PIN_B: None}, controls.POINT_PANEL),
        )


_NEAR_COLUMNS = {
    "": st.column_config.TextColumn(width=28),
    "on map": st.column_config.TextColumn(width=56),
    "cosine": st.column_config.NumberColumn(format="%.4f", width=64),
}


def _find_panel(view: ViewState, display: MapDisplay, _: Yardsticks) -> None:
    """Points near a typed text; else all points, or those found, of the selected ones if any."""
    inputs.text(view, controls.FIND)
    inputs.text(view, controls.NEAR)
    near, selection = display.near, display.marked.selection
    if near is not None and near.problem:
        st.info(near.problem)
    elif near is not None:
        kit.claims(near.claims(), key="reading_near")
        card_list(display, near.point_ids, cosines=near.cosines)
        return
    rows: Sequence[int] = range(display.points.n_points)
    if display.matches is not None:
        rows, n = display.matches, len(display.matches)
        case = "found" if n else "not_found"
        st.caption(say(f"map.selection_panel.{case}", n=n))
    elif selection is None:
        _strays(display)
        has_names = bool(shown_names(display))
        st.caption(say(f"map.selection_panel.{'names' if has_names else 'empty'}"))
    if selection is not None:
        matching = set(rows)
        rows = [row for row in selection.points if row in matching]
        if selection.name:
            st.markdown(named(display, selection))
        else:
            kit.claims(display.selected_in_words(), key="reading_selection")
    card_list(display, rows)
    if selection is not None:
        _selection_buttons(display, selection.points)


def _strays(display: MapDisplay) -> None:
    """The first points that the test of a word's senses sorts wrong."""
    strays = stray_passages(display)
    if strays:
        n = len(display.finding.strays[display.row])
        more = n - len(strays)
        title = say("senses.strays.title", n=n)
        passages(title, strays, more=say("senses.strays.more", n=more) if more else "")


def _table_panel(_: ViewState, display: MapDisplay, __: Yardsticks) -> None:
    """The points as rows, and what can be done with a selection of them."""
    points_table(display)
    if display.marked.selection is not None:
        _selection_buttons(display, display.marked.selection.points)


def _selection_buttons(display: MapDisplay, rows: tuple[int, ...]) -> None:
    left, right = st.columns(2, gap="small")
    left.download_button(
        say("map.selection_panel.download"),
        partial(_csv, _map_again(display), rows, display.result.passport),
        file_name="map-selection.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        key="map_selection_csv",
    )
    right.button(
        say("map.selection_panel.clear"),
        icon=":material/close:",
        width="stretch",
        key="map_clear",
        on_click=draw_without_selection,
    )


def _csv(again: Callable[[], MapDisplay], rows: tuple[int, ...], passport: Passport) -> bytes:
    return export.to_csv(again().points.rows(rows), passport)


_CHECK_PLACE = "map_stability"
"""The name under which a visitor waits for the maps of two more seeds."""
_CHECK_WANTED = f"{_CHECK_PLACE}_wanted"
_MEASURE_COLUMNS = {
    "0 to 1": st.column_config.ProgressColumn(
        format="%.4f", min_value=0.0, max_value=1.0, width=128
    ),
    "measure": st.column_config.TextColumn(width=112),
}


def _trust_panel(_: ViewState, display: MapDisplay, __: Yardsticks) -> None:
    """The trust that the map deserves, and the redrawing that shows if it is stable."""
    visitor = waiting.current_visitor(_CHECK_PLACE)
    name = (display.result.request.key, display.layer)  # small: the session keeps a button's args
    is_wanted = session.kept(_CHECK_WANTED) == name
    session.keep(_CHECK_WANTED, None)
    job = maps().find_check(display.result, display.layer)
    if is_wanted:
        job = maps().check(display.result, display.layer, visitor)
    state = None if job is None else job.poll(visitor).state
    stability = _stability(job) if job is not None and state in {"done", "failed"} else None
    result = trust.trust_of(
        display.quality,
        stability,
        n_points=display.points.n_points,
        n_equal=trust.count_equal(display.neighbors),
        found=display.neighbors.recall,
    )
    kit.claims(result.claims(), sure=result.sure(), key="reading_trust")
    if result.rows():
        kit.table(result.rows(), columns=_MEASURE_COLUMNS, key="map_honesty")
    if job is not None and state in {"waiting", "running"}:
        waiting.follow(maps().check(display.result, display.layer, visitor), _CHECK_PLACE)
    elif stability is None and display.quality is not None:
        st.button(
            say("map.trust_panel.check"),
            icon=":material/casino:",
            key="map_check",
            help=say("map.trust_panel.check_help"),
            on_click=session.keep,
            args=(_CHECK_WANTED, name),
        )


def _stability(job: Job) -> Stability | None:
    with errors.boundary(again=False):
        stability: Stability = job.result()
        return stability
    return None


_PANELS: Mapping[str, Callable[[ViewState, MapDisplay, Yardsticks], None]] = {
    controls.FIND_SELECT: _find_panel,
    controls.POINT_PANEL: _point_panel,
    controls.TABLE_PANEL: _table_panel,
    controls.TRUST: _trust_panel,
}


# --- Below the map: tabs, files

_REDRAW_SECONDS = 60.0
_FORMULA = "\n\n".join([methods.FORMULA, trust.FORMULA, finding.FORMULA, groups.FORMULA])


def explain(display: MapDisplay, card: ModelCard, other: SecondMap | None) -> None:
    """The tabs under the picture."""
    kit.tabs(
        lambda: _numbers(display),
        lambda: _under_the_hood(display, card, other),
        say("map.limits"),
    )


def downloads(
    display: MapDisplay, card: ModelCard, other: SecondMap | None, place: DeltaGenerator
) -> None:
    """The page's Download menu."""
    passport, again = display.result.passport, _map_again(display)
    view, source = session.current(), display.result.request.source
    by_words = by_chosen_words(view)
    texts = None if source == SENTENCES else display.result.corpus.name
    if texts and by_words:
        texts = f"{texts}: {controls.word_of().of(view)}"
    kit.downloads(
        place,
        export.caption(passport),
        page="map",
        texts=texts,
        unused=["word", "only"] if by_words else ["word"],
        chart=CHART,
        name=_FILE,
        snippets=[*_snippets(display, card), ("", PICTURE), *_other_snippets(display, card, other)],
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: map_table(again()).to_dict("records"),
            arrays=lambda: map_arrays(again()),
        ),
    )


def _numbers(display: MapDisplay) -> None:
    kit.table(map_table(display, controls.MAX_TABLE_ROWS), key="map_table")
    n = display.points.n_points
    if n > controls.MAX_TABLE_ROWS:
        st.caption(say("map.first_rows", shown=controls.MAX_TABLE_ROWS, n=n))


def _under_the_hood(display: MapDisplay, card: ModelCard, other: SecondMap | None) -> None:
    result = display.result
    beside = {} if other is None else {say("map.other_passport"): other.display.result.passport}
    one_layer = len(result.layers) == 1
    kit.under_the_hood(
        formula=[
            _FORMULA,
            f"{say(f'map.methods.{result.map.method}')} {say('map.methods.misread')}",
            *([] if one_layer else [say("map.methods.linked")]),
        ],
        snippet=[*_snippets(display, card), *_other_snippets(display, card, other)],
        passport=result.passport,
        beside=beside,
        shapes=kit.shapes(map_shapes(display), key="map_shapes"),
    )


def _snippets(display: MapDisplay, card: ModelCard) -> list[tuple[str, str]]:
    redraw = (say("map.redraw_snippet"), redraw_snippet(display.result, file=f"{_FILE}.npz"))
    if display.is_stale:  # the card is another model's than the map's
        return [redraw]
    is_given = display.result.request.pooling == GIVEN
    title = say(f"map.{'file' if is_given else 'vectors'}_snippet")
    return [(title, vectors_snippet(display, card)), redraw]


def _other_snippets(
    display: MapDisplay, card: ModelCard, other: SecondMap | None
) -> list[tuple[str, str]]:
    """The right map's script, if it has vectors of its own."""
    if other is None or other.display.is_stale or display.is_stale:
        return []
    script = vectors_snippet(*other)
    if script == vectors_snippet(display, card):
        return []
    is_given = other.display.result.request.pooling == GIVEN
    return [(say(f"map.other_{'file' if is_given else 'vectors'}_snippet"), script)]


def _map_again(display: MapDisplay) -> Callable[[], MapDisplay]:
    """Return a function that returns this map; it is small, and draws an evicted map again.

    It raises a ContextlensError if the map cannot be drawn again.
    """
    view, request = session.current(), display.result.request
    visitor = waiting.current_visitor("map_again")

    def again() -> MapDisplay:
        result = maps().result(request)
        if result is None:
            corpus = corpus_of(view)
            if corpus is None or corpus.key != request.corpus:
                raise JobError(say("map.waiting.again"))
            card = service().load(request.model or view.model)
            result = maps().draw(request, corpus, card, visitor).result(_REDRAW_SECONDS)
        return map_display(view, result)

    return again
