"""The toolbar, the picture, the lists and the closer looks of the Senses page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from contextlens.analysis.baseline import Band
from contextlens.content.language import claim, say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.errors import ContextlensError, CorpusError, ModelError
from contextlens.core.schema import IntArray
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.senses import controls, looks
from contextlens.features.senses.compute import (
    PAGE_SIZE,
    Senses,
    WordResult,
    beside,
    color_of_code,
    lines_at,
    linked_places,
    name_of,
    other_view,
    table_of,
    word_map_of,
)
from contextlens.features.senses.controls import (
    CHOSEN,
    CORPUS,
    LIVE,
    ONLY,
    OWN,
    ROWS,
    SORT,
    only_among,
)
from contextlens.features.senses.corpora import corpus_of, first_word, open_stored, suggested
from contextlens.features.senses.figures import (
    map_order,
    senses_map,
    separation_curve,
)
from contextlens.features.senses.reading import (
    groups_claims,
    groups_sure,
    sentence_claims,
    sentence_sure,
    side_names,
    sides_claims,
    sides_sure,
    table_claims,
    uses_claim,
)
from contextlens.features.senses.widgets import (
    Card,
    CentralUse,
    ColorShare,
    CosineColumn,
    MarkedLine,
    concordance_lines,
    group_cards,
)
from contextlens.features.senses.words import (
    MissingWord,
    OwnSentence,
    UseGroup,
    around,
    column_of,
)
from contextlens.figures.confusion import MAX_CONFUSED, confusion_heatmap
from contextlens.ui.corpora.catalogue import titles
from contextlens.ui.corpora.words import WordRow
from contextlens.ui.models import runtime, second_model
from contextlens.ui.models.services import settings
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice, Control, Text
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar
from contextlens.ui.widgets.sense_claims import senses_claim, senses_sure

# --- Above the picture: the choice of corpus

Then = Callable[[ViewState], ViewState]
"""Adjusts other controls of a view after one has changed."""
_LONGEST = 200  # the most characters that an address accepts


def toolbar(view: ViewState, corpus: SearchableCorpus | None) -> None:
    """The controls of the page; without a corpus, only the one that chooses another."""
    with kit.controls("senses"):
        select(
            view, controls.corpus_among(corpus_options(view, controls.CORPUS)), _of_another_corpus
        )
        if corpus is None:
            return
        word_field(
            view, controls.WORD, first_word(view, corpus), suggested(view, corpus), looks.anew
        )
        if column_of(view, corpus):
            inputs.choice(view, controls.COLOR)
        with st.popover(say("senses.more"), icon=":material/tune:"):
            inputs.select(view, controls.GROUPS)
            if corpus.columns:
                inputs.select(view, controls.labels_among(corpus.columns))
                st.caption(say("senses.labels_help"))


def corpus_options(view: ViewState, control: Choice) -> Mapping[str, str]:
    """The stored corpora that a visit knows, by name, including the requested one."""
    requested = control.asked(view) or ""
    known = titles(view, *([requested] if requested and requested not in controls.LIVE else []))
    if requested and requested not in {*controls.LIVE, *known}:
        return {**known, requested: say("senses.not_here")}
    return known


def word_field(
    view: ViewState,
    control: Text,
    first: str,
    words: tuple[WordRow, ...],
    then: Then | None = None,
) -> None:
    """A field for a word, with words of the corpus and what there is to see; others can be typed.

    Args:
        view: the current view.
        control: the control for the word.
        first: the default word.
        words: the suggested words.
        then: adjusts the view after its word has changed.
    """
    counts = {row.word: _option(row) for row in words}
    chosen = control.of(view).strip() or first
    options = list(dict.fromkeys([*counts, *([chosen] if chosen else [])]))
    key = session.bind(control.key, chosen or None)
    st.selectbox(
        control.label,
        options,
        index=options.index(chosen) if chosen else None,
        key=key,
        format_func=lambda word: counts.get(word, word),
        placeholder=control.placeholder,
        accept_new_options=True,
        help=say("senses.word_help"),
        on_change=_write(control, key, then or _as_it_is, _typed),
    )


def _option(row: WordRow) -> str:
    case = "senses" if row.n_senses > 1 else "uses"
    word = shortened(row.word, 40)
    return say(f"senses.word_option.{case}", word=word, n=row.n, senses=row.n_senses)


def _typed(value: Any) -> str:
    return str(value or "")[:_LONGEST]


def select(view: ViewState, control: Choice, then: Then) -> None:
    """Draw a control as a menu; `then` adjusts the view after its choice has changed."""
    chosen, values = control.of(view), list(control.options)
    key = session.bind(control.key, chosen)
    st.selectbox(
        control.label,
        values,
        index=values.index(chosen),
        key=key,
        format_func=control.options.__getitem__,
        on_change=_write(control, key, then, str),
    )


def _write(
    control: Control[Any], key: str, then: Then, read: Callable[[Any], str]
) -> Callable[[], None]:
    def write() -> None:
        if session.is_shown(key):
            session.write(then(control.put(session.current(), read(session.value(key)))))

    return write


def _of_another_corpus(view: ViewState) -> ViewState:
    """The view without word and labels, which belong to the previous corpus."""
    view = controls.LABELS.put(view, controls.LABELS.default)
    return looks.anew(controls.WORD.put(view, controls.WORD.default))


def _as_it_is(view: ViewState) -> ViewState:
    return view


# --- Callbacks of clicks

_DRAWN = "senses_drawn"
"""The session key for the name of the word whose map has a selection, and the selected rows."""


def drawn() -> tuple[str, tuple[int, ...]] | None:
    """The name of a word and the rows selected on its map; None without a selection."""
    selection: tuple[str, tuple[int, ...]] | None = session.kept(_DRAWN)
    return selection


def choose(row: int, listed: Sequence[int]) -> None:
    """Select an occurrence, or deselect it if it is selected; the concordance turns to it.

    Args:
        row: the occurrence's identifier.
        listed: the rows of the concordance in order; if they lack `row`, all are listed.
    """
    view = session.current()
    if CHOSEN.of(view) == row:
        let_go()
        return
    view = CHOSEN.put(view, row)
    if row not in listed:
        session.keep(_DRAWN, None)
        view = _all(view)
    elif SORT.of(view) == "cosine" and not OWN.of(view).strip():  # it comes first
        view = first_page(view)
    else:
        view = ROWS.put(view, listed.index(row) // PAGE_SIZE + 1)
    session.write(view)


def anew(view: ViewState) -> ViewState:
    """The view without a selection, at the first page: for another word or corpus."""
    session.keep(_DRAWN, None)
    return CHOSEN.put(_all(view), CHOSEN.default)


def undrawn(view: ViewState) -> ViewState:
    """The view at the first page, without the map's selection: for another sense or group."""
    session.keep(_DRAWN, None)
    return first_page(view)


def first_page(view: ViewState) -> ViewState:
    """The view at the first page of the concordance: for another order."""
    return ROWS.put(view, ROWS.default)


def let_go() -> None:
    """Deselect the occurrence."""
    session.write(CHOSEN.put(session.current(), CHOSEN.default))


def choose_group(key: str) -> None:
    """Show a group or a sense alone, or all if it is shown alone already."""
    view = session.current()
    now = "" if ONLY.asked(view) == key else key
    session.keep(_DRAWN, None)
    session.write(ROWS.put(ONLY.put(view, now), ROWS.default))


def clear() -> None:
    """Show all occurrences."""
    session.keep(_DRAWN, None)
    session.write(_all(session.current()))


def on_map(
    key: str, name: str, order: Sequence[IntArray], rows: Sequence[int], listed: Sequence[int]
) -> Callable[[], None]:
    """The callback of a map: a click chooses an occurrence, a lasso selects many.

    The session keeps the callback, so it must not hold on to the page's result.

    Args:
        key: the chart's key.
        name: the name of the word's occurrences, see `name_of`.
        order: the occurrences of each trace of points, see `map_order`.
        rows: the identifier of the occurrence at each index; -1 for one that cannot be chosen.
        listed: the rows of the concordance in order.
    """

    def selected() -> None:
        event = session.value(key)
        if event is None:
            return
        happened = event["selection"]
        clicked = [rows[place] for place in places_of(happened["points"], order)]
        picked = [row for row in clicked if row >= 0]
        if happened["box"] or happened["lasso"]:
            session.keep(_DRAWN, (name, tuple(sorted(set(picked)))) if picked else None)
            session.write(_all(session.current()))
        elif picked:
            choose(picked[0], listed)
        elif not happened["points"]:  # a second click on the point, or a double click outside
            session.keep(_DRAWN, None)
            let_go()

    return selected


def places_of(points: Sequence[Mapping[str, Any]], order: Sequence[IntArray]) -> list[int]:
    """The occurrences among the points that a chart reports; rings and other marks are left out."""
    places = []
    for point in points:
        trace, index = point.get("curve_number"), point.get("point_index")
        if type(trace) is not int or type(index) is not int:
            continue
        if 0 <= trace < len(order) and 0 <= index < len(order[trace]):
            places.append(int(order[trace][index]))
    return places


def _all(view: ViewState) -> ViewState:
    return first_page(ONLY.put(view, ONLY.default))


# --- The corpus that a view names, with its model


@dataclass(frozen=True, eq=False)
class OpenedCorpus:
    """A corpus, or the reason why there is none, in a plain sentence."""

    corpus: SearchableCorpus | None
    problem: str = ""


def is_stored(view: ViewState) -> bool:
    """True if a view names a stored corpus, whose vectors exist already."""
    return (CORPUS.asked(view) or CORPUS.default) not in LIVE


def open_corpus(view: ViewState, *, height: int) -> OpenedCorpus:
    """Open the corpus that a view names; for a live one, load the page's model first.

    Args:
        view: the current view.
        height: of the picture, in pixels; its space is reserved while the model loads.
    """
    if not is_stored(view):
        runtime.load(view.model, height=height)
    try:
        return OpenedCorpus(corpus_of(view, runtime.service(), open_stored))
    except CorpusError as exc:
        return OpenedCorpus(None, str(exc))


def await_model(view: ViewState, corpus: SearchableCorpus) -> None:
    """Wait for the page's model if a stored corpus uses it: the rest of the page needs it later."""
    if corpus.model == view.model and runtime.is_near(view.model):
        runtime.load(view.model)


def model_card(corpus: SearchableCorpus) -> ModelCard | None:
    """The card of the model behind a corpus's vectors; None if it is not in memory.

    A model of the same name with other weights does not count.
    """
    try:
        card = runtime.service().load(corpus.model) if runtime.is_loaded(corpus.model) else None
    except ContextlensError:  # the model is no longer available
        return None
    return None if card is None or _has_changed(corpus, card) else card


def get_model(corpus: SearchableCorpus) -> bool:
    """Return True if a corpus's model is in memory; otherwise show the progress of loading it."""
    try:
        spec = runtime.service().spec(corpus.model)
        runtime.check_model(corpus.model)
        is_away = spec.source == "hub" and not (spec.on_disk or spec.loaded)
        if is_away and not settings().allow_downloads:
            raise ModelError(say("senses.no_download"))
        card = second_model.model_card(spec)
        if card is not None and _has_changed(corpus, card):
            raise ModelError(say("senses.other_weights"))
    except ContextlensError as exc:
        st.info(
            say("senses.needs_model", model=escape(corpus.model), why=escape(str(exc))),
            icon=":material/info:",
        )
        return False
    return card is not None


def _has_changed(corpus: SearchableCorpus, card: ModelCard) -> bool:
    """True if a corpus was indexed with other weights."""
    return isinstance(corpus, StoredCorpus) and corpus.about.indexing.checksum != card.checksum


# --- The groups of the occurrences as cards

_N_NAMED = 4
_AROUND = 44  # characters on each side of an example's word


def groups(result: WordResult) -> None:
    """The groups, in words and as cards."""
    senses = result.senses
    grouping = senses.grouping
    claims = (
        [escape(grouping.problem)] if grouping.problem else groups_claims(grouping, senses.layer)
    )
    kit.reading(claims, sure=groups_sure(grouping), key="reading_groups")
    if grouping.descriptions:
        rows = result.rows
        group_cards(
            [_card(result, group) for group in grouping.descriptions],
            key="senses_group_cards",
            chosen=ONLY.asked(result.view) or "" if result.is_selected else "",
            row=None if senses.chosen is None else result.every_row[senses.chosen],
            on_group=choose_group,
            on_row=lambda row: choose(row, rows),
        )


def _card(result: WordResult, group: UseGroup) -> Card:
    return Card(
        key=f"g{group.number}",
        title=group.name,
        n=group.n,
        words=", ".join(group.words),
        parts=tuple(_parts(result, group)),
        made_of=_made_of(group),
        examples=tuple(_example(result, place) for place in group.central),
    )


def _parts(result: WordResult, group: UseGroup) -> Iterator[ColorShare]:
    """A group's senses in their colours, or its own colour if groups are coloured."""
    uses, n_groups = result.senses.uses, len(result.senses.grouping.descriptions)
    if result.word_map.by == "group":
        yield ColorShare(color_of_code(group.number, n_groups), group.n)
        return
    for name, n in group.senses:
        yield ColorShare(color_of_code(uses.senses.index(name), len(uses.senses)), n)
    n_none = group.n - sum(n for _, n in group.senses)
    if n_none:
        yield ColorShare(color_of_code(-1, 0), n_none)


def _made_of(group: UseGroup) -> str:
    """A group's most frequent senses, with their counts."""
    if group.senses and group.senses[0][1] == group.n:
        return f"all {shortened(group.senses[0][0], 40)}"
    return ", ".join(f"{shortened(name, 40)} {n:,}" for name, n in group.senses[:_N_NAMED])


def _example(result: WordResult, place: int) -> CentralUse:
    return CentralUse(result.every_row[place], *around(result.senses.uses, place, _AROUND))


# --- The first screen of Senses

CHART = "senses_chart"
HEIGHT = 500
_PHONE_HEIGHT = 360
_CURVE_HEIGHT = 300
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d", "zoomIn2d", "zoomOut2d"],
}


def picture(result: WordResult) -> None:
    """The map, with its claim and the curve of the layers beside it."""
    left, right = st.columns([13, 7], gap="medium")
    with left:
        word_map(result, key=CHART, rows=result.every_row, selected=result.selected)
        layer_bar(
            result.view, result.senses.layers, shown=result.senses.layer, framed=[CHART], plays=True
        )
    with right, st.container(key="senses_claim", gap="small"):
        _in_words(result)
        if result.senses.course.curve:
            _curve(result)


def _in_words(result: WordResult) -> None:
    """Draw the reading, and in small type the notes."""
    senses = result.senses
    uses, curve = senses.uses, senses.course.curve
    claims: list[object] = [*senses_claim(uses.word, curve, uses.trial, senses.layer)]
    if curve:
        kit.reading(claims, sure=[uses_claim(uses), *senses_sure(curve, uses.trial)])
    else:
        kit.reading([uses_claim(uses), *claims])
    for note in senses.notes:
        st.caption(escape(note))


def word_map(
    result: WordResult,
    *,
    key: str,
    rows: tuple[int, ...],
    selected: tuple[int, ...] | None,
    listed: tuple[int, ...] | None = None,
) -> None:
    """Draw a word's map, with clicks and selections.

    Args:
        result: the word.
        key: the chart's key.
        rows: the identifier that a click on each occurrence chooses; -1 for none.
        selected: indices that stay while others fade; None without a selection.
        listed: the rows in the page's concordance; None if the word is the page's own.
    """
    senses, data = result.senses, result.word_map
    figure = senses_map(
        data.places,
        senses.layer,
        data.spots,
        data.names,
        data.codes,
        titles=data.titles,
        none=data.none,
        chosen=senses.chosen,
        selected=selected,
        near=data.near,
        sentence_places=data.sentence_places,
        narrow=_is_phone(),
        height=_PHONE_HEIGHT if _is_phone() else HEIGHT,
    )
    kit.chart(
        figure,
        key=key,
        config={**_CONFIG, "displayModeBar": not _is_phone()},
        on_select=on_map(
            key,
            name_of(senses),
            map_order(data.names, data.codes),
            rows,
            result.rows if listed is None else listed,
        ),
        selection_mode=("points", "box", "lasso"),
        alt=say("senses.map_alt", title=data.titles[senses.layer], n=senses.uses.n, by=data.by),
    )


def _is_phone() -> bool:
    """True if the page is drawn for a phone."""
    return "Mobi" in str(st.context.headers.get("User-Agent", ""))


def _curve(result: WordResult) -> None:
    senses = result.senses
    title = say("senses.curve_title")
    figure = separation_curve(
        [("right sense", senses.course.curve)],
        senses.uses.trial.chance,
        layer=senses.layer,
        title=title,
        height=_CURVE_HEIGHT,
    )
    kit.chart(
        figure,
        key="senses_curve",
        alt=say("senses.curve_alt", title=title),
    )


# --- The concordance: every occurrence in its context


def concordance(result: WordResult, band: Band | None) -> None:
    """Draw the concordance of the selected occurrences, or of all.

    Args:
        result: the word.
        band: cosines of random pairs of words by layer; None if they are unknown.
    """
    senses = result.senses
    listing = senses.concordance
    with kit.controls("concordance"):
        _sort(result)
        _only(result)
        if result.drawn and result.is_selected:
            st.button("Show all", icon=":material/close:", key="senses_clear", type="tertiary",
                      on_click=clear)  # fmt: skip
        if senses.chosen is not None:
            st.button(
                "Clear selection",
                icon=":material/close:",
                key="senses_let_go",
                type="tertiary",
                on_click=let_go,
            )
        _pages(result)
    row = None if senses.chosen is None else result.every_row[senses.chosen]
    to = "to your sentence" if senses.cosine_to == "own" else "to the chosen"
    rows = result.rows
    concordance_lines(
        [
            MarkedLine(line, result.color(line.place), result.mark(line.place))
            for line in listing.lines
        ],
        key="senses_concordance",
        name=f"Occurrences of {senses.uses.word}, page {listing.page} of {listing.n_pages}",
        marked_by=result.word_map.by,
        chosen=row,
        cosines=CosineColumn(f"cosine {to}", random_mean(result, band))
        if senses.cosine_to
        else None,
        on_pick=lambda picked: choose(picked, rows),
    )


def random_mean(result: WordResult, band: Band | None) -> float | None:
    """The mean cosine of random pairs at the shown layer; None if it is unknown."""
    layer = result.senses.layer
    return float(band.mean[layer]) if band is not None and layer < len(band.mean) else None


def _sort(result: WordResult) -> None:
    """The menu of the available sort keys."""
    senses, offered = result.senses, dict(SORT.options)
    if senses.cosines is None:
        offered.pop("cosine")
    if not senses.uses.senses:
        offered.pop("sense")
    if not senses.grouping.descriptions:
        offered.pop("group")
    select(result.view, SORT.among(offered), first_page)


def _only(result: WordResult) -> None:
    senses = result.senses
    grouping = senses.grouping
    some = bool(grouping.n_none and grouping.descriptions)
    control = only_among(senses.uses.senses, len(grouping.descriptions), some_in_none=some)
    if len(control.options) > 2:
        select(result.view, control, undrawn)


def _to_line(first: int) -> None:
    """Turn the concordance to the page that begins with a line, counted from 0."""
    session.write(ROWS.put(session.current(), first // PAGE_SIZE + 1))


def _pages(result: WordResult) -> None:
    """The range of the current page, with buttons to step back and forward."""
    listing = result.senses.concordance
    n, first = len(listing.order), (listing.page - 1) * PAGE_SIZE
    if n <= PAGE_SIZE:
        noun = "occurrence" if n == 1 else "occurrences"
        st.markdown(f"{n:,} {noun}", width="content")
        return
    inputs.steps("senses", first, n, at_once=PAGE_SIZE, on_step=_to_line)


# --- The comparison with another word, corpus, layer or model

_OTHER_CHART = "senses_chart_other"
_PAGE_WORD_CHART = "senses_chart_beside"


def beside_look(view: ViewState, result: WordResult) -> None:
    """Draw the controls of the comparison, then its maps and curves, or the word table."""
    with kit.controls("beside"):
        is_ready = _choices(view, result)
    kind = controls.BESIDE.of(view)
    if not kind:
        st.caption(say("senses.sides.empty"))
    elif is_ready and kind == "table":
        _table(view, result)
    elif is_ready:
        _sides(view, result)


def _choices(view: ViewState, result: WordResult) -> bool:
    """Draw the controls of the comparison; return True if it is available."""
    offered = dict(controls.BESIDE.options)
    if is_stored(view):  # the corpus has vectors of its own model only
        offered.pop("model")
    if len(result.senses.layers) < 2:
        offered.pop("layer")
    kind = inputs.select(view, controls.BESIDE.among(offered))
    if kind == "word":
        words = tuple(
            w for w in suggested(view, result.corpus) if w.word != result.senses.uses.word
        )
        word_field(view, controls.OTHER_WORD, "", words)
        return bool(controls.OTHER_WORD.of(view).strip())
    if kind == "corpus":
        inputs.select(
            view, controls.other_corpus_among(corpus_options(view, controls.OTHER_CORPUS))
        )
    if kind == "layer":
        layers = result.senses.layers
        inputs.number(view, controls.OTHER_LAYER.between(layers[0], layers[-1]))
    if kind == "model":
        return _model(view)
    if kind == "table" and model_card(result.corpus) is None:
        return get_model(result.corpus)
    return True


def _model(view: ViewState) -> bool:
    offered = (*runtime.service().models(), *runtime.own_models())
    control = controls.other_model_among(offered, view.model)
    if not control.options:
        st.info(say("senses.sides.no_second_model"))
        return False
    chosen = inputs.select(view, control)
    return second_model.model_card(next(spec for spec in offered if spec.id == chosen)) is not None


def _named(view: ViewState) -> ViewState:
    """The view, with the default second model written into it if it names none."""
    if controls.BESIDE.of(view) != "model" or controls.OTHER_MODEL.asked(view):
        return view
    offered = (*runtime.service().models(), *runtime.own_models())
    control = controls.other_model_among(offered, view.model)
    return controls.OTHER_MODEL.put(view, control.of(view))


def _sides(view: ViewState, result: WordResult) -> None:
    named_view = _named(view)
    try:
        other = beside(named_view, result.senses, runtime.service(), open_stored)
    except ContextlensError as exc:
        st.info(escape(str(exc)), icon=":material/info:")
        return
    if isinstance(other, MissingWord):
        st.info(escape(other.problem), icon=":material/search_off:")
        return
    far = other_view(named_view)
    if other is None or far is None:
        return
    _maps(
        result, WordResult(far, result.corpus, other, word_map_of(other, controls.COLOR.of(view)))
    )
    _curves(result.senses, other)


def _maps(result: WordResult, other: WordResult) -> None:
    """Draw both maps; a choice or selection applies to both if they show the same occurrences."""
    one, two = result.senses, other.senses
    names = side_names(one, two)
    chosen = () if one.chosen is None else linked_places(one, two, (one.chosen,))
    linked = replace(two, chosen=chosen[0] if chosen else None)
    selected = None if result.selected is None else linked_places(one, two, result.selected)
    back = dict(zip(linked_places(one, two, range(one.uses.n)), result.every_row, strict=False))
    rows = tuple(back.get(place, -1) for place in range(two.uses.n))
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(f"**{escape(names[0])}**")
        word_map(result, key=_PAGE_WORD_CHART, rows=result.every_row, selected=result.selected)
    with right:
        st.caption(f"**{escape(names[1])}**")
        word_map(
            replace(other, senses=linked),
            key=_OTHER_CHART,
            rows=rows,
            selected=selected or None,
            listed=result.rows,
        )


def _curves(one: Senses, other: Senses) -> None:
    """The separation of senses on both sides, if it can be tested."""
    names = side_names(one, other)
    kit.reading(sides_claims(one, other), sure=sides_sure(one, other), key="reading_sides")
    if not (one.course.curve and other.course.curve) or one.course is other.course:
        return
    title = say("senses.sides.curves", a=names[0], b=names[1])
    figure = separation_curve(
        [(names[0], one.course.curve), (names[1], other.course.curve)],
        one.uses.trial.chance,
        layer=one.layer,
        title=title,
        height=320,
    )
    kit.chart(figure, key="senses_curves", alt=say("senses.sides.curves_alt", title=title))


def _table(view: ViewState, result: WordResult) -> None:
    in_table = table_of(view, result.senses, runtime.service(), open_stored)
    if in_table is None:
        return
    kit.reading(
        [escape(in_table.problem)] if in_table.problem else table_claims(in_table),
        key="reading_table",
    )
    if in_table.problem or len(in_table.senses) < 2:
        return
    rows = [
        {"sense": name, "the word's row": float(in_table.cosines[i])}
        | {
            f"to {other}": float(in_table.between[i, j])
            for j, other in enumerate(in_table.senses[:6])
        }
        for i, name in enumerate(in_table.senses)
    ]
    kit.table(rows, key="senses_in_table", after=1)
    st.caption(say("senses.table.caption"))


# --- The visitor's own sentence


def sentence_look(view: ViewState, result: WordResult, band: Band | None) -> None:
    """The text field, and the nearest uses once a sentence is typed."""
    inputs.text(view, OWN)
    if not OWN.of(view).strip():
        st.caption(say("senses.own.empty"))
        return
    if model_card(result.corpus) is None:
        if get_model(result.corpus):
            st.rerun()  # the new sentence also affects the elements above
        return
    sentence = result.senses.sentence
    if sentence is None:
        return
    if sentence.problem:
        st.info(escape(sentence.problem), icon=":material/info:")
        return
    claims = sentence_claims(sentence, result.senses.uses, result.senses.layer)
    kit.reading(claims, sure=sentence_sure(sentence), key="reading_own")
    _near(result, sentence, band)


def _near(result: WordResult, sentence: OwnSentence, band: Band | None) -> None:
    senses, rows = result.senses, result.rows
    lines = lines_at(senses.uses, senses.grouping.groups, sentence.cosines, sentence.near)
    random = random_mean(result, band)
    concordance_lines(
        [MarkedLine(line, result.color(line.place), result.mark(line.place)) for line in lines],
        key="senses_near",
        name="The contexts nearest to your sentence",
        marked_by=result.word_map.by,
        chosen=None if senses.chosen is None else result.every_row[senses.chosen],
        cosines=CosineColumn("cosine", random),
        on_pick=lambda picked: choose(picked, rows),
    )
    if random is not None:
        st.caption(say("senses.own.mark"))


# --- The confusion of senses at the shown layer


def taken_look(result: WordResult) -> None:
    """Draw the confusion of senses, or the reason why they cannot be tested."""
    senses = result.senses
    test, trial = senses.separation, senses.uses.trial
    if test is None:
        st.caption(" ".join(senses_claim(senses.uses.word, (), trial, senses.layer)))
        return
    title = say("senses.mixups.title", layer=test.layer, right=test.right, n=test.n)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        figure = confusion_heatmap(test.confusion, trial.senses, kind="sense", title=title)
        kit.chart(figure, key="senses_taken", alt=say("senses.mixups.alt", title=title))
    with right:
        numbers = {"share": test.accuracy, "right": test.right, "n": test.n}
        claims = [claim("senses.mixups.share", layer=test.layer, **numbers)]
        kit.reading(claims, key="reading_taken")
        if len(trial.senses) > MAX_CONFUSED:
            st.caption(say("senses.mixups.most", most=MAX_CONFUSED, n=len(trial.senses)))
