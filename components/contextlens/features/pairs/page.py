"""The parts of the Pairs page."""

from __future__ import annotations

import html
from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.baseline import Baseline
from contextlens.analysis.correlation import Correlation
from contextlens.content.language import duration, say
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.errors import CorpusError
from contextlens.core.words import Span
from contextlens.corpus.readers import Sheet
from contextlens.corpus.sheet import named
from contextlens.features.pairs import compute, controls
from contextlens.features.pairs.compute import (
    PairRows,
    PairsAtLayer,
    PairsResult,
    comparison_task,
    drawn_pairs,
    layer_rows,
    list_of,
    pair_arrays,
    pooling_of,
    restored,
    seconds_of,
    shown_pair,
    standings,
    to_read,
)
from contextlens.features.pairs.controls import (
    COLUMNS,
    FILE,
    FILE_NAME,
    PAIR,
    PANEL,
    SOURCE,
    WRONG,
)
from contextlens.features.pairs.explain import FORMULA, SCORES_FORMULA
from contextlens.features.pairs.figures import DIFFERENT_TINT, SAME_TINT, score_scatter
from contextlens.features.pairs.files import (
    PairColumns,
    PairSet,
    guess_columns,
    label_cells,
    places,
)
from contextlens.features.pairs.labels import (
    LEFT_OUT,
    MEANINGS,
    can_be_scores,
    guess_meanings,
    names_of,
)
from contextlens.features.pairs.looks import CHARTS, HEIGHT, random_range, scale_of
from contextlens.features.pairs.reading import (
    notes,
    pair_claims,
    pairs_claims,
    pairs_sure,
    read_claims,
)
from contextlens.features.pairs.snippet import (
    ACCURACY_PICTURE,
    CORRELATION_PICTURE,
    COSINES_PICTURE,
    SnippetPair,
    accuracy_snippet,
    correlation_snippet,
    cosines_snippet,
    recipe_snippet,
)
from contextlens.figures.ruler import Stretch, line_ruler
from contextlens.figures.theme import plain
from contextlens.maps.vectors import is_recipe, recipe_prompt
from contextlens.ui.files import chooser
from contextlens.ui.files.uploads import sheet_of
from contextlens.ui.models import waiting
from contextlens.ui.models.background import maps
from contextlens.ui.models.services import uncached
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit

# --- A visitor's file of pairs

_PENDING = "pairs_pending"
"""The session key for the secret name of an upload that is not compared yet."""
_COMPARED = "pairs_compared"
"""The session key for a dict: digest of the pairs -> their file's secret name and columns."""
_N_COMPARED = 8
_CHANGING = "pairs_changing"
"""The session key for whether the visitor is choosing another file."""
_NONE = "—"
_CHECKED_ROLES = {"check1": "word1", "check2": "word2"}
"""Menus for a column with the word itself, which checks a position, and the columns' roles."""
_ROLES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "word": ("word1", "word2"),
    "ends": ("start1", "end1", "start2", "end2", *_CHECKED_ROLES),
    "span": ("span1", "span2", *_CHECKED_ROLES),
    "index": ("index1", "index2", *_CHECKED_ROLES),
}
"""The columns that identify the compared words, for each way to mark them."""


def file_panel(view: ViewState, pairs: PairSet | None) -> None:
    """Draw the panel to choose a file, or one line once its pairs are compared.

    Args:
        view: the current view.
        pairs: the compared pairs, if any.
    """
    secret = str(session.kept(_PENDING) or "")
    sheet = sheet_of(secret)
    if pairs is not None and sheet is None and not session.kept(_CHANGING):
        _one_line(pairs)
        return
    with st.container(border=True, key="pairs_own_file"):
        chooser.upload_field(say("pairs.file.upload"), key="pairs_upload", on_file=_choose_file)
        if sheet is not None:
            _preview(sheet, secret)
        elif FILE.of(view) and pairs is None:
            st.info(
                say("pairs.file.gone", name=escape(FILE_NAME.of(view))),
                icon=":material/upload_file:",
            )
        st.caption(say("pairs.file.formats"))
        st.caption(f"{chooser.UPLOADED} {say('pairs.file.shared')}")
        if pairs is not None:
            st.button(say("pairs.file.keep"), key="pairs_keep_file", on_click=_close_panel)


def columns(view: ViewState) -> None:
    """Draw the menus of the compared file's columns, for the visit that uploaded the file."""
    secret, current = (session.kept(_COMPARED) or {}).get(FILE.of(view), ("", PairColumns()))
    sheet = sheet_of(secret)
    if sheet is None:
        st.caption(say("pairs.file.only_chosen"))
        return
    chosen = _pickers(sheet, current, f"pairs_columns_{FILE.of(view)[:8]}")
    if chosen != current:
        st.button(say("pairs.file.use_columns"), key="pairs_columns_use", on_click=_use_columns,
                  args=(secret, chosen))  # fmt: skip


def _one_line(pairs: PairSet) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="pairs_own_file"):
        name = escape(pairs.name)
        st.markdown(say("pairs.file.pairs", name=name, n=pairs.n), width="content")
        st.button(
            say("pairs.file.change"),
            icon=":material/upload_file:",
            key="pairs_change_file",
            on_click=session.keep,
            args=(_CHANGING, True),
        )


def _close_panel() -> None:
    session.keep(_CHANGING, False)
    session.keep(_PENDING, None)


def _choose_file(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    view = session.current()
    if SOURCE.of(view) != "file" or not FILE.of(view):
        return
    pair_columns = compute.reshare(session.session(), view, sheet)
    if pair_columns is not None:
        _remember_columns(FILE.of(view), secret, pair_columns)
        _close_panel()


def _preview(sheet: Sheet, secret: str) -> None:
    chooser.file_head(sheet, secret, key="pairs_head", on_file=_choose_file)
    guessed = guess_columns(sheet)
    shown = guessed.without_marks() if chooser.are_marks_refused(secret) else guessed
    chosen = _pickers(sheet, shown, f"pairs_{secret[-8:]}")
    if guessed.text2:
        marks = guessed.marks(1), guessed.marks(2)
        chooser.guessed_marks(sheet, secret, guessed.text1, marks)
    if not chosen.text2:
        st.info(say("pairs.file.one_text"), icon=":material/splitscreen:")
    st.button(
        say("pairs.file.use"),
        icon=":material/join_inner:",
        type="primary",
        key="pairs_use",
        disabled=not chosen.text2,
        on_click=_use_columns,
        args=(secret, chosen),
    )


def _pickers(sheet: Sheet, current: PairColumns, key: str) -> PairColumns:
    """Draw the menus of columns with `current` preselected, and return the chosen columns."""
    titles = _picked_titles(sheet, current, ("text1", "text2", "label", "split"), key)
    meanings = _picked_meanings(sheet, current, titles["label"], key)
    ways = list(_ROLES)
    way = st.selectbox(
        say("pairs.file.marked_by"),
        ways,
        ways.index(_way(current)),
        format_func=lambda way: say(f"pairs.ways.{way}"),
        key=f"{key}_{_way(current)}_way",  # another menu once the guess is refused
    )
    marks = _picked_titles(sheet, current, _ROLES[way], key)
    return PairColumns(**titles, **marks, meanings=meanings)


def _picked_meanings(sheet: Sheet, current: PairColumns, title: str, key: str) -> str:
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
            format_func=lambda kind: say(f"pairs.kinds.{kind}"),
            key=f"{key}_kind",
        )
        if kind == "score":
            return ""
    meanings, columns = list(MEANINGS), st.columns(min(4, len(names)))
    picked = [
        columns[i % len(columns)].selectbox(
            say("pairs.file.meaning", name=escape(named(name))),
            meanings,
            meanings.index(meaning),
            format_func=lambda meaning: say(f"pairs.meanings.{meaning}"),
            key=f"{key}_meaning_{i}",
        )
        for i, (name, meaning) in enumerate(
            zip(names, chosen or guess_meanings(names), strict=True)
        )
    ]
    return "" if set(picked) == {LEFT_OUT} else "".join(picked)


def _way(columns: PairColumns) -> str:
    """The way in which the columns mark words: a key of `_ROLES`."""
    ways = {"ends": columns.start1, "span": columns.span1, "index": columns.index1}
    default = "word" if columns.word1 else "none"
    return next((way for way, title in ways.items() if title), default)


def _picked_titles(
    sheet: Sheet, current: PairColumns, roles: tuple[str, ...], key: str
) -> dict[str, str]:
    titles = [_NONE, *sheet.columns]
    places = st.columns(min(4, max(2, len(roles)))) if roles else []
    chosen_titles = {}
    for i, name in enumerate(roles):
        role, label = _CHECKED_ROLES.get(name, name), say(f"pairs.roles.{name}")
        current_title = getattr(current, role)
        position = titles.index(current_title, 1) if current_title else 0
        chosen = places[i % len(places)].selectbox(
            label, range(len(titles)), position, format_func=titles.__getitem__, key=f"{key}_{role}"
        )
        chosen_titles[role] = titles[chosen] if chosen else ""
    return chosen_titles


def _use_columns(secret: str, chosen: PairColumns) -> None:
    sheet = sheet_of(secret)
    if sheet is None:
        session.remember(say("pairs.file.not_in_memory"))
        return
    try:
        digest = compute.share(session.session(), sheet, chosen)
    except CorpusError as exc:  # the current comparison stays
        session.remember(str(exc))
        return
    _remember_columns(digest, secret, chosen)
    _close_panel()
    view = SOURCE.put(session.current(), "file")
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    session.write(COLUMNS.put(view, places(sheet, chosen)))


def _remember_columns(digest: str, secret: str, chosen: PairColumns) -> None:
    """Remember the file and columns behind a digest, so that this visit can choose others."""
    remembered = {**(session.kept(_COMPARED) or {}), digest: (secret, chosen)}
    session.keep(_COMPARED, dict(list(remembered.items())[-_N_COMPARED:]))


# --- The picture: one pair, and the whole file beside it

RULER, SCATTER = "pairs_ruler", "pairs_scatter"
_HOVERED = 48  # characters of a text that hovering over its pair shows
_AROUND = 100  # characters shown on either side of a word


def has_cosines(at_layer: PairsAtLayer) -> bool:
    """Return True if any pair has a cosine; otherwise say why none has."""
    if not len(at_layer.compared_pairs):
        st.info(say("pairs.no_cosines"), icon=":material/content_cut:")
    return bool(len(at_layer.compared_pairs))


def picture(
    view: ViewState, at_layer: PairsAtLayer, baseline: Baseline | None, place: DeltaGenerator
) -> None:
    """One pair with its verdict, and beside it how often verdicts are right.

    With graded scores: every pair by its score and cosine, and beside it one of them.

    Args:
        view: the current view.
        at_layer: the pairs at the selected layer.
        baseline: the cosines of random pairs of words, if they are known.
        place: for the controls that choose the pair.
    """
    pair = shown_pair(view, at_layer)
    with place:
        _choose_pair(view, at_layer, pair)
    left, right = st.columns([5, 3], gap="large")
    if at_layer.correlation is not None:
        with left, st.container(key="pairs_whole", gap="small"):
            _scores(at_layer, at_layer.correlation, baseline, pair)
        with right, st.container(key="pairs_pair", gap="small"):
            _texts(at_layer.pairs, pair)
            kit.reading(pair_claims(at_layer, pair), key="reading_pair")
            kit.notes(read_claims(at_layer, pair, uncached(), view.model))
            _notes(at_layer)
        return
    with left, st.container(key="pairs_pair", gap="small"):
        _texts(at_layer.pairs, pair)
        _ruler(at_layer, pair, baseline)
        kit.reading(pair_claims(at_layer, pair))
        kit.notes(read_claims(at_layer, pair, uncached(), view.model))
    with right, st.container(key="pairs_whole", gap="small"):
        _whole_file(at_layer)


def _scores(
    at_layer: PairsAtLayer, correlation: Correlation, baseline: Baseline | None, pair: int
) -> None:
    """The scored pairs by score and cosine, and how closely one follows the other."""
    claims = pairs_claims(at_layer)
    rows, grades = drawn_pairs(at_layer, pair), at_layer.pairs.grades
    if grades is not None and len(rows):
        scored = grades[correlation.rows]
        title = say("pairs.scatter.title", n=correlation.n, layer=at_layer.layer)
        figure = score_scatter(
            grades[rows],
            at_layer.cosines[rows],
            standings(at_layer)[rows],
            numbers=rows + 1,
            texts=[
                "<br>".join(plain(at_layer.pairs.text(i, side), _HOVERED) for side in (0, 1))
                for i in rows.tolist()
            ],
            shown=(float(grades[pair]), float(at_layer.cosines[pair])) if pair in rows else None,
            ends=(float(scored.min()), float(scored.max())),
            scale=scale_of(at_layer, baseline),
            title=title,
            height=HEIGHT,
        )
        finding = str(claims[0]).replace("**", "")
        alt = say("pairs.alt.scatter", layer=at_layer.layer, finding=finding)
        kit.chart(figure, key=SCATTER, alt=alt, on_select=_choose_point)
        if len(rows) < correlation.n:
            st.caption(say("pairs.scatter.drawn", shown=len(rows), n=correlation.n))
    kit.reading(claims, sure=pairs_sure(at_layer))


def _choose_point() -> None:
    points = (session.value(SCATTER) or {}).get("selection", {}).get("points", [])
    if points and points[0].get("customdata"):
        _choose(int(points[0]["customdata"][0]))


def _choose_pair(view: ViewState, at_layer: PairsAtLayer, pair: int) -> None:
    control = list_of(at_layer)
    which, lists = control.of(view), list(control.options)
    orders = {name: to_read(at_layer, name) for name in lists}
    firsts = {name: int(order[0]) + 1 if len(order) else 0 for name, order in orders.items()}
    key = session.bind(control.key, which)
    st.selectbox(
        control.label,
        lists,
        lists.index(which),
        format_func=control.options.__getitem__,
        key=key,
        width=260,
        on_change=_choose_list,
        args=(key, firsts),
    )
    order = orders[which]
    places = np.flatnonzero(order == pair)
    position = int(places[0]) if len(places) else -1
    before, after = (order[i].item() + 1 if 0 <= i < len(order) else 0
                     for i in (position - 1, position + 1))  # fmt: skip
    with st.container(
        horizontal=True, width="content", vertical_alignment="center", gap="small", wrap=False
    ):
        outside = "outside" if len(order) else "none"
        numbers = {"n": len(order), "place": position + 1, "row": int(at_layer.pairs.rows[pair])}
        text = say(f"pairs.pair.{'place' if len(places) else outside}", **numbers)
        st.markdown(text, width="content")
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


def _choose_list(key: str, firsts: Mapping[str, int]) -> None:
    """Write the chosen list, and its first pair, into the view."""
    if session.is_shown(key):
        chosen = str(session.value(key))
        view = WRONG.put(session.current(), chosen)
        session.write(PAIR.put(view, firsts.get(chosen, 0)))


def _texts(pairs: PairSet, pair: int) -> None:
    texts = [marked(pairs.text(pair, side), pairs.span(pair, side)) for side in (0, 1)]
    st.html("".join(f'<p class="use" dir="auto">{text}</p>' for text in texts))


def marked(text: str, span: Span | None) -> str:
    """A text as HTML with its word marked; a long text is cut around the word."""
    start, end = span or (0, 0)
    before, word, after = text[:start], text[start:end], text[end:]
    before = before if len(before) <= _AROUND else f"…{before[-_AROUND:]}"
    most = 2 * _AROUND if span is None else _AROUND
    word, after = (part if len(part) <= n else f"{part[:n]}…" for part, n in
                   ((word, _AROUND), (after, most)))  # fmt: skip
    mark = f"<mark>{html.escape(word)}</mark>" if word else ""
    return f"{html.escape(before)}{mark}{html.escape(after)}"


def _ruler(at_layer: PairsAtLayer, pair: int, baseline: Baseline | None) -> None:
    cosine, cut = float(at_layer.cosines[pair]), at_layer.cut_of(pair)
    scale = scale_of(at_layer, baseline)
    if cut is not None:
        parts = [
            Stretch(say("pairs.pair.different"), scale[0], cut, DIFFERENT_TINT),
            Stretch(say("pairs.pair.same"), cut, scale[1], SAME_TINT),
        ]
    else:
        random = random_range(at_layer, baseline)
        parts = [] if random is None else [Stretch(say("pairs.pair.random"), *random)]
        parts.append(Stretch(say("pairs.pair.identical"), 1.0, 1.0))
    verdict = str(pair_claims(at_layer, pair)[0]).replace("**", "")
    alt = say("pairs.pair.alt", cosine=cosine, low=scale[0], high=scale[1], verdict=verdict)
    kit.chart(line_ruler(parts, cosine, scale=scale, cut=cut), key=RULER, alt=alt)


def _whole_file(at_layer: PairsAtLayer) -> None:
    """The share of right verdicts beside that of guessing, in words too, and notes on the file."""
    scores = at_layer.scores
    if scores is not None:
        share = float(scores.accuracy[at_layer.row])
        guessing = Stretch(say("pairs.whole.guessing", share=scores.majority), 0, scores.majority)
        st.caption(say("pairs.whole.title"))
        figure = line_ruler(
            [guessing], share, scale=(0, 1), label=say("pairs.whole.right", share=share)
        )
        alt = say("pairs.whole.alt", share=share, baseline=scores.majority)
        kit.chart(figure, key="pairs_right", alt=alt)
    kit.reading(pairs_claims(at_layer), sure=pairs_sure(at_layer), key="reading_whole")
    _notes(at_layer)


def _notes(at_layer: PairsAtLayer) -> None:
    for note in notes(at_layer):
        st.caption(escape(note))


# --- The controls and tabs around the picture

_FILE = "pairs"
_N_SNIPPET = 3


def toolbar(view: ViewState, pairs: PairSet | None) -> tuple[DeltaGenerator, DeltaGenerator | None]:
    """The choice of pairs and, for a compared file, of its columns.

    Returns:
        The places for the controls that choose one pair, once pairs are compared, and for the
        choice of vectors, which needs the model.
    """
    vectors = None
    with kit.controls("pairs"):
        inputs.choice(view, controls.SOURCE)
        place = st.container(
            horizontal=True, gap="small", vertical_alignment="bottom", width="content"
        )
        if controls.SOURCE.of(view) == "file" and pairs is not None:
            with st.popover(say("pairs.columns"), icon=":material/view_column:", type="tertiary"):
                columns(view)
                vectors = st.container()
    return place, vectors


def choose_pooling(
    view: ViewState, pairs: PairSet | None, card: ModelCard, place: DeltaGenerator | None
) -> None:
    """The choice of how whole texts become vectors."""
    if place is not None and pairs is not None and not pairs.has_words:
        with place:
            inputs.select(view, pooling_of(pairs, card))


def explain(at_layer: PairsAtLayer, card: ModelCard) -> None:
    """The tabs under the picture."""
    limits = say("pairs.limits" if at_layer.correlation is None else "pairs.scores_limits")
    kit.tabs(lambda: _numbers(at_layer), lambda: _under_the_hood(at_layer, card), limits)


def downloads(
    view: ViewState, at_layer: PairsAtLayer, card: ModelCard, place: DeltaGenerator
) -> None:
    """The page's Download menu: every pair with its cosines, and the inputs of the accuracy."""
    passport = at_layer.result.passport
    main = RULER if at_layer.correlation is None else SCATTER
    chart = CHARTS.get(PANEL.of(view), main)
    with kit.downloads(
        place,
        export.caption(passport),
        page="pairs",
        reading_key="reading" if chart == main or main == SCATTER else "reading_whole",
        texts="",
        chart=chart,
        name=_FILE,
        snippets=_snippets(at_layer, card),
    ):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: PairRows(restored(view)),
            arrays=lambda: pair_arrays(restored(view)),
        )


def _numbers(at_layer: PairsAtLayer) -> None:
    kit.table(layer_rows(at_layer), key="pairs_layers", after=1)


def _under_the_hood(at_layer: PairsAtLayer, card: ModelCard) -> None:
    kit.under_the_hood(
        formula=[FORMULA if at_layer.correlation is None else SCORES_FORMULA],
        snippet=_snippets(at_layer, card),
        passport=at_layer.result.passport,
        shapes=kit.shapes(_shapes(at_layer), key="pairs_shapes"),
    )


def _snippets(at_layer: PairsAtLayer, card: ModelCard) -> list[tuple[str, str]]:
    """Scripts for the cosines and for what follows from them; each chart has no title."""
    snippets = _cosine_snippets(at_layer, card)
    has_layers = len(at_layer.result.layers) > 1  # the model's own recipe has none
    if at_layer.scores is not None:
        snippet = accuracy_snippet(at_layer.scores.how, file=f"{_FILE}.npz")
        snippets.append((say("pairs.accuracy_snippet"), snippet))
        snippets += [("", ACCURACY_PICTURE)] if has_layers else []
    if at_layer.correlation is not None:
        snippet = correlation_snippet(file=f"{_FILE}.npz")
        snippets.append((say("pairs.correlation_snippet"), snippet))
        snippets += [("", CORRELATION_PICTURE)] if has_layers else []
    return snippets


def _cosine_snippets(at_layer: PairsAtLayer, card: ModelCard) -> list[tuple[str, str]]:
    first, pooling = _first(at_layer), str(at_layer.result.passport.settings["pooling"])
    if not is_recipe(pooling) or card.recipe is None:
        snippet = cosines_snippet(card, first)
        return [(say("pairs.cosines_snippet"), snippet), ("", COSINES_PICTURE)]
    texts, prompt = [(p.text1, p.text2) for p in first], recipe_prompt(card, pooling)
    return [(say("pairs.recipe_snippet"), recipe_snippet(card, texts, prompt=prompt))]


def _first(at_layer: PairsAtLayer) -> list[SnippetPair]:
    pairs = at_layer.pairs
    return [
        SnippetPair(pairs.text(i, 0), pairs.span(i, 0), pairs.text(i, 1), pairs.span(i, 1))
        for i in at_layer.compared_pairs[:_N_SNIPPET].tolist()
    ]


def _shapes(at_layer: PairsAtLayer) -> list[dict[str, str]]:
    result = at_layer.result
    return [
        {"array": "cosines (layers, pairs)", "shape": str(result.cosines.shape)},
        {"array": "texts encoded", "shape": f"{result.n_encoded:,}"},
    ]


# --- The results of a comparison


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
    pooling = pooling_of(pairs, card).of(view)
    task = comparison_task(pairs, card, uncached(), pooling=pooling, seconds=seconds)
    result: PairsResult | None = waiting.result_of(
        task, cost, place="pairs_progress", height=HEIGHT
    )
    return result
