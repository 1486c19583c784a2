"""The Senses page: its controls, picture, lists, closer looks, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.sense_names import SenseNames
from contextlens.content.language import say
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.errors import ContextlensError, CorpusError, ModelError
from contextlens.core.schema import IntArray
from contextlens.core.words import folded
from contextlens.corpus.live import LiveCorpus
from contextlens.corpus.searchable import SearchableCorpus
from contextlens.corpus.store.stored_corpus import StoredCorpus
from contextlens.features.senses import controls, groups, own_sentence, separation_curve, word_table
from contextlens.features.senses.compare import Comparison, other_side, other_view
from contextlens.features.senses.concordance import concordance_rows, lines_at
from contextlens.features.senses.controls import (
    BESIDE,
    CHOSEN,
    GROUPS,
    MAX_REPLACEMENT_WORDS,
    ONLY,
    OTHER_MODEL,
    OTHER_WORD,
    OWN,
    PAGE,
    PAGE_SIZE,
    PANEL,
    ROWS,
    SORT,
)
from contextlens.features.senses.corpora import (
    corpus_of,
    first_word,
    has_changed,
    is_stored,
    suggested,
)
from contextlens.features.senses.groups import group_cards
from contextlens.features.senses.mix_ups import MixUps
from contextlens.features.senses.occurrences import MissingWord, column_of
from contextlens.features.senses.senses import Drawn, Senses, reading_task, senses_again, senses_in
from contextlens.features.senses.separation_curve import CURVE_SNIPPET, separation_snippet
from contextlens.features.senses.widgets import concordance_lines, show_cards
from contextlens.features.senses.word_map import clicked_indices
from contextlens.jobs import Job, Task
from contextlens.ui.corpora import bar, own_senses
from contextlens.ui.corpora.bar import texts_bar, with_label
from contextlens.ui.corpora.controls import ALL_WORDS, COLLECTION, LABEL, NO_LABEL, OWN_FILE, WORD
from contextlens.ui.corpora.texts import collection_of
from contextlens.ui.corpora.words import WordRow
from contextlens.ui.models import runtime, second_model, waiting
from contextlens.ui.models.background import jobs
from contextlens.ui.state import session
from contextlens.ui.state.controls import Control, Text
from contextlens.ui.state.services import settings
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS, ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.comparison.senses import OwnSenses, covered
from contextlens.ui.widgets.layer_bar import AROUND_MAP, layer_bar
from contextlens.ui.widgets.passages import passages
from contextlens.ui.widgets.sense_claims import senses_claim, senses_sure, sorted_claim

HEIGHT = 500
"""The height of the picture, in pixels."""

# --- Above the picture: the corpus and the word


def choose_corpus(view: ViewState) -> SearchableCorpus | None:
    """Draw the controls; return the corpus, or None and say why there is none.

    For a live corpus, the page's model is loaded first.
    """
    if not is_stored(view):
        runtime.load(view.model, height=HEIGHT)
    corpus, problem = None, ""
    try:
        corpus = corpus_of(view, runtime.service())
    except CorpusError as exc:
        problem = str(exc)
    _toolbar(view, corpus)
    if problem and COLLECTION.of(view) != OWN_FILE:  # for a file, the panel says so
        st.info(f"{escape(problem)}", icon=":material/folder_off:")
    bar.panel(view, PAGE, corpus.corpus if isinstance(corpus, LiveCorpus) else None)
    return corpus


def _toolbar(view: ViewState, corpus: SearchableCorpus | None) -> None:
    """The controls of the page; without a corpus, only the one that chooses another."""
    with texts_bar(view, PAGE, then=_reset_selection):
        if corpus is None:
            return
        if corpus.columns:
            _label(view, corpus)
        words = suggested(view, corpus)
        _word_field(view, WORD, first_word(view, corpus), words, _reset_selection)
        if column_of(view, corpus):
            inputs.choice(view, controls.COLOR)
        with kit.menu(say("senses.more")):
            inputs.select(view, GROUPS)


def _label(view: ViewState, corpus: SearchableCorpus) -> None:
    """Draw the choice of the column that holds senses."""
    columns, shown = tuple(corpus.columns), column_of(view, corpus)

    def choose(title: str) -> None:
        view = session.current()
        view = with_label(view, columns, title) if title else LABEL.put(view, NO_LABEL)
        session.write(_reset_selection(view))

    inputs.menu(
        LABEL.label,
        {**{title: title for title in columns}, "": LABEL.options[NO_LABEL]},
        shown,
        choose,
        key="senses_label",
        help=say("senses.labels_help"),
    )


def _word_field(
    view: ViewState,
    control: Text,
    default: str,
    words: tuple[WordRow, ...],
    then: inputs.ViewChange = lambda view: view,
) -> None:
    """A field for a word, with words of the corpus and their numbers; others can be typed."""
    counts = {row.word: _word_option(row) for row in words}
    typed = control.of(view).strip()
    chosen = default if typed in {"", ALL_WORDS} else typed
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
        on_change=_write(control, key, then),
    )


def _word_option(row: WordRow) -> str:
    word = shortened(row.word, 40)
    """Return the title of a word; `_write` reads what stands before the dot."""
    if row.n_senses > 1:
        return say("senses.word_option.senses", word=word, n=row.n, senses=row.n_senses)
    return say("senses.word_option.uses", word=word, n=row.n)


def _write(control: Control[Any], key: str, then: inputs.ViewChange) -> Callable[[], None]:
    def write() -> None:
        if session.is_shown(key):
            value = str(session.value(key) or "")[:MAX_VALUE_CHARACTERS]
            value = value.partition(" · ")[0]  # the word's title in the collection before
            session.write(then(control.put(session.current(), value)))

    return write


def _missing(word: MissingWord) -> None:
    """The reason why a word has no occurrences, with similar words."""
    st.info(escape(word.problem), icon=":material/search_off:")
    counts = {count.word: count.n for count in (*word.similar, *word.inside)}
    if counts:
        with st.container(horizontal=True, gap="small", key="senses_instead"):
            for other, n in list(counts.items())[:MAX_REPLACEMENT_WORDS]:
                label = f"{escape(shortened(other, 40))} · {n:,}"
                key = f"senses_instead_{other}"
                st.button(label, key=key, on_click=partial(_show_word, other))


def _show_word(word: str) -> None:
    session.write(WORD.put(_reset_selection(session.current()), word))


# --- The data of a view

_PLACE = "senses_progress"


def await_senses(view: ViewState, corpus: SearchableCorpus) -> Senses | None:
    """Return the data of the page; None while its progress, or the lack of the word, is shown.

    The visitor's sentence is included once the model of the corpus is in memory. The work has no
    button and no Cancel, so it does not go through `waiting.result_of`.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    without_fetch = _without_fetch(view, corpus)
    if without_fetch is None:
        return None
    view = without_fetch
    area = st.empty()  # in every run, else the browser sees the next element as new
    task, senses = reading_task(corpus, view), None
    job = None if task is None else _started(task)
    with kit.placeholder(PAGE, height=HEIGHT + AROUND_MAP):
        is_ready = job is None or waiting.shortly(job)
        if is_ready:
            error = None if job is None or job.was_stopped else job.exception()
            if error is not None:
                raise error
            senses = senses_in(corpus, view, runtime.service(), _drawn(), _names(view, corpus))
    if job is not None and not is_ready:
        with area.container():
            waiting.follow(job, _PLACE, cancel="")
            waiting.placeholder(say("senses.place"), height=HEIGHT + AROUND_MAP)
    if isinstance(senses, MissingWord):
        _missing(senses)
        return None
    return senses


def _without_fetch(view: ViewState, corpus: SearchableCorpus) -> ViewState | None:
    """The view, without the visitor's sentence unless the model of the corpus is in memory.

    None if the corpus itself is read by its model; the progress of loading it is then shown.
    """
    if OWN.of(view).strip() and model_card(corpus) is None:
        view = OWN.put(view, OWN.default)
    is_read = isinstance(corpus, StoredCorpus) and corpus.is_read
    return None if is_read and not _is_model_loaded(corpus) else view


def _names(view: ViewState, corpus: SearchableCorpus) -> SenseNames | None:
    """The names of the word's senses; None if there are none, or no sentence needs them."""
    card, word = model_card(corpus), _word(view, corpus)
    if card is None or not OWN.of(view).strip():
        return None
    if (own := own_task(view, corpus)) is not None:
        senses: OwnSenses | None = waiting.measured(own, "own_senses")
        return None if senses is None else senses.names
    is_ready = collection_of(view, controls.PAGE) == "ambiguous"
    if not is_ready or covered(word) != word.casefold():
        return None
    return runtime.sense_names(card, runtime.baseline(card), word.casefold())


def own_task(view: ViewState, corpus: SearchableCorpus) -> Task | None:
    """The work that names the word's senses by the visitor's labels; None if nothing needs it."""
    card = model_card(corpus)
    if card is None or not OWN.of(view).strip():
        return None
    return own_senses.task_of(view, card, runtime.baseline(card), folded(_word(view, corpus)))


def _word(view: ViewState, corpus: SearchableCorpus) -> str:
    typed = WORD.of(view).strip()
    return first_word(view, corpus) if typed in {"", ALL_WORDS} else typed


def _started(task: Task) -> Job:
    done = jobs().get(task.key)
    if done is not None and done.state == "done":
        return done
    return jobs().start(task, waiting.current_visitor(_PLACE))


def model_card(corpus: SearchableCorpus) -> ModelCard | None:
    """The card of the model behind a corpus's vectors; None if it is not in memory.

    A model of the same name with other weights does not count.
    """
    try:
        card = runtime.service().load(corpus.model) if runtime.is_loaded(corpus.model) else None
    except ContextlensError:  # the model is no longer available
        return None
    return None if card is None or has_changed(corpus, card) else card


def await_model(view: ViewState, corpus: SearchableCorpus) -> None:
    """Wait for the page's model if a stored corpus uses it: the rest of the page needs it later."""
    if corpus.model == view.model and runtime.can_load_without_download(view.model):
        runtime.load(view.model)


def _is_model_loaded(corpus: SearchableCorpus) -> bool:
    """Return True if a corpus's model is in memory; otherwise show the progress of loading it."""
    try:
        spec = runtime.service().spec(corpus.model)
        runtime.check_model(corpus.model)
        is_away = spec.source == "hub" and not (spec.on_disk or spec.loaded)
        if is_away and not settings().allow_downloads:
            raise ModelError(say("senses.no_download"))
        card = second_model.model_card(spec)
        if card is not None and has_changed(corpus, card):
            raise ModelError(say("senses.other_weights"))
    except ContextlensError as exc:
        st.info(
            say("senses.needs_model", model=escape(corpus.model), why=escape(str(exc))),
            icon=":material/info:",
        )
        return False
    return card is not None


# --- The selection: callbacks of clicks

_DRAWN = "senses_drawn"
"""The session key for the selection on a map."""


def _drawn() -> Drawn | None:
    """The selection on a map; None without one."""
    drawn: Drawn | None = session.kept(_DRAWN)
    return drawn


def _choose(row: int, listed: Sequence[int]) -> None:
    """Select an occurrence, or deselect it if it is selected; the concordance turns to it.

    Args:
        row: the occurrence's identifier.
        listed: the rows of the concordance in order; if they lack `row`, all are listed.
    """
    view = session.current()
    if CHOSEN.of(view) == row:
        _deselect()
        return
    view = CHOSEN.put(view, row)
    if row not in listed:
        view = _with_all_listed(view)
    elif SORT.of(view) == "cosine" and not OWN.of(view).strip():  # it comes first
        view = _first_page(view)
    else:
        view = ROWS.put(view, listed.index(row) // PAGE_SIZE + 1)
    session.write(view)


def _deselect() -> None:
    session.write(CHOSEN.put(session.current(), CHOSEN.default))


def _choose_group(key: str) -> None:
    """Show a group or a sense alone, or all if it is shown alone already."""
    view = session.current()
    only = "" if ONLY.asked(view) == key else key
    session.write(_without_map_selection(ONLY.put(view, only)))


def _list_all() -> None:
    session.write(_with_all_listed(session.current()))


def _reset_selection(view: ViewState) -> ViewState:
    """The view without a selection, at the first page: for another word or corpus."""
    return CHOSEN.put(_with_all_listed(view), CHOSEN.default)


def _with_all_listed(view: ViewState) -> ViewState:
    return _without_map_selection(ONLY.put(view, ONLY.default))


def _without_map_selection(view: ViewState) -> ViewState:
    """The view at the first page, without the map's selection: for another sense or group."""
    session.keep(_DRAWN, None)
    return _first_page(view)


def _first_page(view: ViewState) -> ViewState:
    """The view at the first page of the concordance: for another order."""
    return ROWS.put(view, ROWS.default)


def _on_map(
    key: str, digest: str, order: Sequence[IntArray], rows: Sequence[int], listed: Sequence[int]
) -> Callable[[], None]:
    """The callback of a map: a click chooses an occurrence, a lasso selects many.

    The session keeps the callback, so it must not hold on to the page's result.

    Args:
        key: the chart's key.
        digest: that of the word's occurrences.
        order: the occurrences of each trace of points.
        rows: the identifier of the occurrence at each index; -1 for one that cannot be chosen.
        listed: the rows of the concordance in order.
    """

    def selected() -> None:
        event = session.value(key)
        if event is None:
            return
        selection = event["selection"]
        clicked = [rows[index] for index in clicked_indices(selection["points"], order)]
        picked = [row for row in clicked if row >= 0]
        if selection["box"] or selection["lasso"]:
            view = _with_all_listed(session.current())
            session.keep(_DRAWN, (digest, tuple(sorted(set(picked)))) if picked else None)
            session.write(view)
        elif picked:
            _choose(picked[0], listed)
        elif not selection["points"]:  # a second click on the point, or a double click outside
            session.keep(_DRAWN, None)
            _deselect()

    return selected


# --- The picture: the map, and the separation of the senses at every layer

_CHART = "senses_chart"
_PHONE_HEIGHT = 360
_MAP_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d", "zoomIn2d", "zoomOut2d"],
}


def picture(senses: Senses) -> None:
    """The finding, and the map, with the uses that it sorts wrong and the curve beside it."""
    uses = senses.uses
    kit.headline(sorted_claim(uses.word, senses.separation, uses.trial), key="reading")
    left, right = st.columns([13, 7], gap="medium")
    with left:
        _word_map(senses, key=_CHART, rows=senses.rows, selected=senses.selected)
        layers = senses.by_layer.layers
        layer_bar(senses.view, layers, shown=senses.layer, framed=[_CHART], plays=True)
    with right, st.container(key="senses_claim", gap="small"):
        _separation(senses)


def _word_map(
    senses: Senses,
    *,
    key: str,
    rows: tuple[int, ...],
    selected: tuple[int, ...] | None,
    listed: tuple[int, ...] | None = None,
) -> None:
    """Draw a word's map, with clicks and selections.

    Args:
        senses: the word.
        key: the chart's key.
        rows: the identifier that a click on each occurrence chooses; -1 for none.
        selected: indices that stay while others fade; None without a selection.
        listed: the rows in the page's concordance; None if the word is the page's own.
    """
    word_map = senses.word_map
    is_phone = session.is_phone()
    figure = word_map.figure(
        senses.layer,
        chosen=senses.chosen,
        selected=selected,
        narrow=is_phone,
        height=_PHONE_HEIGHT if is_phone else HEIGHT,
    )
    kit.chart(
        figure,
        key=key,
        config={**_MAP_CONFIG, "displayModeBar": not is_phone},
        on_select=_on_map(
            key,
            senses.uses.digest,
            [kind.indices for kind in word_map.kinds],
            rows,
            senses.listed_rows if listed is None else listed,
        ),
        selection_mode=("points", "box", "lasso"),
        alt=word_map.alt(senses.layer),
    )


def _separation(senses: Senses) -> None:
    """Draw the uses that are sorted wrong, the curve, the test behind both, and notes."""
    uses, curve = senses.uses, senses.by_layer.curve
    strays = senses.strays()
    if strays:
        title = say("senses.strays.title", n=senses.n_strays)
        more = senses.n_strays - len(strays)
        passages(title, strays, more=say("senses.strays.more", n=more) if more else "")
    if senses.curve is not None:
        kit.chart(senses.curve.figure(), key="senses_curve", alt=senses.curve.alt())
    claims = senses_claim(uses.word, curve, uses.trial, senses.layer)
    tests = senses_sure(curve, uses.trial)
    kit.claims([], sure=[uses.count_claim(), *claims, *tests], key="reading_tests")
    for note in senses.notes():
        st.caption(escape(note))


def show_groups(senses: Senses) -> None:
    """Draw the groups, in words and as cards."""
    grouping = senses.grouping
    claims = [escape(grouping.problem)] if grouping.problem else grouping.claims()
    kit.claims(claims, sure=grouping.sure(), key="reading_groups")
    if grouping.descriptions:
        listed = senses.listed_rows
        show_cards(
            group_cards(senses.uses, grouping, senses.word_map.by),
            key="senses_group_cards",
            chosen=ONLY.asked(senses.view) or "" if senses.is_selected else "",
            row=senses.chosen_row,
            on_group=_choose_group,
            on_row=lambda row: _choose(row, listed),
        )


# --- The concordance


def show_concordance(senses: Senses, random: float | None) -> None:
    """Draw the concordance of the selected occurrences, or of all.

    Args:
        senses: the word.
        random: the mean cosine of random pairs of words at this layer; None if it is unknown.
    """
    with kit.controls("concordance"):
        _concordance_controls(senses)
    page, listed = senses.concordance, senses.listed_rows
    concordance_lines(
        page.lines,
        senses.word_map,
        key="senses_concordance",
        name=f"Occurrences of {senses.uses.word}, page {page.page} of {page.n_pages}",
        chosen=senses.chosen_row,
        cosine_title=_cosine_title(senses),
        random=random,
        on_pick=lambda row: _choose(row, listed),
    )


def _concordance_controls(senses: Senses) -> None:
    """The menus of the order and of the sense or group, the buttons, and the steps."""
    grouping, names = senses.grouping, senses.uses.senses
    unavailable = {
        "cosine": senses.cosines is None,
        "sense": not names,
        "group": not grouping.descriptions,
    }
    titles = {**SORT.options, "cosine": _cosine_title(senses)}
    orders = {key: title for key, title in titles.items() if not unavailable.get(key)}
    inputs.select(senses.view, SORT.among(orders), _first_page)
    n_groups = len(grouping.descriptions)
    some_in_none = bool(grouping.n_none and n_groups)
    only = controls.only_among(names, n_groups, some_in_none=some_in_none)
    if len(only.options) > 2:
        inputs.select(senses.view, only, _without_map_selection)
    button = partial(st.button, icon=":material/close:", type="tertiary")
    if senses.is_drawn and senses.is_selected:
        button("Show all", key="senses_clear", on_click=_list_all)
    if senses.chosen is not None:
        button("Clear selection", key="senses_let_go", on_click=_deselect)
    n, first = len(senses.concordance.order), (senses.concordance.page - 1) * PAGE_SIZE
    if n > PAGE_SIZE:
        inputs.steps("senses", first, n, at_once=PAGE_SIZE, on_step=_to_line)
    else:
        st.markdown(f"{n:,} {'occurrence' if n == 1 else 'occurrences'}", width="content")


def _cosine_title(senses: Senses) -> str:
    return say(f"senses.cosine_to.{senses.cosine_to}") if senses.cosine_to else ""


def _to_line(first: int) -> None:
    """Turn the concordance to the page that begins with a line, counted from 0."""
    session.write(ROWS.put(session.current(), first // PAGE_SIZE + 1))


# --- Closer looks


def look_closer(view: ViewState, senses: Senses, random: float | None) -> None:
    """Draw the chosen closer look.

    Args:
        view: the current view.
        senses: the word.
        random: the mean cosine of random pairs of words at this layer; None if it is unknown.
    """
    offered = dict(PANEL.options)
    if senses.separation is None:
        offered.pop("taken")
    panels = {name: partial(_PANELS[name], view, senses, random) for name in offered}
    kit.look_closer(view, PANEL.among(offered), panels)


def _own_sentence(view: ViewState, senses: Senses, random: float | None) -> None:
    """The text field, and the nearest uses once a sentence is typed."""
    inputs.text(view, OWN)
    if not OWN.of(view).strip():
        st.caption(say("senses.own.empty"))
        return
    if model_card(senses.corpus) is None:
        if _is_model_loaded(senses.corpus):
            st.rerun()  # the new sentence also affects the elements above
        return
    sentence, listed = senses.sentence, senses.listed_rows
    if sentence is None:
        return
    if sentence.problem:
        st.info(escape(sentence.problem), icon=":material/info:")
        return
    kit.claims(sentence.claims(), sure=sentence.sure(), key="reading_own")
    concordance_lines(
        lines_at(senses.uses, sentence.cosines, sentence.near),
        senses.word_map,
        key="senses_near",
        name="The contexts nearest to your sentence",
        chosen=senses.chosen_row,
        cosine_title="cosine",
        random=random,
        on_pick=lambda row: _choose(row, listed),
    )
    if random is not None:
        st.caption(say("senses.own.mark"))


def _compare(view: ViewState, senses: Senses, _random: float | None) -> None:
    """The controls of the comparison, then its maps and curves, or the word table."""
    with kit.controls("beside"):
        compared = _compared_view(view, senses)
    kind = BESIDE.of(view)
    if not kind:
        st.caption(say("senses.sides.empty"))
    elif compared is not None and kind == "table":
        _word_table(senses)
    elif compared is not None:
        _sides(compared, senses)


def _compared_view(view: ViewState, senses: Senses) -> ViewState | None:
    """Draw the controls; return the view with what they choose, or None if it is not there yet."""
    corpus, layers = senses.corpus, senses.by_layer.layers
    offered = dict(BESIDE.options)
    if is_stored(view):  # the corpus has vectors of its own model only
        offered.pop("model")
    if len(layers) < 2:
        offered.pop("layer")
    kind = inputs.select(view, BESIDE.among(offered))
    is_ready = True
    if kind == "word":
        words = tuple(row for row in suggested(view, corpus) if row.word != senses.uses.word)
        _word_field(view, OTHER_WORD, "", words)
        is_ready = bool(OTHER_WORD.of(view).strip())
    elif kind == "corpus":
        requested = controls.OTHER_CORPUS.asked(view) or controls.OTHER_CORPUS.default
        inputs.select(view, controls.OTHER_CORPUS.among(bar.collections(view, requested)))
    elif kind == "layer":
        inputs.number(view, controls.OTHER_LAYER.between(layers[0], layers[-1]))
    elif kind == "model":
        models = {m.id: m for m in (*runtime.service().models(), *runtime.own_models())}
        control = controls.other_model_among(models.values(), view.model)
        if not control.options:
            st.info(say("senses.sides.no_second_model"))
            return None
        chosen = inputs.select(view, control)
        view = OTHER_MODEL.put(view, chosen)
        is_ready = second_model.model_card(models[chosen]) is not None
    elif kind == "table" and model_card(corpus) is None:
        is_ready = _is_model_loaded(corpus)
    return view if is_ready else None


def _sides(view: ViewState, senses: Senses) -> None:
    """Both maps, and both curves."""
    try:
        other = _other_side(view, senses)
    except ContextlensError as exc:
        st.info(escape(str(exc)), icon=":material/info:")
        return
    if isinstance(other, MissingWord):
        st.info(escape(other.problem), icon=":material/search_off:")
    elif other is not None:
        comparison = Comparison(senses, other)
        _linked_maps(comparison)
        kit.claims(comparison.claims(), sure=comparison.sure(), key="reading_sides")
        figure = comparison.figure()
        if figure is not None:
            kit.chart(figure, key="senses_curves", alt=comparison.alt())


def _other_side(view: ViewState, senses: Senses) -> Senses | MissingWord | None:
    """The other side; None without one, and until a model that it needs is in memory.

    Raises:
        ContextlensError: the other corpus or model cannot be used.
    """
    service, beside = runtime.service(), other_view(senses, view)
    if beside is None:
        return None
    if not is_stored(beside) and second_model.model_card(service.spec(beside.model)) is None:
        return None
    without_fetch = _without_fetch(view, corpus_of(beside, service))
    return None if without_fetch is None else other_side(senses, without_fetch, service)


def _linked_maps(comparison: Comparison) -> None:
    """Draw both maps; a choice or selection applies to both if they show the same occurrences."""
    one, other = comparison.one, comparison.other
    selected = () if one.selected is None else comparison.linked(one.selected)
    back = dict(zip(comparison.linked(range(one.uses.n)), one.rows, strict=False))
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(f"**{escape(comparison.names[0])}**")
        _word_map(one, key="senses_chart_beside", rows=one.rows, selected=one.selected)
    with right:
        st.caption(f"**{escape(comparison.names[1])}**")
        _word_map(
            other,
            key="senses_chart_other",
            rows=tuple(back.get(index, -1) for index in range(other.uses.n)),
            selected=selected or None,
            listed=one.listed_rows,
        )


def _word_table(senses: Senses) -> None:
    table = word_table.word_table(senses.uses, senses.corpus, runtime.service())
    kit.claims([escape(table.problem)] if table.problem else table.claims(), key="reading_table")
    rows = table.rows()
    if rows:
        kit.table(rows, key="senses_in_table", after=1)
        kit.notes(table.notes())


def _mix_ups(_view: ViewState, senses: Senses, _random: float | None) -> None:
    if senses.separation is None:
        return
    mix_ups = MixUps(senses.separation, senses.uses.trial.senses)
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        kit.chart(mix_ups.figure(), key="senses_taken", alt=mix_ups.alt())
    with right:
        kit.claims(mix_ups.claims(), key="reading_taken")
        kit.notes(mix_ups.notes())


_PANELS: Mapping[str, Callable[[ViewState, Senses, float | None], None]] = {
    "own": _own_sentence,
    "beside": _compare,
    "taken": _mix_ups,
}
"""The closer looks, by their option of the control."""


# --- Tabs and downloads

_FILE = "senses"
_FORMULAS = (
    separation_curve.FORMULA,
    groups.FORMULA,
    own_sentence.FORMULA,
    word_table.FORMULA,
)


def explain(senses: Senses, card: ModelCard | None) -> None:
    """The tabs under the picture.

    Args:
        senses: the word.
        card: the card of the corpus's model; None if it is not in memory.
    """
    kit.tabs(lambda: _numbers(senses), lambda: _under_the_hood(senses, card), say("senses.limits"))


def _numbers(senses: Senses) -> None:
    if senses.curve is not None:
        exact = ["accuracy", "95% from", "95% to", "always guessing", "silhouette"]
        kit.table(senses.curve.rows(), key="senses_layers", exact=exact)
    if senses.grouping.descriptions:
        kit.table(senses.grouping.rows(senses.uses), key="senses_groups_table")
    if senses.curve is None and not senses.grouping.descriptions:
        st.caption(say("senses.no_numbers"))


def _under_the_hood(senses: Senses, card: ModelCard | None) -> None:
    n, n_layers = senses.uses.n, len(senses.by_layer.layers)
    shapes = [
        {"array": "vectors (occurrences, dims)", "shape": f"({n}, {senses.corpus.n_dims})"},
        {"array": "places (layers, occurrences, 2)", "shape": f"({n_layers}, {n}, 2)"},
    ]
    kit.under_the_hood(
        formula=_FORMULAS,
        snippet=_snippet(senses, card) or [],
        passport=senses.passport(runtime.service()),
        shapes=kit.shapes(shapes, key="senses_shapes"),
    )


def _snippet(senses: Senses, card: ModelCard | None) -> str:
    return "" if card is None or senses.curve is None else separation_snippet(card, senses.uses)


def downloads(senses: Senses, card: ModelCard | None, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    view, passport = senses.view, senses.passport(runtime.service())
    snippet = _snippet(senses, card)
    kit.downloads(
        place,
        export.caption(passport),
        page=PAGE,
        texts=senses.corpus.title,
        layer=senses.layer,
        chart=_CHART,
        name=_FILE,
        snippets=[(say("page.same_numbers"), snippet), ("", CURVE_SNIPPET)] if snippet else [],
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: _rows(view),
            arrays=lambda: senses_again(view, runtime.service()).arrays(),
        ),
    )


def _rows(view: ViewState) -> list[dict[str, str | int | float]]:
    senses = senses_again(view, runtime.service())
    return concordance_rows(senses.uses, senses.grouping.groups, senses.cosines)
