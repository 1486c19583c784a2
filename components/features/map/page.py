"""The parts of the Map page: toolbar, chart, files, a second map, tabs, and the wait for a map."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from components.analysis.baseline import Band
from components.analysis.ruler import Ruler
from components.analysis.words import POOLINGS
from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import BusyError, CorpusError, RequestError
from components.core.schema import IntArray
from components.corpus.corpus import Corpus
from components.corpus.readers import Sheet
from components.features.map import controls, corpora, looks
from components.features.map import marks as map_marks
from components.features.map.compute import (
    LAYER,
    Again,
    Asked,
    MapShown,
    drawing_snippet,
    linked_points,
    map_arrays,
    map_shapes,
    map_shown,
    map_table,
    once,
    vectors_snippet,
)
from components.features.map.controls import FILE, FILE_NAME, LABELS, SOURCE, TEXT, UNIT
from components.features.map.explain import FORMULA
from components.features.map.figures import Marks, above, coloring
from components.features.map.layer_figures import (
    MAX_PLAYED_POINTS,
    MAX_TRAILS,
    layers_scatter,
    map_order,
    map_scatter,
    selected_points,
)
from components.features.map.marks import Selection
from components.features.map.reading import frame_claims
from components.features.map.request import by_chosen_words, most_points, request_of
from components.jobs import Job
from components.maps.engine import LARGE_SECONDS
from components.maps.picture import Picture
from components.maps.plan import Plan
from components.maps.points import Unit
from components.maps.request import MapRequest, MapSettings, Method, changes, with_layer
from components.ui.corpora.catalogue import titles
from components.ui.files import chooser
from components.ui.files.uploads import sheet_of
from components.ui.frame import navigation
from components.ui.models import runtime, second_model, waiting
from components.ui.models.background import maps
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit, sentences
from components.ui.widgets.layer_bar import layer_bar

__all__ = ["HEIGHT", "downloads", "explain", "first_map", "one_or_two", "toolbar"]


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
Order = tuple[IntArray, ...]
"""The points of each trace of a figure."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure, the points of each of its traces, and its approximate memory."""

    figure: Figure
    order: Order
    nbytes: int


def map_chart(
    shown: MapShown,
    *,
    key: str = CHART,
    linked: tuple[int, ...] | None = None,
    half: bool = False,
) -> None:
    """A map that supports clicks and selection.

    Args:
        shown: the map.
        key: the key of its chart.
        linked: points that are selected in the other map.
        half: True if it takes half of the page.
    """
    drawing = _drawing(shown, key)
    drawn = _drawn(drawing, shown, shown.marks(drawing, linked=linked), _room(shown, half=half))
    n, order = shown.points.n_points, drawn.order

    def read(points: Sequence[Mapping[str, Any]]) -> list[int]:
        return sorted({point % n for point in selected_points(points, order)})

    kit.chart(
        drawn.figure,
        key=key,
        config=_CONFIG,
        on_select=map_marks.on_select(map_marks.name_of(shown.picture), key, drawing, read),
        selection_mode=("points", "box", "lasso"),
        alt=say("map.alt", title=shown.title, n=n),
    )
    if shown.picture.request.settings.n_components == 3:
        st.caption(say("map.in_3d"))


def _room(shown: MapShown, *, half: bool) -> dict[str, Any]:
    """The fit of a map to the page; on a phone it is no higher than its frames."""
    if "Mobi" not in str(st.context.headers.get("User-Agent", "")):
        return {"narrow": half, "height": HEIGHT}
    shapes = [(top - bottom) / (right - left) for (left, right), (bottom, top), *_ in shown.frames]
    top = above(subtitle=bool(shown.sampled), narrow=True)
    least, most = _PHONE_HEIGHTS
    height = round(_PHONE_WIDTH * max(shapes)) + top + _LEGEND_HEIGHT
    return {"narrow": True, "height": min(max(height, least), most)}


def _drawn(drawing: str, shown: MapShown, marks: Marks, room: dict[str, Any]) -> Drawn:
    """The drawing, rebuilt only if it would differ; no session keeps it."""
    trails = _trails(shown) if _plays(shown) else []

    def draw() -> Drawn:
        figure, order = _figure(shown, marks, trails, room)
        return Drawn(figure, order, len(figure.to_json()))

    labels, own_room = (tuple(sorted(own.items())) for own in (marks.labels, room))
    given = (drawing, marks.chosen, labels, tuple(trails), own_room)
    return once(shown.picture, "drawing", *given, compute=draw)


def _figure(
    shown: MapShown, marks: Marks, trails: list[int], room: dict[str, Any]
) -> tuple[Figure, Order]:
    points, found = shown.points, shown.finding
    parts = ("" if room["narrow"] or found.every_layer else found.course, shown.sampled)
    subtitle = " · ".join(filter(None, parts))
    look = {"color": found.color, "stale": shown.is_stale, "subtitle": subtitle, **room}
    if found.every_layer:
        return _every_layer(shown, marks, look)
    look |= {"clusters": found.group_labels, "marks": marks}
    if _plays(shown):
        layers, places = shown.picture.layers, shown.picture.coordinates
        own: dict[str, Any] = {"layer": shown.layer, "trails": trails, "titles": found.titles}
        figure = layers_scatter(points, places, layers, **own, **look)
    else:
        figure = map_scatter(
            points, shown.places, title=shown.title, frame=shown.frames[shown.row], **look
        )
    return figure, map_order(found.color, points.n_points)


def _every_layer(shown: MapShown, marks: Marks, look: Mapping[str, Any]) -> tuple[Figure, Order]:
    """A figure with the points of all layers at once, and the points of each trace."""
    layers, n = shown.picture.layers, shown.points.n_points
    rows = np.tile(np.arange(n), len(layers))
    points = shown.points.take(rows)
    each = np.repeat(np.array(layers, dtype=np.float32), n)
    color = coloring(points, LAYER, extra={LAYER: each})
    chosen = None if marks.chosen is None else _at_all(marks.chosen, n, len(layers))
    rings = {title: _at_all(own, n, len(layers)) for title, own in marks.rings.items()}
    figure = map_scatter(
        points,
        shown.picture.coordinates.reshape(len(rows), -1),
        marks=Marks(chosen=chosen, rings=rings),
        title=say("map.every_layer", first=layers[0], last=layers[-1]),
        **{**look, "color": color},
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)


def _drawing(shown: MapShown, key: str) -> str:
    """A name for everything that decides how the map looks, except the selection."""
    marked = shown.marked
    parts = (
        *(key, shown.finding.key, shown.is_stale, shown.wanted, shown.near_to),
        *(marked.point, marked.pin_a, marked.pin_b),
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _plays(shown: MapShown) -> bool:
    layers, n, dims = shown.picture.coordinates.shape
    return bool(layers > 1 and dims == 2 and layers * n <= MAX_PLAYED_POINTS)


def _trails(shown: MapShown) -> list[int]:
    """The points whose path through the layers is drawn: the chosen, pinned and selected ones."""
    marked = shown.marked
    own = [p for p in (marked.point, marked.pin_a, marked.pin_b) if p is not None]
    for more in (shown.found or (), () if marked.selection is None else marked.selection.points):
        if len(more) <= MAX_TRAILS:
            own += more
    return list(dict.fromkeys(own))[:MAX_TRAILS]


def layer_control(view: ViewState, shown: MapShown, card: ModelCard) -> None:
    """The layer bar; on a map of one layer it requests another map, and does not play."""
    if shown.layer < 0:
        st.caption(say("map.no_layers"))
        return
    plays = _plays(shown)
    framed = [CHART, OTHER_CHART] if plays else ()
    layer_bar(view, range(card.n_layers + 1), framed=framed, plays=plays)


# --- A visitor's file: its first rows

_PENDING = "map_pending"
"""The session key for the name of a file that was chosen but not mapped yet."""
_MAPPED = "map_mapped"
"""The session key for the mapped file and its text and label columns, by digest."""
_N_MAPPED = 8
_CHANGING = "map_changing"
"""The session key for whether the visitor is choosing other texts."""
_PASTED = "Pasted texts.txt"
_PLACEHOLDER = "I love my pet python\nI love coding in python"


def file_panel(view: ViewState, corpus: Corpus | None) -> None:
    """The panel to choose a file or paste texts; one line once they are mapped.

    Args:
        view: the current view.
        corpus: the mapped texts, if any.
    """
    sheet = sheet_of(str(session.kept(_PENDING) or ""))
    if corpus is not None and sheet is None and not session.kept(_CHANGING):
        _one_line(corpus)
        return
    with st.container(border=True, key="map_own_file"):
        _uploader()
        if sheet is not None:
            _preview(sheet)
        else:
            _paste()
        if FILE.of(view) and corpus is None:
            st.info(
                say("map.file.gone", name=escape(FILE_NAME.of(view))),
                icon=":material/upload_file:",
            )
        st.caption(f"{chooser.UPLOADED} {say('map.file.shared')}")
        if corpus is not None:
            st.button(say("map.file.keep"), key="map_keep_file", on_click=_closed)


def _one_line(corpus: Corpus) -> None:
    n = len(corpus.texts)
    with st.container(horizontal=True, vertical_alignment="center", key="map_own_file"):
        st.markdown(say("map.file.texts", name=escape(corpus.name), n=n), width="content")
        st.button(say("map.file.change"), icon=":material/upload_file:", key="map_change_file",
                  on_click=session.keep, args=(_CHANGING, True))  # fmt: skip


def _closed() -> None:
    session.keep(_CHANGING, False)
    session.keep(_PENDING, None)


def _paste() -> None:
    st.text_area(say("map.file.paste"), height=104, key="map_paste", placeholder=_PLACEHOLDER)
    st.button(say("map.file.paste_use"), key="map_paste_use", on_click=_use_pasted)


def _use_pasted() -> None:
    pasted = str(session.value("map_paste") or "")
    if not pasted.strip():
        session.remember(say("map.file.nothing_pasted"))
        return
    secret = chooser.kept_file(_PASTED, pasted.encode("utf-8", "replace"))
    sheet = sheet_of(secret)
    if sheet is not None:
        _use(secret, sheet.text_column, ())


def columns(view: ViewState) -> None:
    """The columns of the mapped file, so that the visit that uploaded it can choose others."""
    secret, *now = (session.kept(_MAPPED) or {}).get(FILE.of(view), ("",))
    sheet = sheet_of(secret)
    if sheet is None:
        st.caption(say("map.file.only_chosen"))
        return
    text, labels = _pickers(sheet, now[0], now[1], "map_columns")
    if [text, labels] != now:
        st.button(say("map.file.use_columns"), key="map_columns_use", on_click=_use,
                  args=(secret, text, labels))  # fmt: skip


def _uploader() -> None:
    chooser.upload_field(say("map.file.upload"), key="map_upload", on_file=_pending)


def _pending(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    view = session.current()
    if SOURCE.of(view) == "file" and corpora.found_again(session.session(), view, sheet):
        _note_mapped(FILE.of(view), secret, *corpora.columns_of(view, sheet))


def _preview(sheet: Sheet) -> None:
    """A file's first rows and detected format, before any computation."""
    chooser.file_head(sheet, key="map_head")
    text, labels = _pickers(sheet, sheet.text_column, sheet.label_columns, _PENDING)
    st.button(
        say("map.file.use"),
        icon=":material/scatter_plot:",
        type="primary",
        key="map_use",
        on_click=_use,
        args=(str(session.kept(_PENDING)), text, labels),
    )


def _pickers(
    sheet: Sheet, text: str, labels: Sequence[str], key: str
) -> tuple[str, tuple[str, ...]]:
    """The menus of the text column and the label columns, with the given ones preselected."""
    titles = list(sheet.columns)
    left, right = st.columns(2, gap="small")
    chosen = left.selectbox(TEXT.label, titles, titles.index(text), key=f"{key}_text")
    others = [name for name in titles if name != chosen]
    own = right.multiselect(
        LABELS.label, others, [name for name in labels if name in others], key=f"{key}_labels"
    )
    return str(chosen), tuple(own)


def _use(secret: str, text: str, labels: tuple[str, ...]) -> None:
    sheet = sheet_of(secret)
    if sheet is None:
        session.remember(say("map.file.not_in_memory"))
        return
    try:
        digest = corpora.share(session.session(), sheet, text, labels)
    except CorpusError as exc:  # the current map stays
        session.remember(str(exc))
        return
    _note_mapped(digest, secret, text, labels)
    _closed()
    session.write(_with_file(session.current(), digest, sheet, text, labels))


def _note_mapped(digest: str, secret: str, text: str, labels: tuple[str, ...]) -> None:
    """Remember who uploaded the columns with a digest, so that this visit can choose others."""
    own = {**(session.kept(_MAPPED) or {}), digest: (secret, text, labels)}
    session.keep(_MAPPED, dict(list(own.items())[-_N_MAPPED:]))


def _with_file(
    view: ViewState, digest: str, sheet: Sheet, text: str, labels: tuple[str, ...]
) -> ViewState:
    """The view of a file; its rows are sentences unless the visitor chooses otherwise."""
    unit = UNIT.among(UNIT.options, default="sentences").of(view)
    view = UNIT.put(SOURCE.put(view, "file"), unit)
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    place = list(sheet.columns).index(text)
    return LABELS.put(TEXT.put(view, place), corpora.places(sheet, labels))


# --- The message if no stored corpus is chosen


def kept_panel(view: ViewState) -> None:
    """Links to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown(say("map.kept.choose"))
        else:
            st.markdown(say("map.kept.none"))
        navigation.link(navigation.row("corpora"), view, label=say("map.kept.link"))


# --- The reading below a map

_FILE = "map"
_MOST_ROWS = 5_000


def words(shown: MapShown) -> None:
    """The reading."""
    kit.reading(shown.finding.reading, sure=shown.finding.sure)


def notes(shown: MapShown) -> None:
    """A line on the points that are on the map and those left out."""
    points, corpus, gathered = shown.points, shown.picture.corpus, shown.picture.gathered
    said = [say(f"map.notes.{points.unit}", corpus=escape(corpus.name), n=points.n_points)]
    if shown.sampled:
        said.append(shown.sampled)
    if gathered.n_cut:
        said.append(say("map.notes.cut", n=gathered.n_cut))
    if shown.found is not None:
        said.append(say("map.notes.found", n=len(shown.found)))
    st.caption(" · ".join([*said, *(escape(note) for note in corpus.notes)]))
    n_layers, _, n_axes = shown.picture.coordinates.shape
    frame = frame_claims(n_layers, shown.layer, shown.enlarged, n_axes=n_axes)
    if frame and points.n_points > 1 and not shown.finding.every_layer:
        st.caption(" ".join(map(str, frame)))


def explain(shown: MapShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), say("map.limits"))


def downloads(shown: MapShown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, again = shown.picture.passport, Again.of(shown)
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: map_table(again.shown()).to_dict("records"),
            arrays=lambda: map_arrays(again.shown()),
        )


def _numbers(shown: MapShown) -> None:
    kit.table(map_table(shown, _MOST_ROWS), key="map_table")
    n = shown.points.n_points
    if n > _MOST_ROWS:
        st.caption(say("map.first_rows", shown=_MOST_ROWS, n=n))


def _under_the_hood(shown: MapShown, card: ModelCard) -> None:
    picture = shown.picture
    one_layer = len(picture.layers) == 1
    snippets = [
        (say("map.vectors_snippet"), vectors_snippet(shown, card)),
        (say("map.redraw_snippet"), drawing_snippet(shown, file=f"{_FILE}.npz")),
    ]
    kit.under_the_hood(
        formula=[
            FORMULA,
            f"{say(f'map.methods.{picture.method}')} {say('map.methods.misread')}",
            *([] if one_layer else [say(f"map.layer_maps.{picture.request.footing}")]),
        ],
        snippet=snippets,
        passport=picture.passport,
        shapes=kit.shapes(map_shapes(shown), key="map_shapes"),
    )


# --- Above the map: the mapped texts


def toolbar(view: ViewState, asked: Asked) -> None:
    """The controls of the page."""
    with kit.controls("map"):
        inputs.select(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "kept":
            inputs.select(view, controls.kept_among(titles(view, controls.KEPT.asked(view) or "")))
        inputs.choice(view, controls.UNIT)
        if by_chosen_words(view):
            inputs.select(view, controls.word_of())
        inputs.select(view, asked.color)
        with st.popover("Texts", type="tertiary"):
            _texts(view, asked)
        with st.popover("Settings", type="tertiary"):
            _settings(view)


def _texts(view: ViewState, asked: Asked) -> None:
    """The choice of texts and of their words."""
    source, unit = controls.SOURCE.of(view), cast("Unit", controls.UNIT.of(view))
    if source == "sentences":
        sentences.sentence_editor(view, "sentences", where=controls.PAGE, least=1)
    if source == "file":
        columns(view)
    if unit != "sentences" and not by_chosen_words(view):
        inputs.text(view, controls.only_of(unit))
    if unit == "words" and asked.corpus is not None and asked.corpus.spans is not None:
        inputs.switch(view, controls.EVERY_WORD)
    if unit == "tokens":
        inputs.switch(view, controls.SPECIAL)
    inputs.select(view, controls.AT_MOST.among(_point_numbers()))


def _point_numbers() -> dict[str, str]:
    """The available maximum numbers of points, with their titles."""
    every = controls.AT_MOST.options
    return {n: title for n, title in every.items() if int(n) <= most_points()}


def _settings(view: ViewState) -> None:
    """The settings for placing the points."""
    unit = cast("Unit", controls.UNIT.of(view))
    inputs.select(view, controls.FOOTING)
    if unit != "tokens":
        inputs.select(view, controls.pooling_of(unit))
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

_MOST_TIMES = 3
"""The maximum number of automatic redraws of an evicted map: two maps side by side may evict each
other from a small store."""


def drawn(
    request: MapRequest | None, corpus: Corpus | None, card: ModelCard, *, slot: str, height: int
) -> tuple[Picture | None, bool]:
    """Return the requested map, or the last one, if any; and whether it is stale.

    Shows the progress and the cost of the requested map.

    Args:
        request: None if something must be chosen first: the last map then stays, as a stale one.
        corpus: its texts.
        card: the model's card.
        slot: the name of the map's place on the page.
        height: of the map, in pixels; its space is reserved while the first one is drawn.
    """
    # Created in every run: otherwise the browser would see the next element as a new one and redraw
    # it. The map's own run clears it at once, and does not draw below it first.
    place = st.empty()
    last = _last(slot)
    if request is None or corpus is None:
        return _stale(last, say("map.waiting.not_mapped"))
    if last is not None and last.request == request:
        return last, False
    try:
        job = _job(request, corpus, card, slot)
    except BusyError as exc:
        _failed(exc, request, slot)
        return _older(last, request)
    if job is None:
        return _older(last, request)
    if not waiting.shortly(job):
        with place.container():
            older = _older(last, request)
            waiting.follow(job, _place(slot))
            if older[0] is None:
                _waiting_room(height)
        return older
    error = job.exception()
    if error is not None and not job.was_stopped:
        _failed(error, request, slot)
        return _older(last, request)
    picture = maps().picture(request)
    if picture is None:  # stopped or evicted at this moment; unknown until now
        return drawn(request, corpus, card, slot=slot, height=height)
    session.keep(slot, request)
    return picture, False


def _last(slot: str) -> Picture | None:
    """The last map on screen, as long as it is cached."""
    request: MapRequest | None = session.kept(slot)
    return None if request is None else maps().picture(request)


def _place(slot: str) -> str:
    return f"{slot}_progress"


def _waiting_room(height: int) -> None:
    """Reserve the map's space without animation, which would slow the drawing."""
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("map.place"), width="content")


def _failed(error: BaseException, request: MapRequest, slot: str) -> None:
    waiting.failed(error, f"{slot}_again", partial(session.keep, _wanted(slot), request.key))


def _job(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job | None:
    """The job of a map that is running, cheap or requested; else show its cost and a button."""
    found, key = maps().find(request), request.key
    state = None if found is None else found.look(waiting.current_visitor(_place(slot))).state
    is_wanted = session.kept(_wanted(slot)) == key
    if found is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return found
    plan = maps().plan(request, corpus, card)
    n_times = _n_times(slot, key)
    is_cheap = plan.seconds <= LARGE_SECONDS and state != "cancelled" and n_times < _MOST_TIMES
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        job = _begin(request, corpus, card, slot)
        session.keep(_wanted(slot), None)
        if state not in {"waiting", "running"}:
            session.keep(_times(slot), (key, 0 if is_wanted else n_times + 1))
        return job
    st.info(_in_words(plan, _why(slot, request, state)), icon=":material/timer:")
    st.button(
        say("map.waiting.draw"),
        icon=":material/play_arrow:",
        type="primary",
        key=f"{slot}_draw",
        on_click=session.keep,
        args=(_wanted(slot), key),
    )
    return None


def _begin(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job:
    """Draw a map; release an earlier job of this slot that nobody else waits for."""
    me = waiting.current_visitor(_place(slot))
    job = maps().draw(request, corpus, card, me)
    before: MapRequest | None = session.kept(_awaited(slot))
    session.keep(_awaited(slot), request)
    other = None if before in (None, request) else maps().find(before)
    if other is not None:  # not earlier: both may need the same points
        other.drop(me)
    return job


def _wanted(slot: str) -> str:
    """The session key for the key of the map that the visitor requested with a click."""
    return f"{slot}_wanted"


def _awaited(slot: str) -> str:
    """The session key for the request of the current or last awaited map."""
    return f"{slot}_awaited"


def _times(slot: str) -> str:
    """The session key for the number of automatic redraws, with the map's key."""
    return f"{slot}_times"


def _n_times(slot: str, key: str) -> int:
    of, n = session.kept(_times(slot)) or ("", 0)
    return int(n) if of == key else 0


def _why(slot: str, request: MapRequest, state: str | None) -> str:
    """The reason why a map that was started or drawn before is missing."""
    if state in {"stopped", "cancelled"}:
        return say("map.waiting.was_stopped") + " "
    if session.kept(slot) == request:
        return say("map.waiting.was_dropped") + " "
    return ""


def _older(last: Picture | None, request: MapRequest) -> tuple[Picture | None, bool]:
    if last is None:
        return None, False
    what = ", ".join(changes(last.request, request))
    case = "changed" if what else "changed_something"
    return _stale(last, say(f"map.waiting.{case}", what=what))


def _stale(last: Picture | None, why: str) -> tuple[Picture | None, bool]:
    if last is not None:
        names = {"corpus": escape(last.corpus.name), "settings": escape(last.request.in_words())}
        st.warning(f"{say('map.waiting.stale', **names)} {why}", icon=":material/history:")
    return last, True


def _in_words(plan: Plan, why: str) -> str:
    return why + say(
        "map.waiting.cost",
        duration=_duration(plan.seconds),
        megabytes=max(1, round(plan.n_bytes / 1e6)),
        n=plan.n_points,
        texts=plan.n_texts,
        tokens=plan.n_tokens,
    )


def _duration(seconds: float) -> str:
    if seconds < 2:
        return say("map.waiting.second")
    if seconds < 90:
        return say("map.waiting.seconds", n=max(2, round(seconds)))
    return say("map.waiting.minutes", n=round(seconds / 60))


# --- One map, or two side by side

_OWN_CHOICE_HEIGHT = 72
"""The height above each of two maps, so that they align."""


def first_map(view: ViewState, card: ModelCard, asked: Asked) -> MapShown | None:
    """The page's map as shown, or None if there is none yet."""
    if asked.problem:
        st.error(escape(asked.problem), icon=":material/error:")
    if controls.SOURCE.of(view) == "file":
        file_panel(view, asked.corpus)
    if controls.SOURCE.of(view) == "kept" and asked.corpus is None:
        kept_panel(view)
    picture, is_stale = drawn(asked.request, asked.corpus, card, slot="map", height=HEIGHT)
    return None if picture is None else map_shown(view, picture, is_stale=is_stale)


def one_or_two(view: ViewState, shown: MapShown, card: ModelCard, asked: Asked) -> None:
    """The map with its reading and panel, or beside another one with both below."""
    if controls.BESIDE.of(view) and asked.request is not None and asked.corpus is not None:
        _two(view, shown, card, asked.request, asked.corpus)
        words(shown)
        notes(shown)
        layer_control(view, shown, card)
        looks.panel(view, shown, *_yardsticks(shown, card))
        return
    left, right = st.columns([7, 3], gap="medium")
    with left:
        map_chart(shown)
        layer_control(view, shown, card)
        notes(shown)
    with right, st.container(key="map_closer"):
        words(shown)
        looks.panel(view, shown, *_yardsticks(shown, card))


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
    """Both maps, the second with its own choice above it."""
    selection = shown.marked.selection
    left, right = st.columns(2, gap="medium")
    with right:
        other = _other(view, shown, card, request, corpus)
        if other is not None:
            linked = _linked(shown, other, selection, CHART)
            map_chart(other, key=OTHER_CHART, linked=linked, half=True)
    with left:
        with st.container(height=_OWN_CHOICE_HEIGHT, border=False, vertical_alignment="bottom"):
            st.caption(escape(shown.picture.request.in_words()))
        linked = None if other is None else _linked(other, shown, selection, OTHER_CHART)
        map_chart(shown, linked=linked, half=True)


def _linked(
    one: MapShown, other: MapShown, selection: Selection | None, key: str
) -> tuple[int, ...] | None:
    """The other map's points that correspond to a selection on the chart with this key."""
    if selection is None or selection.key != key:
        return None
    return linked_points(one, other, selection.points)


def _other(
    view: ViewState, shown: MapShown, card: ModelCard, own: MapRequest, corpus: Corpus
) -> MapShown | None:
    """The second map, which differs from the first in one setting."""
    beside, layer = controls.BESIDE.of(view), None
    request: MapRequest | None
    with st.container(
        height="content" if beside == "model" else _OWN_CHOICE_HEIGHT,  # a model needs more
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
    picture, is_stale = drawn(request, corpus, card, slot="map_other", height=HEIGHT)
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
    """A model chosen here, with its request; no request if it cannot be used."""
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
