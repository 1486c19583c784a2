"""The parts of the Map page: toolbar, chart, files, a second map, tabs, and the wait for a map."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.words import POOLINGS
from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.errors import RequestError
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import controls, looks
from contextlens.features.map import marks as map_marks
from contextlens.features.map.compute import (
    MapDisplay,
    MapRecipe,
    RequestedMap,
    linked_points,
    map_arrays,
    map_display,
    map_shapes,
    map_table,
    vectors_snippet,
)
from contextlens.features.map.drawing import Order, draw_map, plays
from contextlens.features.map.explain import FORMULA
from contextlens.features.map.figures import MAX_SVG, MapMarks, above
from contextlens.features.map.finding import once
from contextlens.features.map.group_names import (
    MAX_NAME,
    MAX_TEXT,
    GroupName,
    pack,
    renamed,
    unpack,
)
from contextlens.features.map.layer_figures import (
    MAX_TRAILS,
    selected_points,
)
from contextlens.features.map.marks import PointSelection
from contextlens.features.map.reading import frame_claims
from contextlens.features.map.request import by_chosen_words, most_points, request_of
from contextlens.features.map.snippet import PICTURE, redraw_snippet
from contextlens.features.map.widgets import OWN_FILE, kept_panel
from contextlens.maps.plan import Plan
from contextlens.maps.points import Unit
from contextlens.maps.request import MapRequest, MapSettings, Method, changes
from contextlens.maps.result import MapResult
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.models import runtime, second_model, waiting
from contextlens.ui.models.background import maps
from contextlens.ui.models.waiting import Latest, WaitingTexts
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.component import component
from contextlens.ui.widgets.layer_bar import layer_bar

# --- The map as a chart with click and selection

CHART = "map_chart"
OTHER_CHART = f"{CHART}_other"
HEIGHT = 560
_PHONE_WIDTH = 342
_PHONE_HEIGHTS = 320, 440
_LEGEND_HEIGHT = 48
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    # Keep only pan, box and lasso selection, zoom, and reset.
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d"],
}


@dataclass(frozen=True, eq=False)
class MapChart:
    """A figure, the points of each of its traces, and its approximate memory."""

    figure: Figure
    order: Order
    nbytes: int


def map_chart(
    display: MapDisplay,
    *,
    key: str = CHART,
    linked: tuple[int, ...] | None = None,
    half: bool = False,
) -> None:
    """A map that supports clicks and selection.

    Args:
        display: the map.
        key: the key of its chart.
        linked: points that are selected in the other map.
        half: True if it takes half of the page.
    """
    drawing = _drawing(display, key)
    marks, room = display.marks(drawing, linked=linked), _room(display, half=half)
    trails = _trails(display) if plays(display.result) else []
    options = (tuple(sorted(values.items())) for values in (marks.labels, room))
    # Cached outside the session; rebuilt only if it would differ.
    chart = once(
        display.result,
        "drawing",
        *(drawing, marks.chosen, tuple(trails), *options),
        compute=lambda: _chart(display, marks, trails, room),
    )
    n, order = display.drawn.n_points, chart.order

    def read(points: Sequence[Mapping[str, Any]]) -> list[int]:
        return sorted({point % n for point in selected_points(points, order)})

    kit.chart(
        chart.figure,
        key=key,
        config=_CONFIG,
        on_select=map_marks.on_select(map_marks.name_of(display.result), key, drawing, read),
        selection_mode=("points", "box", "lasso"),
        alt=say("map.alt", title=display.title, n=n),
    )
    if n < display.points.n_points:
        st.caption(say("map.no_webgl.points", shown=n, n=display.points.n_points))
    if display.result.request.settings.n_components == 3:
        st.caption(say("map.in_3d"))


def _room(display: MapDisplay, *, half: bool) -> dict[str, Any]:
    """The `narrow` and `height` of a map; on a phone it is no higher than its frames need."""
    if "Mobi" not in str(st.context.headers.get("User-Agent", "")):
        return {"narrow": half, "height": HEIGHT}
    shapes = [
        (top - bottom) / (right - left) for (left, right), (bottom, top), *_ in display.frames
    ]
    top = above(subtitle=bool(display.sampled), narrow=True)
    least, most = _PHONE_HEIGHTS
    height = round(_PHONE_WIDTH * max(shapes)) + top + _LEGEND_HEIGHT
    return {"narrow": True, "height": min(max(height, least), most)}


def _chart(
    display: MapDisplay, marks: MapMarks, trails: list[int], room: dict[str, Any]
) -> MapChart:
    figure, order = draw_map(
        display.result,
        display.row,
        display.finding,
        n_drawn=display.most_drawn,
        marks=display.drawn_marks(marks),
        trails=trails,
        stale=display.is_stale,
        **room,
    )
    return MapChart(figure, order, len(figure.to_json()))


def _drawing(display: MapDisplay, key: str) -> str:
    """A name for everything that decides how the map looks, except the selection."""
    marked = display.marked
    parts = (
        *(key, display.finding.key, display.is_stale, display.wanted, display.near_to),
        display.most_drawn,
        *(marked.point, marked.pin_a, marked.pin_b),
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _trails(display: MapDisplay) -> list[int]:
    """The points with a trail: the chosen and pinned ones, and matches and selections if few."""
    marked = display.marked
    trails = [p for p in (marked.point, marked.pin_a, marked.pin_b) if p is not None]
    for more in (
        display.matches or (),
        () if marked.selection is None else marked.selection.points,
    ):
        if len(more) <= MAX_TRAILS:
            trails += more
    return list(dict.fromkeys(trails))[:MAX_TRAILS]


def layer_control(view: ViewState, display: MapDisplay, card: ModelCard) -> None:
    """The layer bar; on a map of one layer it requests another map, and does not play."""
    if display.layer < 0:
        st.caption(say("map.no_layers"))
        return
    if display.rest is not None:
        waiting.follow(display.rest, PLACE)
        return
    has_frames = plays(display.result)
    framed = [CHART, OTHER_CHART] if has_frames else ()
    layer_bar(view, range(card.n_layers + 1), framed=framed, plays=has_frames)


# --- A browser without WebGL

_NO_WEBGL = "map_no_webgl"


def drawable(view: ViewState) -> ViewState:
    """The view of a map that this browser can draw: without WebGL it has two dimensions."""
    return view if _has_webgl() else controls.DIMS.put(view, "2-D")


def _has_webgl() -> bool:
    return session.kept(_NO_WEBGL) is None


def webgl_check(view: ViewState, display: MapDisplay) -> None:
    """Ask the browser for WebGL if the map needs it; say so if it has none."""
    in_space = controls.DIMS.of(view) == "3-D"
    if not _has_webgl():
        if in_space:
            st.caption(say("map.no_webgl.flat"))
        return
    n_drawn = display.points.n_points * (len(display.frames) if display.finding.every_layer else 1)
    if in_space or n_drawn > MAX_SVG:
        component(
            "contextlens.features.map",
            "webgl",
            {},
            key="map_webgl",
            on_pick=lambda answer: session.keep(_NO_WEBGL, answer),
        )


# --- The reading below a map

_FILE = "map"
_MOST_ROWS = 5_000


def words(display: MapDisplay) -> None:
    """What is behind the title's claim, and how layers belong together, folded."""
    finding, drawn = display.finding, display.result.map
    sure = [" ".join(finding.reading), *finding.sure]
    frame = frame_claims(drawn.moved, display.result.layers, drawn.method)
    if frame and display.points.n_points > 1 and not finding.every_layer:
        sure.append(" ".join(map(str, frame)))
    kit.reading([], sure=sure)


def notes(display: MapDisplay) -> None:
    """A caption on the mapped points and those left out."""
    points, corpus, gathered = display.points, display.result.corpus, display.result.gathered
    parts = [say(f"map.notes.{points.unit}", corpus=escape(corpus.name), n=points.n_points)]
    if display.sampled:
        parts.append(display.sampled)
    if display.result.map.reason:
        parts.append(escape(display.result.map.reason))
    if gathered.n_cut:
        settings = {} if gathered.passport is None else gathered.passport.settings
        limit = settings.get("max_length")
        key = "cut" if limit is None else "cut_at"
        parts.append(say(f"map.notes.{key}", n=gathered.n_cut, limit=limit))
    if points.n_points > 1:
        parts.append(say("map.notes.near"))
    if display.matches is not None:
        parts.append(say("map.notes.found", n=len(display.matches)))
    st.caption(" · ".join([*parts, *(escape(note) for note in corpus.notes)]))


_MOST_NAMED = 12  # groups, as many as have names on the map


def group_fields(display: MapDisplay) -> None:
    """A field for each group's name."""
    labels = display.finding.group_labels[:_MOST_NAMED]
    if not labels or display.is_stale:
        return
    with st.popover(say("map.group_names.open"), type="tertiary", icon=":material/label:"):
        st.caption(say("map.group_names.about"))
        for label in labels:
            number, before = label.cluster + 1, display.finding.own_names.get(label.cluster)
            name = "" if before is None else before.name
            point = int(np.flatnonzero(display.finding.groups == label.cluster)[0])
            key = session.bind(f"map_group_{number}", name)
            st.text_input(
                say("map.group_names.field", number=number, n=label.n_points),
                name,
                max_chars=MAX_NAME,
                placeholder=label.text or None,
                key=key,
                on_change=_name_group,
                args=(key, map_marks.name_of(display.result), before, display.layer, point),
            )


def _name_group(key: str, of: str, before: GroupName | None, layer: int, point: int) -> None:
    if not session.is_shown(key):
        return
    view, control = session.current(), controls.GROUP_NAMES
    name = str(session.value(key) or "")
    packed = pack(of, renamed(unpack(of, control.of(view)), before, layer, point, name))
    if len(packed) > MAX_TEXT:
        session.remember(say("map.group_names.full"))
        return
    session.write(control.put(view, packed))


def explain(display: MapDisplay, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(display), lambda: _under_the_hood(display, card), say("map.limits"))


def downloads(display: MapDisplay, card: ModelCard, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, recipe = display.result.passport, MapRecipe.of(display)
    view, source = session.current(), display.result.request.source
    by_words = by_chosen_words(view)
    texts = None if source == "sentences" else controls.SOURCE.options[source]
    if texts and by_words:
        texts = f"{texts}: {controls.word_of().of(view)}"
    with kit.downloads(
        place,
        export.caption(passport),
        page="map",
        texts=texts,
        unused=["only"] if by_words else ["word"],
        chart=CHART,
        name=_FILE,
        snippets=[*_snippets(display, card), ("", PICTURE)],
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: map_table(recipe.display()).to_dict("records"),
            arrays=lambda: map_arrays(recipe.display()),
        )


def _numbers(display: MapDisplay) -> None:
    kit.table(map_table(display, _MOST_ROWS), key="map_table")
    n = display.points.n_points
    if n > _MOST_ROWS:
        st.caption(say("map.first_rows", shown=_MOST_ROWS, n=n))


def _under_the_hood(display: MapDisplay, card: ModelCard) -> None:
    result = display.result
    one_layer = len(result.layers) == 1
    kit.under_the_hood(
        formula=[
            FORMULA,
            f"{say(f'map.methods.{result.map.method}')} {say('map.methods.misread')}",
            *([] if one_layer else [say("map.methods.linked")]),
        ],
        snippet=_snippets(display, card),
        passport=result.passport,
        shapes=kit.shapes(map_shapes(display), key="map_shapes"),
    )


def _snippets(display: MapDisplay, card: ModelCard) -> list[tuple[str, str]]:
    return [
        (say("map.vectors_snippet"), vectors_snippet(display, card)),
        (say("map.redraw_snippet"), redraw_snippet(display.result, file=f"{_FILE}.npz")),
    ]


# --- Above the map: the mapped texts


def toolbar(view: ViewState, requested: RequestedMap) -> None:
    """The controls of the page."""
    with kit.controls("map"):
        inputs.select(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "kept":
            inputs.select(view, controls.kept_among(titles(view, controls.KEPT.asked(view) or "")))
        if by_chosen_words(view):
            inputs.select(view, controls.word_of())
        inputs.select(view, requested.color)
        with st.popover("Texts", type="tertiary"):
            _texts(view, requested)
        with st.popover("Settings", type="tertiary"):
            _settings(view, requested)


def _texts(view: ViewState, requested: RequestedMap) -> None:
    """The choice of texts and of their words."""
    source, unit = controls.SOURCE.of(view), cast("Unit", inputs.choice(view, controls.UNIT))
    if source == "sentences":
        sentences.sentence_editor(view, "sentences", where=controls.PAGE, least=1)
    if source == "file":
        OWN_FILE.column_choice(view)
    if unit != "sentences" and not by_chosen_words(view):
        inputs.text(view, controls.only_of(unit))
    if unit == "words" and requested.corpus is not None and requested.corpus.spans is not None:
        inputs.switch(view, controls.EVERY_WORD)
    if unit == "tokens":
        inputs.switch(view, controls.SPECIAL)
    inputs.select(view, controls.AT_MOST.among(_point_numbers()))


def _point_numbers() -> dict[str, str]:
    """The available maximum numbers of points, with their titles."""
    every = controls.AT_MOST.options
    return {n: title for n, title in every.items() if int(n) <= most_points()}


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
    inputs.select(view, controls.BESIDE)
    inputs.choice(view, controls.EFFORT)


# --- The map on screen

PLACE, OTHER_PLACE = "map_progress", "map_other_progress"
"""The places where a visitor waits for the map, and for the one beside it."""


def _drawn(
    request: MapRequest | None,
    corpus: Corpus | None,
    card: ModelCard,
    *,
    place: str,
    shows_last_layer: bool = False,
) -> Latest:
    """The requested map; until it is drawn, its progress or its cost, and the last map.

    Args:
        request: None if something must be chosen first.
        corpus: its texts.
        card: the model's card.
        place: one of the two places.
        shows_last_layer: True if a map of all layers shows the last one until the others are there.
    """
    task, cost, seconds = None, "", None
    if request is not None and corpus is not None:
        plan = maps().plan(request, corpus, card)
        task, cost, seconds = maps().task(request, corpus, card), _cost(plan), plan.seconds

    def on_stale(last: MapResult) -> None:
        changed = () if request is None else changes(last.request, request)
        case = "changed" if changed else "changed_something"
        why = say(f"map.waiting.{'not_mapped' if task is None else case}", what=", ".join(changed))
        corpus, settings = last.corpus.name, last.request.in_words(last.map.method)
        stale = say("map.waiting.stale", corpus=escape(corpus), settings=escape(settings))
        st.warning(f"{stale} {why}", icon=":material/history:")

    return waiting.latest_of(
        task,
        cost,
        place=place,
        height=HEIGHT,
        texts=WaitingTexts(
            begin=say("map.waiting.draw"),
            picture=say("map.place"),
            stopped=say("map.waiting.was_stopped"),
            dropped=say("map.waiting.was_dropped"),
        ),
        seconds=seconds,
        shows_first=shows_last_layer and request is not None and request.layer is None,
        on_stale=on_stale,
    )


def _cost(plan: Plan) -> str:
    return say(
        "map.waiting.cost",
        duration=duration(plan.seconds),
        megabytes=max(1, round(plan.n_bytes / 1e6)),
        n=plan.n_points,
        texts=plan.n_texts,
        tokens=plan.n_tokens,
    )


# --- One map, or two side by side

_OWN_CHOICE_HEIGHT = 72
"""The height in pixels of the row above each of two maps, so that the maps align."""


def first_map(view: ViewState, card: ModelCard, requested: RequestedMap) -> MapDisplay | None:
    """The page's map as shown, or None if there is none yet."""
    if requested.problem:
        st.error(escape(requested.problem), icon=":material/error:")
    if controls.SOURCE.of(view) == "file":
        OWN_FILE.panel(view, requested.corpus)
    if controls.SOURCE.of(view) == "kept" and requested.corpus is None:
        kept_panel(view)
    latest = _drawn(
        requested.request,
        requested.corpus,
        card,
        place=PLACE,
        shows_last_layer=view.layer in {None, card.n_layers},
    )
    return _display(view, latest)


def _display(
    view: ViewState, latest: Latest, *, order: tuple[str, ...] = (), layer: int | None = None
) -> MapDisplay | None:
    if latest.result is None:
        return None
    return map_display(
        view,
        latest.result,
        is_stale=latest.is_stale,
        rest=latest.rest,
        order=order,
        layer=layer,
        has_webgl=_has_webgl(),
    )


def one_or_two(
    view: ViewState, display: MapDisplay, card: ModelCard, requested: RequestedMap
) -> None:
    """The map with its reading and panel, or beside another one with both below."""
    if controls.BESIDE.of(view) and requested.request is not None and requested.corpus is not None:
        _two(view, display, card, requested.request, requested.corpus)
        words(display)
        notes(display)
        layer_control(view, display, card)
        webgl_check(session.current(), display)
        looks.panel(view, display, *_yardsticks(display, card), chart=CHART)
        return
    left, right = st.columns([2, 1], gap="medium")
    with left:
        map_chart(display)
        layer_control(view, display, card)
        notes(display)
        group_fields(display)
        webgl_check(session.current(), display)
    with right, st.container(key="map_closer"):
        words(display)
        looks.panel(view, display, *_yardsticks(display, card), chart=CHART)


def _yardsticks(display: MapDisplay, card: ModelCard) -> tuple[Band | None, Ruler | None]:
    """Cosines of random pairs of words, pooled as on the map, and of labelled ones for two pins."""
    baseline = runtime.baseline(card)
    pooling = display.result.request.pooling
    if baseline is None or pooling not in POOLINGS:
        return None, None
    band = baseline.band(pooling, centred=False)
    has_two = None not in (display.marked.pin_a, display.marked.pin_b)
    return band, runtime.ruler(card, baseline) if has_two else None


def _two(
    view: ViewState, display: MapDisplay, card: ModelCard, request: MapRequest, corpus: Corpus
) -> None:
    """Both maps, the second with its own choice above it."""
    selection = display.marked.selection
    left, right = st.columns(2, gap="medium")
    with right:
        other = _other(view, display, card, request, corpus)
        if other is not None:
            linked = _linked(display, other, selection, CHART)
            map_chart(other, key=OTHER_CHART, linked=linked, half=True)
    with left:
        with st.container(height=_OWN_CHOICE_HEIGHT, border=False, vertical_alignment="bottom"):
            st.caption(escape(display.result.request.in_words(display.result.map.method)))
        linked = None if other is None else _linked(other, display, selection, OTHER_CHART)
        map_chart(display, linked=linked, half=True)


def _linked(
    one: MapDisplay, other: MapDisplay, selection: PointSelection | None, key: str
) -> tuple[int, ...] | None:
    """The other map's points that correspond to a selection on the chart with this key."""
    if selection is None or selection.key != key:
        return None
    return linked_points(one, other, selection.points)


def _other(
    view: ViewState, display: MapDisplay, card: ModelCard, first: MapRequest, corpus: Corpus
) -> MapDisplay | None:
    """The second map, which differs from the first in one setting."""
    beside, layer = controls.BESIDE.of(view), None
    request: MapRequest | None
    with st.container(
        height="content" if beside == "model" else _OWN_CHOICE_HEIGHT,  # a model's menu is higher
        border=False,
    ):
        if beside == "layer":
            layer = inputs.number(view, controls.OTHER_LAYER.between(0, card.n_layers))
            request = first if first.layer is None else replace(first, layer=layer)
        elif beside == "model":
            card, request = _of_another_model(view, card, corpus)
        else:
            request = replace(first, settings=_other_settings(view, first.settings))
    if request is None:
        return None
    latest = _drawn(request, corpus, card, place=OTHER_PLACE)
    return _display(view, latest, order=display.finding.color.order, layer=layer)


def _other_settings(view: ViewState, first: MapSettings) -> MapSettings:
    if controls.BESIDE.of(view) == "seed":
        return replace(first, seed=inputs.number(view, controls.OTHER_SEED))
    method = inputs.select(view, controls.other_method(first.method))
    return replace(first, method=cast("Method", method))


def _of_another_model(
    view: ViewState, card: ModelCard, corpus: Corpus
) -> tuple[ModelCard, MapRequest | None]:
    """The second map's model and its request; no request if the model cannot be used."""
    offered = (*runtime.service().models(), *runtime.own_models())
    specs = {s.id: s for s in offered if s.id != view.model}
    if not specs:
        st.info(say("map.waiting.no_second_model"))
        return card, None
    titles = {i: s.title for i, s in specs.items()}
    chosen = inputs.select(view, controls.OTHER_MODEL.among(titles))
    other = second_model.model_card(specs[chosen])
    if other is None:
        return card, None
    try:
        return other, request_of(replace(view, model=chosen), other, corpus.key)
    except RequestError as exc:
        st.info(escape(str(exc)))
        return card, None
