"""All that Pairs draws: the file of pairs, one pair, the whole file, the closer looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import duration, say, table
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard
from contextlens.core.errors import CorpusError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import Table
from contextlens.corpus.table import named
from contextlens.corpus.targets import label_columns
from contextlens.features.pairs.comparison import PairsResult, comparison_task, restored, seconds_of
from contextlens.features.pairs.controls import (
    ALL,
    COSINES,
    LAYERS,
    MAX_REMEMBERED_FILES,
    MAX_SNIPPET_PAIRS,
    PAGE,
    PAIR,
    PANEL,
    ROC,
    WRONG,
)
from contextlens.features.pairs.correlation import CORRELATION_FORMULA, ScoredPairs
from contextlens.features.pairs.cosines import (
    COSINE_FORMULA,
    GIVEN_FORMULA,
    cosine_scripts,
    pooling_of,
)
from contextlens.features.pairs.every_pair import EveryPair, PairRows
from contextlens.features.pairs.layer_chart import HEIGHT
from contextlens.features.pairs.one_pair import OnePair, shown_pair
from contextlens.features.pairs.pair_file import (
    CHECKED_ROLES,
    LEFT_OUT,
    MEANINGS,
    WAYS,
    PairColumns,
    can_be_scores,
    column_positions,
    guess_columns,
    guess_meanings,
    label_cells,
    names_of,
    negative_column,
    share_again,
    share_pairs,
    with_vectors,
)
from contextlens.features.pairs.pair_set import PairSet
from contextlens.features.pairs.pairs_at_layer import PairsAtLayer
from contextlens.features.pairs.roc import roc_curve_of
from contextlens.features.pairs.similarities import Similarities
from contextlens.features.pairs.threshold import THRESHOLD_FORMULA, LabelledPairs
from contextlens.features.pairs.triplets import TRIPLET_FORMULA, TripletPairs
from contextlens.ui.corpora.bar import problem_note, texts_bar
from contextlens.ui.corpora.controls import (
    COLLECTION,
    FILE,
    FILE_NAME,
    OWN_FILE,
    PAIR_COLUMNS,
    PAIRS,
    VECTORS,
)
from contextlens.ui.corpora.own_file import (
    ADDING,
    PENDING,
    close,
    columns_of,
    found_again,
    note_used,
    opened,
    secret_of,
    share,
)
from contextlens.ui.corpora.texts import collection_of, label_naming, texts_of, vector_titles
from contextlens.ui.files import chooser
from contextlens.ui.files.uploads import table_of
from contextlens.ui.models import waiting
from contextlens.ui.models.background import maps
from contextlens.ui.panel import Rows
from contextlens.ui.state import session
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.layer_bar import layer_bar

# --- The choice of pairs, and their results


def toolbar(view: ViewState, own: PairSet | None) -> tuple[DeltaGenerator, DeltaGenerator | None]:
    """Draw the choice of pairs and, for a compared file, of its columns.

    Args:
        view: the current view.
        own: the compared pairs of the visitor's file, if any.

    Returns:
        Containers for the controls that choose one pair, once pairs are compared, and for the
        choice of vectors, which needs the model.
    """
    vectors, shown = None, "" if own is None else OWN_FILE
    with texts_bar(view, PAGE, shown=shown, example=say("pairs.example")):
        container = st.container(
            horizontal=True, gap="small", vertical_alignment="bottom", width="content"
        )
        if own is not None:
            _vectors(view, own)
            with kit.menu(say("pairs.columns")):
                columns(view)
                vectors = st.container()
    if own is not None and own.vectors is None and VECTORS.of(view):
        st.caption(say("pairs.given.not_here"))
    return container, vectors


def _vectors(view: ViewState, own: PairSet) -> None:
    """Draw the choice between the model's vectors and those of the file, if it has some."""
    if own.vectors is None:
        return
    titles = [each.title for each in own.vectors]
    given = label_naming(vector_titles(texts_of(view, OWN_FILE)) or titles, titles[0])
    chosen = VECTORS.of(view)
    inputs.menu(
        VECTORS.label,
        {
            VECTORS.default: say("texts.of_model"),
            chosen or given: " · ".join(shortened(title, 24) for title in titles),
        },
        chosen,
        lambda value: session.write(VECTORS.put(session.current(), value)),
        key="pairs_vectors",
        help=VECTORS.help,
    )


def choose_pooling(
    view: ViewState, pairs: PairSet, card: ModelCard, container: DeltaGenerator | None
) -> None:
    """Draw the choice of how whole texts become vectors."""
    if container is not None and not pairs.has_words and pairs.vectors is None:
        with container:
            inputs.select(view, pooling_of(pairs, card))


def result_of(view: ViewState, pairs: PairSet, card: ModelCard) -> PairsResult | None:
    """Return the results for these pairs; until then show progress or a button, and return None."""
    seconds = seconds_of(pairs, card, maps().token_seconds(card))
    cost = say(
        "pairs.waiting.cost",
        n=pairs.n,
        duration=duration(seconds),
        texts=len(pairs.texts),
        layers=card.n_layers + 1,
    )
    if pairs.vectors is not None:
        cost = say("pairs.given.cost", n=pairs.n, duration=duration(seconds))
    pooling = pooling_of(pairs, card).of(view)
    task = comparison_task(pairs, card, uncached(), pooling=pooling, seconds=seconds)
    result: PairsResult | None = waiting.result_of(
        task, cost, place="pairs_progress", height=HEIGHT
    )
    return result


# --- A visitor's file of pairs

_COMPARED = "pairs_compared"
"""The session key for a dict: digest of the pairs -> their file's secret name and columns."""
_NONE = "—"


def file_panel(view: ViewState, own: PairSet | None) -> None:
    """Draw the panel to choose a file, or say why the view's collection cannot be compared.

    Args:
        view: the current view.
        own: the compared pairs of the visitor's file, if any.
    """
    is_file = COLLECTION.of(view) == OWN_FILE
    pending = str(session.kept(PENDING) or "")
    secret = pending or (secret_of(FILE.of(view)) if is_file and own is None else "")
    sheet, corpus = table_of(secret), None if own is not None else _asked_corpus(view)
    is_missing = is_file and own is None and sheet is None
    gone = is_missing and (corpus is None or PAIRS.of(view) != "")
    is_open = gone or bool(pending or session.kept(ADDING))
    if sheet is not None and not pending:  # the visit's file, whose pairs are not compared yet
        has_two = guess_columns(sheet).text2 != ""
        is_open = is_open or has_two
        problem_note(view, "pair_columns" if has_two else "pairs", None)
    elif COLLECTION.asked(view) and own is None and not is_open:
        problem_note(view, "pairs", corpus)
    if own is not None:
        st.caption(say("pairs.file.pairs", name=escape(own.name), n=own.n))
    if not is_open:
        return
    with st.container(border=True, key="pairs_own_file"):
        chooser.upload_field(
            say("pairs.file.upload"), key="pairs_upload", on_file=_choose_file, takes_arrays=True
        )
        if sheet is not None:
            _preview(sheet, secret)
        elif gone and (FILE.of(view) or PAIRS.of(view)):
            st.info(
                say("pairs.file.gone", name=escape(FILE_NAME.of(view))),
                icon=":material/upload_file:",
            )
        st.caption(say("pairs.file.formats"))
        st.caption(f"{chooser.UPLOADED} {say('pairs.file.shared')}")
        if not gone:
            st.button(say("pairs.file.keep"), key="pairs_keep_file", on_click=close)


def _asked_corpus(view: ViewState) -> Corpus | None:
    """The collection that a view names, or None if it cannot be read."""
    try:
        return texts_of(view, collection_of(view, PAGE))
    except CorpusError:
        return None


def columns(view: ViewState) -> None:
    """Draw the menus of the compared file's columns, for the visit that uploaded the file."""
    secret, current = (session.kept(_COMPARED) or {}).get(PAIRS.of(view), ("", PairColumns()))
    sheet = table_of(secret)
    if sheet is None:
        st.caption(say("pairs.file.only_chosen"))
        return
    chosen = _pickers(sheet, current, f"pairs_columns_{PAIRS.of(view)[:8]}")
    if chosen != current:
        st.button(say("pairs.file.use_columns"), key="pairs_columns_use", on_click=_use_columns,
                  args=(secret, chosen))  # fmt: skip


def _choose_file(secret: str, sheet: Table) -> None:
    session.keep(PENDING, secret)
    view = session.current()
    if FILE.of(view) and found_again(session.session(), view, sheet):
        note_used(FILE.of(view), secret, *columns_of(view, sheet))
    pair_columns = share_again(session.session(), view, sheet) if PAIRS.of(view) else None
    if pair_columns is not None:
        _remember_columns(PAIRS.of(view), secret, pair_columns)
        close()


def _preview(sheet: Table, secret: str) -> None:
    chooser.file_head(sheet, secret, key="pairs_head", on_file=_choose_file)
    guessed = guess_columns(sheet)
    preselected = guessed
    if chooser.are_marks_refused(secret):
        preselected = with_vectors(sheet, guessed.without_marks())
    chosen = _pickers(sheet, preselected, f"pairs_{secret[-8:]}")
    if guessed.text2:
        marks = guessed.marks(1), guessed.marks(2)
        chooser.guessed_marks(sheet, secret, guessed.text1, marks)
    triplets = _picked_triplets(sheet, chosen, secret)
    if not chosen.text2:
        st.info(say("pairs.file.one_text"), icon=":material/splitscreen:")
    st.button(
        say("pairs.file.use"),
        icon=":material/join_inner:",
        type="primary",
        key="pairs_use",
        disabled=not chosen.text2,
        on_click=_use_columns,
        args=(secret, chosen, triplets),
    )


def _picked_triplets(sheet: Table, chosen: PairColumns, secret: str) -> bool:
    """Draw the guess that a third column has negatives, with an example; return if it is taken."""
    third = negative_column(sheet, chosen)
    if not third:
        return False
    cells = zip(sheet.columns[chosen.text1], sheet.columns[third], strict=True)
    row, texts = next(
        ((i, pair) for i, pair in enumerate(cells, start=1) if all(pair)), (1, ("", ""))
    )
    anchor, negative = (escape(shortened(text or "", 60)) for text in texts)
    about = {"column": escape(named(third)), "row": row, "anchor": anchor, "negative": negative}
    label = say("pairs.file.triplets", **about)
    return st.checkbox(label, value=True, key=f"pairs_triplets_{secret[-8:]}")


def _pickers(sheet: Table, current: PairColumns, key: str) -> PairColumns:
    """Draw the menus of columns with `current` preselected, and return the chosen columns."""
    columns = list(sheet.columns)
    titles = _picked_titles(columns, current, ("text1", "text2", "label", "split"), key)
    meanings = _picked_meanings(sheet, current, titles["label"], key)
    ways = list(WAYS)
    way = st.selectbox(
        say("pairs.file.marked_by"),
        ways,
        ways.index(current.way),
        format_func=table("pairs.ways").__getitem__,
        key=f"{key}_{current.way}_way",  # another menu once the guess is refused
    )
    marks = _picked_titles(columns, current, WAYS[way], key)
    vectors = dict[str, str]()
    if sheet.vectors and way != "none":
        st.caption(say("texts.given.sentences"))
    elif len(sheet.vectors) > 1:
        own = [each.title for each in sheet.vectors]
        has_negatives = bool(negative_column(sheet, PairColumns(**titles)))
        roles = ("vectors1", "vectors2", "vectors3")[: 3 if has_negatives else 2]
        vectors = _picked_titles(own, current, roles, key)
    return PairColumns(**titles, **marks, **vectors, meanings=meanings)


def _picked_meanings(sheet: Table, current: PairColumns, title: str, key: str) -> str:
    """Draw a menu for each label that does not say same or different; return their meanings."""
    cells = label_cells(sheet, title) if title else ()
    names = names_of(cells)
    if not names:
        return ""
    key = f"{key}_{list(sheet.columns).index(title)}"
    chosen = current.meanings if current.label == title else ""
    if can_be_scores(cells):
        kinds = ("score", "names")
        kind = st.selectbox(
            say("pairs.file.label_kind", title=escape(named(title))),
            kinds,
            1 if chosen else 0,
            format_func=table("pairs.kinds").__getitem__,
            key=f"{key}_kind",
        )
        if kind == "score":
            return ""
    meanings = list(MEANINGS)
    columns = st.columns(min(4, len(names)), vertical_alignment="bottom")
    picked = [
        columns[i % len(columns)].selectbox(
            say("pairs.file.meaning", name=escape(named(name))),
            meanings,
            meanings.index(meaning),
            format_func=table("pairs.meanings").__getitem__,
            key=f"{key}_meaning_{i}",
        )
        for i, (name, meaning) in enumerate(
            zip(names, chosen or guess_meanings(names), strict=True)
        )
    ]
    return "" if set(picked) == {LEFT_OUT} else "".join(picked)


def _picked_titles(
    given: Sequence[str], current: PairColumns, roles: tuple[str, ...], key: str
) -> dict[str, str]:
    titles = [_NONE, *given]
    containers = (
        st.columns(min(4, max(2, len(roles))), vertical_alignment="bottom") if roles else []
    )
    chosen_titles = {}
    for i, name in enumerate(roles):
        role, label = CHECKED_ROLES.get(name, name), table("pairs.roles")[name]
        current_title = getattr(current, role)
        position = titles.index(current_title, 1) if current_title else 0
        chosen = containers[i % len(containers)].selectbox(
            label, range(len(titles)), position, format_func=titles.__getitem__, key=f"{key}_{role}"
        )
        chosen_titles[role] = titles[chosen] if chosen else ""
    return chosen_titles


def _use_columns(secret: str, chosen: PairColumns, triplets: bool = True) -> None:
    sheet = table_of(secret)
    if sheet is None:
        session.remember(say("pairs.file.not_in_memory"))
        return
    try:
        digest = share_pairs(session.session(), sheet, chosen, triplets=triplets)
    except CorpusError as exc:  # the current comparison stays
        session.remember(str(exc))
        return
    _remember_columns(digest, secret, chosen)
    close()
    before = session.current()
    pair = PAIR.of(before) if PAIRS.of(before) == digest else PAIR.default
    view = _with_texts(before, secret, sheet, chosen)
    view = PAIRS.put(PAIR.put(COLLECTION.put(view, OWN_FILE), pair), digest)
    if chosen.vectors1:
        titles = [own.title for own in sheet.vectors]
        view = VECTORS.put(view, label_naming(titles, chosen.vectors1))
    session.write(PAIR_COLUMNS.put(view, column_positions(sheet, chosen)))


def _with_texts(view: ViewState, secret: str, sheet: Table, chosen: PairColumns) -> ViewState:
    """The view with the file's first texts on the other text pages, unless it is there already."""
    if secret_of(FILE.of(view)) == secret:
        return view
    labels = [title for title in label_columns(sheet) if title not in chosen.titles[:2]]
    try:
        digest = share(session.session(), sheet, chosen.text1, labels)
    except CorpusError:  # the other pages ask for its columns
        return FILE_NAME.put(FILE.put(view, FILE.default), sheet.name[:80])
    note_used(digest, secret, chosen.text1, tuple(labels))
    return opened(view, sheet, digest, chosen.text1, labels)


def _remember_columns(digest: str, secret: str, chosen: PairColumns) -> None:
    """Remember the file and columns behind a digest, so that this visit can choose others."""
    remembered = {**(session.kept(_COMPARED) or {}), digest: (secret, chosen)}
    session.keep(_COMPARED, dict(list(remembered.items())[-MAX_REMEMBERED_FILES:]))


# --- The picture: one pair, and the whole file beside it

RULER, SCATTER = "pairs_ruler", "pairs_scatter"


def has_cosines(at_layer: PairsAtLayer) -> bool:
    """Return True if any pair has a cosine; otherwise say why none has."""
    if not len(at_layer.compared_pairs):
        st.info(say("pairs.no_cosines"), icon=":material/content_cut:")
    return bool(len(at_layer.compared_pairs))


def picture(view: ViewState, at_layer: PairsAtLayer, container: DeltaGenerator) -> None:
    """Draw one pair with its verdict, and beside it how often verdicts are right.

    With graded scores: every pair by its score and cosine, and beside it one of them.

    Args:
        view: the current view.
        at_layer: the pairs at the selected layer.
        container: for the controls that choose the pair.
    """
    pair = shown_pair(view, at_layer)
    with container:
        _choose_pair(view, at_layer, pair.number)
    key = "reading" if isinstance(at_layer, ScoredPairs) else "reading_whole"
    kit.headline(*at_layer.claims(), sure=at_layer.sure(), key=key)
    left, right = st.columns([5, 3], gap="large")
    if isinstance(at_layer, ScoredPairs):
        with left, st.container(key="pairs_whole", gap="small"):
            _scatter(at_layer, pair.number)
        with right, st.container(key="pairs_pair", gap="small"):
            _texts(pair)
            kit.claims(pair.claims(), key="reading_pair")
            kit.notes(pair.unread_claims(uncached(), view.model))
            _remarks(at_layer)
        return
    with left, st.container(key="pairs_pair", gap="small"):
        _texts(pair)
        kit.chart(pair.figure(), key=RULER, alt=pair.alt())
        kit.claims(pair.claims())
        kit.notes(pair.unread_claims(uncached(), view.model))
    with right, st.container(key="pairs_whole", gap="small"):
        if isinstance(at_layer, LabelledPairs | TripletPairs):
            st.caption(say(at_layer.share_title))
            kit.chart(at_layer.share_figure(), key="pairs_right", alt=at_layer.share_alt())
        _remarks(at_layer)


def _scatter(at_layer: ScoredPairs, pair: int) -> None:
    n, n_drawn = at_layer.correlation.n, len(at_layer.drawn_pairs(pair))
    if n:
        chart, alt = at_layer.scatter(pair), at_layer.scatter_alt()
        kit.chart(chart, key=SCATTER, alt=alt, on_select=_choose_point)
    if n_drawn < n:
        st.caption(say("pairs.scatter.drawn", shown=n_drawn, n=n))


def _texts(pair: OnePair) -> None:
    st.html("".join(f'<p class="use" dir="auto">{text}</p>' for text in pair.texts()))


def _remarks(at_layer: PairsAtLayer) -> None:
    for remark in at_layer.remarks():
        st.caption(escape(remark))


def _choose_point() -> None:
    points = (session.value(SCATTER) or {}).get("selection", {}).get("points", [])
    if points and points[0].get("customdata"):
        _choose(int(points[0]["customdata"][0]))


def _choose_pair(view: ViewState, at_layer: PairsAtLayer, pair: int) -> None:
    control = WRONG.among(at_layer.lists)
    which, lists = control.of(view), list(control.options)
    orders = {name: at_layer.to_read(name) for name in lists}
    firsts = {name: int(order[0]) + 1 if len(order) else 0 for name, order in orders.items()}
    inputs.menu(
        control.label,
        control.options,
        which,
        lambda name: session.write(PAIR.put(WRONG.put(session.current(), name), firsts[name])),
        key=control.key,
        width=260,
    )
    order = orders[which]
    positions = np.flatnonzero(order == pair)
    position = int(positions[0]) if len(positions) else -1
    before, after = (order[i].item() + 1 if 0 <= i < len(order) else 0
                     for i in (position - 1, position + 1))  # fmt: skip
    with st.container(
        horizontal=True, width="content", vertical_alignment="center", gap="small", wrap=False
    ):
        case = "place" if len(positions) else "outside" if len(order) else "none"
        numbers = {"n": len(order), "place": position + 1, "row": int(at_layer.pairs.rows[pair])}
        title = say(f"pairs.pair.{case}", **numbers)
        if case == "none" and at_layer.pairs.vectors is not None:
            title = say("pairs.given.none", row=numbers["row"])
        st.markdown(title, width="content")
        for name, icon, number in (("back", "left", before), ("next", "right", after)):
            st.button(
                say(f"pairs.pair.{name}"),
                icon=f":material/chevron_{icon}:",
                key=f"pairs_{name}",
                type="tertiary",
                disabled=not number,
                on_click=_choose,
                args=(number,),
            )


def _choose(number: int) -> None:
    session.write(PAIR.put(session.current(), number))


def layers(view: ViewState, at_layer: PairsAtLayer) -> None:
    """Draw the bar of layers, or say that the vectors of the file have none."""
    if at_layer.pairs.vectors is None:
        layer_bar(view, at_layer.layers)
    else:
        st.caption(say("texts.given.no_layers"))


# --- The closer looks

CHARTS = {LAYERS: "pairs_chart", COSINES: "pairs_cosines", ROC: "pairs_roc"}
"""The key of each closer look's chart."""


def look_closer(view: ViewState, at_layer: PairsAtLayer) -> None:
    """Draw the chosen closer look."""
    panels = {name: partial(PANELS[name], at_layer) for name in at_layer.closer_looks}
    kit.look_closer(view, PANEL.among(at_layer.closer_looks), panels)


def _layers(at_layer: PairsAtLayer) -> None:
    kit.chart(at_layer.figure(), key=CHARTS[LAYERS], alt=at_layer.alt())


def _similarities(at_layer: PairsAtLayer) -> None:
    similarities = Similarities(at_layer)
    kit.chart(similarities.figure(), key=CHARTS[COSINES], alt=similarities.alt())


def _roc(at_layer: PairsAtLayer) -> None:
    curve = roc_curve_of(at_layer)
    if curve is None:
        st.caption(say("pairs.roc.one_kind"))
        return
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with left:
        kit.chart(curve.figure(), key=CHARTS[ROC], alt=curve.alt())
    with right:
        kit.claims(curve.claims(), key="reading_roc")


def _every_pair(at_layer: PairsAtLayer) -> None:
    titles = ("percentile by score", "percentile by cosine", "percentiles apart")
    columns = dict.fromkeys(titles, st.column_config.NumberColumn(format="%.0f"))
    table = EveryPair(at_layer)
    kit.table(table.rows(), key="pairs_all", exact=["cosine"], height=380, columns=columns)
    kit.notes(table.notes())


PANELS: Mapping[str, Callable[[PairsAtLayer], None]] = {
    LAYERS: _layers,
    COSINES: _similarities,
    ROC: _roc,
    ALL: _every_pair,
}


# --- The tabs under the picture, and the downloads

_FILE = "pairs"


def explain(at_layer: PairsAtLayer, card: ModelCard) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(
        lambda: kit.table(_rows(at_layer), key="pairs_layers", after=1),
        lambda: _under_the_hood(at_layer, card),
        say(at_layer.limits),
    )


def _rows(at_layer: PairsAtLayer) -> Rows:
    if at_layer.pairs.vectors is None:
        return at_layer.rows()
    return [{k: value for k, value in row.items() if k != "layer"} for row in at_layer.rows()]


def _under_the_hood(at_layer: PairsAtLayer, card: ModelCard) -> None:
    every_layer = at_layer.every_layer
    cosine = COSINE_FORMULA if at_layer.pairs.vectors is None else GIVEN_FORMULA
    by_kind = {ScoredPairs: CORRELATION_FORMULA, TripletPairs: TRIPLET_FORMULA}
    shapes = [
        {"array": "cosines (layers, pairs)", "shape": str(every_layer.values.shape)},
        {"array": "texts encoded", "shape": f"{every_layer.n_encoded:,}"},
    ]
    kit.under_the_hood(
        formula=[cosine + by_kind.get(type(at_layer), THRESHOLD_FORMULA)],
        snippet=_scripts(at_layer, card),
        passport=every_layer.passport,
        shapes=kit.shapes(shapes, key="pairs_shapes"),
    )


def _scripts(at_layer: PairsAtLayer, card: ModelCard) -> list[tuple[str, str]]:
    """Scripts for the cosines of the first pairs, and for what follows from all of them."""
    first, passport = at_layer.compared_pairs[:MAX_SNIPPET_PAIRS], at_layer.every_layer.passport
    return [*cosine_scripts(at_layer.pairs, first, card, passport), *at_layer.scripts()]


def downloads(
    view: ViewState, at_layer: PairsAtLayer, card: ModelCard, container: DeltaGenerator
) -> None:
    """Draw the Download menu: every pair with its cosines, and the inputs of the accuracy."""
    passport = at_layer.every_layer.passport
    main = SCATTER if isinstance(at_layer, ScoredPairs) else RULER
    chart = CHARTS.get(PANEL.among(at_layer.closer_looks).of(view), main)
    kit.downloads(
        container,
        export.caption(passport),
        page="pairs",
        reading_key="reading" if main in (chart, SCATTER) else "reading_whole",
        texts="",
        chart=chart,
        name=_FILE,
        snippets=_scripts(at_layer, card),
        files=lambda: kit.download_files(
            _FILE,
            passport,
            rows=lambda: PairRows(restored(view)),
            arrays=lambda: restored(view).arrays(),
        ),
    )
