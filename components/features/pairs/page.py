"""The parts of the Pairs page."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis.baseline import Baseline
from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import BusyError, CorpusError, JobError
from components.corpus.readers import FORMATS, Sheet
from components.features.pairs import compute, controls
from components.features.pairs.compute import (
    LARGE_SECONDS,
    Again,
    Compared,
    PairRows,
    PairsShown,
    comparison,
    comparison_key,
    layer_rows,
    pair_arrays,
    seconds_of,
)
from components.features.pairs.controls import COLUMNS, FILE, FILE_NAME, SOURCE
from components.features.pairs.explain import FORMULA
from components.features.pairs.figures import (
    accuracy_lines,
    cosine_bands,
    cosine_histogram,
    cosine_scale,
)
from components.features.pairs.files import PairColumns, PairSet, guess_columns, places
from components.features.pairs.reading import notes, pairs_claims, pairs_sure, pairs_title
from components.features.pairs.snippet import SnippetPair, accuracy_snippet, cosines_snippet
from components.jobs import Job
from components.ui.files import chooser
from components.ui.files.uploads import sheet_of
from components.ui.models import waiting
from components.ui.models.background import jobs, maps
from components.ui.models.services import uncached
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit

__all__ = [
    "HEIGHT",
    "compared",
    "downloads",
    "explain",
    "file_panel",
    "has_cosines",
    "in_words",
    "picture",
    "toolbar",
]


# --- A file of pairs of one's own

_PENDING = "pairs_pending"
"""Under which a visit keeps the name of the file that was chosen and is not compared yet."""
_COMPARED = "pairs_compared"
"""Under which a visit keeps, by digest, what it compared: the file and its columns."""
_N_COMPARED = 8
_CHANGING = "pairs_changing"
"""Under which a visit keeps whether another file is being chosen."""
_NONE = "—"
_ENDINGS = tuple(ending for ending in FORMATS if ending != ".txt")
_CHECK = {"check1": "word1", "check2": "word2"}
"""Marked words that are given as well, to be checked, with their columns' roles."""
_ROLES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "word": ("word1", "word2"),
    "ends": ("start1", "end1", "start2", "end2", *_CHECK),
    "span": ("span1", "span2", *_CHECK),
    "index": ("index1", "index2", *_CHECK),
}
"""The columns by which a file says which words are compared, for each way to say it."""


def file_panel(view: ViewState, pairs: PairSet | None) -> None:
    """Where a file is chosen; one line once its pairs are compared.

    Args:
        view: what is chosen.
        pairs: those that are compared, if there are any.
    """
    secret = str(session.kept(_PENDING) or "")
    sheet = sheet_of(secret)
    if pairs is not None and sheet is None and not session.kept(_CHANGING):
        _one_line(pairs)
        return
    with st.container(border=True, key="pairs_own_file"):
        chooser.upload_field(
            say("pairs.file.upload"), key="pairs_upload", on_file=_choose, formats=_ENDINGS
        )
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
            st.button(say("pairs.file.keep"), key="pairs_keep_file", on_click=_closed)


def columns(view: ViewState) -> None:
    """The columns of the file that is compared, for the visit that gave it to choose others."""
    secret, now = (session.kept(_COMPARED) or {}).get(FILE.of(view), ("", PairColumns()))
    sheet = sheet_of(secret)
    if sheet is None:
        st.caption(say("pairs.file.only_chosen"))
        return
    chosen = _pickers(sheet, now, f"pairs_columns_{FILE.of(view)[:8]}")
    if chosen != now:
        st.button(say("pairs.file.use_columns"), key="pairs_columns_use", on_click=_use,
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


def _closed() -> None:
    session.keep(_CHANGING, False)
    session.keep(_PENDING, None)


def _choose(secret: str, sheet: Sheet) -> None:
    session.keep(_PENDING, secret)
    view = session.current()
    if SOURCE.of(view) != "file" or not FILE.of(view):
        return
    again = compute.found_again(session.session(), view, sheet)
    if again is not None:
        _note(FILE.of(view), secret, again)
        _closed()


def _preview(sheet: Sheet, secret: str) -> None:
    chooser.file_head(sheet, key="pairs_head")
    chosen = _pickers(sheet, guess_columns(sheet), f"pairs_{secret[-8:]}")
    st.button(
        say("pairs.file.use"),
        icon=":material/join_inner:",
        type="primary",
        key="pairs_use",
        on_click=_use,
        args=(secret, chosen),
    )


def _pickers(sheet: Sheet, now: PairColumns, key: str) -> PairColumns:
    """The columns that are picked, at first the ones given."""
    picked = _picked(sheet, now, ("text1", "text2", "label", "split"), key)
    ways = list(_ROLES)
    way = st.selectbox(
        say("pairs.file.marked_by"),
        ways,
        ways.index(_way(now)),
        format_func=lambda way: say(f"pairs.ways.{way}"),
        key=f"{key}_way",
    )
    return PairColumns(**picked, **_picked(sheet, now, _ROLES[way], key))


def _way(columns: PairColumns) -> str:
    """How columns mark words: the first way that is used."""
    ways = {"ends": columns.start1, "span": columns.span1, "index": columns.index1}
    usual = "word" if columns.word1 else "none"
    return next((way for way, title in ways.items() if title), usual)


def _picked(sheet: Sheet, now: PairColumns, roles: tuple[str, ...], key: str) -> dict[str, str]:
    titles = [_NONE, *sheet.columns]
    places = st.columns(min(4, max(2, len(roles)))) if roles else []
    found = {}
    for i, name in enumerate(roles):
        role, label = _CHECK.get(name, name), say(f"pairs.roles.{name}")
        before = getattr(now, role)
        at = titles.index(before, 1) if before else 0
        chosen = places[i % len(places)].selectbox(
            label, range(len(titles)), at, format_func=titles.__getitem__, key=f"{key}_{role}"
        )
        found[role] = titles[chosen] if chosen else ""
    return found


def _use(secret: str, chosen: PairColumns) -> None:
    sheet = sheet_of(secret)
    if sheet is None:
        session.remember(say("pairs.file.not_in_memory"))
        return
    try:
        digest = compute.share(session.session(), sheet, chosen)
    except CorpusError as exc:  # what is compared now stays
        session.remember(str(exc))
        return
    _note(digest, secret, chosen)
    _closed()
    view = SOURCE.put(session.current(), "file")
    view = FILE_NAME.put(FILE.put(view, digest), sheet.name[:80])
    session.write(COLUMNS.put(view, places(sheet, chosen)))


def _note(digest: str, secret: str, chosen: PairColumns) -> None:
    """Note whose columns they are that have a digest: this visit may choose others."""
    own = {**(session.kept(_COMPARED) or {}), digest: (secret, chosen)}
    session.keep(_COMPARED, dict(list(own.items())[-_N_COMPARED:]))


# --- The pictures of Pairs and what they say

CHART = "pairs_chart"
HEIGHT = 340


def has_cosines(shown: PairsShown) -> bool:
    """Whether any pair has a cosine; says why none has."""
    if not len(shown.there):
        st.info(say("pairs.no_cosines"), icon=":material/content_cut:")
    return bool(len(shown.there))


def picture(shown: PairsShown, baseline: Baseline | None) -> None:
    """What every layer gives, and beside it the cosines at the one that is looked at."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _layers(shown)
    with right:
        _cosines(shown, baseline)


def in_words(shown: PairsShown) -> None:
    """The reading, and in small type what it rests on."""
    kit.reading(pairs_claims(shown), sure=pairs_sure(shown))
    for note in notes(shown):
        st.caption(escape(note))


def _layers(shown: PairsShown) -> None:
    title, compared = pairs_title(shown), shown.compared
    if shown.scores is not None:
        figure = accuracy_lines(
            compared.layers, shown.scores, row=shown.row, title=title, height=HEIGHT
        )
        alt = "accuracy"
    else:
        own = compared.cosines[:, shown.there]
        figure = cosine_bands(
            compared.layers,
            own,
            row=shown.row,
            title=title,
            scale=cosine_scale(own),
            height=HEIGHT,
        )
        alt = "similarities"
    kit.chart(figure, key=CHART, alt=say(f"pairs.alt.{alt}", title=title))


def _cosines(shown: PairsShown, baseline: Baseline | None) -> None:
    there = shown.there
    band = _random(shown, baseline)
    figure = cosine_histogram(
        shown.cosines[there],
        shown.pairs.gold[there],
        threshold=shown.threshold,
        scale=_scale(shown, baseline),
        band=band,
        title=say("pairs.title.layer", layer=shown.layer),
        height=HEIGHT,
    )
    alt = say("pairs.alt.layer", layer=shown.layer)
    kit.chart(figure, key="pairs_cosines", alt=alt)


def _scale(shown: PairsShown, baseline: Baseline | None) -> tuple[float, float]:
    """For all layers: the pairs' cosines have room, and those of random words."""
    lowest = 1.0
    if baseline is not None and shown.pairs.has_words:
        lowest = float(baseline.band("mean", centred=False).low.min())
    return cosine_scale(shown.compared.cosines, lowest)


def _random(shown: PairsShown, baseline: Baseline | None) -> tuple[float, float] | None:
    """The range of random pairs of words at the layer; there is none for whole texts."""
    if baseline is None or not shown.pairs.has_words:
        return None
    band = baseline.band("mean", centred=False)
    low, high = float(band.low[shown.row]), float(band.high[shown.row])
    return None if np.isnan(low) else (low, high)


# --- What stands around the picture of Pairs

_FILE = "pairs"
_N_SNIPPET = 3


def toolbar(view: ViewState, pairs: PairSet | None) -> None:
    """Which pairs, and of a file that is compared which columns."""
    with kit.controls():
        inputs.choice(view, controls.SOURCE)
        if controls.SOURCE.of(view) == "file" and pairs is not None:
            with st.popover(say("pairs.columns"), icon=":material/view_column:", type="tertiary"):
                columns(view)


def explain(shown: PairsShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), say("pairs.limits"))


def downloads(shown: PairsShown, place: DeltaGenerator) -> None:
    """The page's Download menu: every pair with its cosines, and what accuracy is made of."""
    passport, again = shown.compared.passport, Again(session.current())
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: PairRows(again.shown()),
            arrays=lambda: pair_arrays(again.shown()),
        )


def _numbers(shown: PairsShown) -> None:
    kit.table(layer_rows(shown), key="pairs_layers", after=1)


def _under_the_hood(shown: PairsShown, card: ModelCard) -> None:
    snippets = [(say("pairs.cosines_snippet"), cosines_snippet(card, _first(shown)))]
    if shown.scores is not None:
        snippet = accuracy_snippet(shown.scores.how, file=f"{_FILE}.npz")
        snippets.append((say("pairs.accuracy_snippet"), snippet))
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=snippets,
        passport=shown.compared.passport,
        shapes=kit.shapes(_shapes(shown), key="pairs_shapes"),
    )


def _first(shown: PairsShown) -> list[SnippetPair]:
    pairs = shown.pairs
    return [
        SnippetPair(pairs.text(i, 0), pairs.span(i, 0), pairs.text(i, 1), pairs.span(i, 1))
        for i in shown.there[:_N_SNIPPET].tolist()
    ]


def _shapes(shown: PairsShown) -> list[dict[str, str]]:
    compared = shown.compared
    return [
        {"array": "cosines (layers, pairs)", "shape": str(compared.cosines.shape)},
        {"array": "texts encoded", "shape": f"{compared.n_encoded:,}"},
    ]


# --- What was computed of pairs

_PLACE = "pairs_progress"
_WANTED = "pairs_wanted"
"""Under which a visit keeps the key of the comparison that it asked for with a click."""
_AWAITED = "pairs_awaited"
"""Under which a visit keeps the key of the comparison that it waits for, or waited for last."""


def compared(pairs: PairSet, card: ModelCard, *, height: int) -> Compared | None:
    """What was computed of these pairs; None, with what is to be waited or clicked for, before.

    Args:
        pairs: what is compared.
        card: of the model.
        height: of the picture, in pixels, whose place is kept meanwhile.
    """
    place = st.empty()  # in every run, or what follows would be another element to the browser
    key = comparison_key(pairs, card)
    try:
        job = _job(pairs, card, key)
    except BusyError as exc:
        _failed(exc, key)
        return None
    if job is None:
        return None
    if not waiting.shortly(job):
        with place.container():
            waiting.follow(job, _PLACE)
            _room(height)
        return None
    error = job.exception()
    if error is not None and not job.was_stopped:
        _failed(error, key)
        return None
    try:
        found: Compared | None = None if job.was_stopped else job.result()
    except JobError:  # it had to make room this moment
        found = None
    return compared(pairs, card, height=height) if found is None else found


def _room(height: int) -> None:
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("pairs.waiting.place"), width="content")


def _failed(error: BaseException, key: Hashable) -> None:
    waiting.failed(error, "pairs_again", partial(session.keep, _WANTED, key))


def _job(pairs: PairSet, card: ModelCard, key: Hashable) -> Job | None:
    """The job of a comparison that is done, under way, cheap or asked for; else what it costs."""
    found = jobs().get(key)
    state = None if found is None else found.look(waiting.me(_PLACE)).state
    is_wanted = session.kept(_WANTED) == key
    if found is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return found
    seconds = seconds_of(pairs, card, maps().token_seconds(card))
    is_cheap = seconds <= LARGE_SECONDS and state != "cancelled"
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        session.keep(_WANTED, None)
        return _begin(pairs, card, key, seconds)
    was_stopped = state in {"stopped", "cancelled"}
    cost = say(
        "pairs.waiting.cost",
        n=pairs.n,
        duration=_duration(seconds),
        texts=len(pairs.texts),
        layers=card.n_layers + 1,
    )
    why = say("pairs.waiting.was_stopped") + " " if was_stopped else ""
    st.info(f"{why}{cost}", icon=":material/timer:")
    st.button(
        say("pairs.waiting.compare"),
        icon=":material/play_arrow:",
        type="primary",
        key="pairs_compare",
        on_click=session.keep,
        args=(_WANTED, key),
    )
    return None


def _begin(pairs: PairSet, card: ModelCard, key: Hashable, seconds: float) -> Job:
    """Compare; what this place waited for before, and nobody else does, is let go."""
    me = waiting.me(_PLACE)
    before = session.kept(_AWAITED)
    other = None if before in (None, key) else jobs().get(before)
    if other is not None:
        other.drop(me)
    session.keep(_AWAITED, key)
    return jobs().start(comparison(pairs, card, uncached(), seconds=seconds), me)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return say("pairs.waiting.seconds", n=max(2, round(seconds)))
    return say("pairs.waiting.minutes", n=round(seconds / 60))
