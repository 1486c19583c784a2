"""The parts of the Why alike? page."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis.baseline import Band, Baseline, kind_of
from components.analysis.ruler import Range, Ruler
from components.content.examples import EXAMPLES
from components.content.language import say
from components.content.wording import escape, two
from components.core import ModelCard
from components.core.errors import BusyError, JobError
from components.core.words import Span
from components.features.why import controls
from components.features.why import work as why_work
from components.features.why.compute import (
    EditsShown,
    Integrated,
    LeftOut,
    SharesShown,
    SwappedIn,
    SwitchedOff,
    shares_at,
)
from components.features.why.controls import DEPTH, LAYER, LOOK, PANEL, SHARES, WHAT, WORD
from components.features.why.english import is_english
from components.features.why.explain import FORMULA, INTEGRATED
from components.features.why.looks import (
    CHART,
    HEIGHT,
    draw_edits,
    draw_integrated,
    draw_left_out,
    draw_shares,
    draw_swapped_in,
    draw_switched_off,
)
from components.features.why.measures import What
from components.features.why.reading import reading_of, score_claim
from components.features.why.score import Missing, Score, SentencePairs, score_of
from components.features.why.snippet import snippet_of
from components.features.why.work import (
    LARGE_SECONDS,
    edits_task,
    passport_of,
    random_pairs_task,
    seconds_of,
    task_of,
)
from components.figures.ruler import ruler_figure
from components.figures.theme import color_of
from components.jobs import Job, Task
from components.ui.frame import navigation
from components.ui.models import runtime, waiting
from components.ui.models.background import jobs, maps
from components.ui.models.services import uncached
from components.ui.state import session
from components.ui.state.controls import Choice
from components.ui.state.view import Sentence, ViewState, from_example, letter
from components.ui.widgets import export, inputs, kit, sentences
from components.ui.widgets.chips import ChipRow, word_chips
from components.ui.widgets.comparison.compute import chosen_span
from components.ui.widgets.comparison.ruler import pair_on_ruler

__all__ = [
    "against",
    "await_pairs",
    "cut_off",
    "downloads",
    "explain",
    "in_words",
    "is_quick",
    "look_closer",
    "marks_of",
    "missing",
    "picture",
    "score_row",
    "shown_of",
    "toolbar",
]


# --- The message if two sentences cannot be compared


def missing(view: ViewState, found: Missing) -> None:
    """The reason why there is no score, and what to do."""
    st.info(escape(found.problem), icon=":material/compare_arrows:")
    if len(view.sentences) == 1:
        _second_field()
    elif WHAT.of(view) == WORD:
        st.button(
            say("why.missing.whole"), icon=":material/notes:", key="why_whole", on_click=_whole
        )


def cut_off(score: Score) -> None:
    """A note on the parts of the sentences that did not fit the model."""
    most = score.card.max_length
    for side in score.sides:
        if side.n_truncated:
            st.caption(say("why.missing.cut", most=most, n=side.n_truncated, letter=side.letter))


def _second_field() -> None:
    field = session.bind("why_another", "")
    st.text_input(
        say("why.missing.second"),
        "",
        key=field,
        max_chars=session.max_characters(),
        placeholder=say("why.missing.type_one"),
        on_change=_add,
        args=(field,),
    )


def _add(field: str) -> None:
    view, text = session.current(), str(session.value(field) or "")
    if session.is_shown(field) and text.strip() and len(view.sentences) == 1:
        session.write(replace(view, sentences=(*view.sentences, Sentence(text))))


def _whole() -> None:
    session.write(WHAT.put(session.current(), WHAT.default))


# --- The score: one large number

_HEIGHT, _ROW = 82, 14  # pixels; the second for each further row
_SCORE_PLACE = "why_pairs"


@dataclass(frozen=True)
class Marks:
    """The yardsticks of a score, if they are known and fit.

    Attributes:
        ranges: the ranges of pairs of known kinds, each at every layer.
        middle: the middle value of a range: "mean" or "median".
        lowest: the lowest end of a range at any layer.
        band: random pairs of the same kind at each layer.
        is_english: True if both texts are English, as those pairs are.
    """

    ranges: tuple[Range, ...] = ()
    middle: str = ""
    lowest: float = 0.0
    band: Band | None = None
    is_english: bool = True


def marks_of(
    score: Score, card: ModelCard, baseline: Baseline | None, ruler: Ruler | None
) -> Marks:
    """The yardsticks of a score: random sentences, or labelled words."""
    if not all(map(is_english, _texts(score))):
        return Marks(is_english=False)
    if score.what == "word":
        return _of_words(score, baseline, ruler)
    band = band_of(card, score.what)
    return Marks() if band is None else _of_band(band, score.layer)


def score_row(score: Score, marks: Marks) -> None:
    """The number, and its ruler."""
    left, right = st.columns([2, 5], gap="medium", vertical_alignment="center")
    with left:
        st.metric(_name(score), two(score.cosine))
    with right:
        scale = (min(-0.2, marks.lowest, float(score.cosines.min())), 1.0)
        height = _HEIGHT + _ROW * max(0, len(marks.ranges) - 1)
        drawn = ruler_figure(
            marks.ranges,
            score.cosine,
            scale=scale,
            middle=marks.middle,
            height=height,
        )
        known = "; ".join(f"{r.kind}: {two(r.low)} to {two(r.high)}" for r in marks.ranges)
        alt = say("why.score.alt", cosine=score.cosine, ranges=known)
        kit.chart(drawn, key="why_ruler", alt=alt.strip())


def against(score: Score, marks: Marks) -> None:
    """The score beside random pairs, in words."""
    st.caption(str(score_claim(score, marks.band, is_english=marks.is_english)))


def band_of(card: ModelCard, what: What) -> Band | None:
    """Random pairs of sentences by the compared vector; None if they are not known yet."""
    pairs = _pairs(card)
    return None if pairs is None else pairs.band(what)


def await_pairs(card: ModelCard) -> None:
    """Say that random pairs are still being measured, and rerun the page when they are ready."""
    job = jobs().get(random_pairs_task(uncached(), card).key)
    if job is not None and job.state not in ("done", "failed"):
        waiting.follow(job, _SCORE_PLACE, cancel="")


def _name(score: Score) -> str:
    first = score.first.encoding.tokens[0]
    return say(f"why.score.name_{score.what}", first=first, layer=score.layer)


def _texts(score: Score) -> list[str]:
    """The texts that must be English, like the samples."""
    given = [side.sentence for side in score.sides]
    return [text for own in given for text in (own.text, own.pair) if text and text.strip()]


def _of_band(band: Band, layer: int) -> Marks:
    low, mean, high = (float(own[layer]) for own in (band.low, band.mean, band.high))
    name = f"random {band.of}"
    return Marks((Range(name, low, mean, high, 0),), "mean", float(band.low.min()), band)


def _of_words(score: Score, baseline: Baseline | None, ruler: Ruler | None) -> Marks:
    n_tokens = [int((side.weights != 0).sum()) for side in score.sides]
    kind = kind_of(*n_tokens)
    band = None if baseline is None else baseline.band("mean", centred=False, kind=kind)
    shown = None
    if ruler is not None:
        words = [side.word for side in score.sides]
        shown = pair_on_ruler(words, score.cosine, ruler, at=(score.layer, "mean"), band=band)
    if shown is not None:
        lowest = min((own.low for own in shown.ranges), default=0.0)
        return Marks(shown.ranges, "median", lowest, band)
    return Marks() if band is None else _of_band(band, score.layer)


def _pairs(card: ModelCard) -> SentencePairs | None:
    """Random pairs of sentences in a model; None during their measurement, or if it failed."""
    task = random_pairs_task(uncached(), card)
    found = jobs().get(task.key)
    if found is None or found.state != "failed":
        try:
            found = jobs().start(task, waiting.me(_SCORE_PLACE))
        except BusyError:  # the page goes without them for now
            return None
    waiting.shortly(found)
    result: SentencePairs | None = found.result() if found.state == "done" else None
    return result


# --- The result of a look, or its progress

_AGAIN = 3


def await_result(task: Task, *, place: str, height: int, what: str) -> Any:
    """Return the result of a task; until then show progress or a button, and return None.

    Args:
        task: the work.
        place: a name for the widgets, and for the place where this visitor waits.
        height: of the picture, in pixels; its space is reserved meanwhile.
        what: the description of the work: "Leaving out each word".
    """
    spot = st.empty()  # in every run, else the browser sees the next element as new
    for _ in range(_AGAIN):
        try:
            job = _job(task, place, what)
        except BusyError as exc:
            _failed(exc, task.key, place)
            return None
        if job is None:
            return None
        if not waiting.shortly(job):
            with spot.container():
                waiting.follow(job, place)
                _room(height)
            return None
        error = job.exception()
        if error is not None and not job.was_stopped:
            _failed(error, task.key, place)
            return None
        try:
            if not job.was_stopped:
                return job.result()
        except JobError:  # it was evicted at this moment
            continue
    return None


def _room(height: int) -> None:
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("why.work.room"), width="content")


def _failed(error: BaseException, key: Hashable, place: str) -> None:
    waiting.failed(error, f"{place}_again", _wanting(key, place))


def _wanting(key: Hashable, place: str) -> Callable[[], None]:
    return partial(session.keep, _wanted(place), key)


def _wanted(place: str) -> str:
    """The session key for the key of the work that the visitor requested with a click."""
    return f"{place}_wanted"


def _job(task: Task, place: str, what: str) -> Job | None:
    """The job that is done, running, cheap or requested; else show its cost and a button."""
    me, key = waiting.me(place), task.key
    known = jobs().get(key)
    state = None if known is None else known.look(me).state
    is_wanted = session.kept(_wanted(place)) == key
    if known is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return known
    is_cheap = task.size <= LARGE_SECONDS and state != "cancelled"
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        session.keep(_wanted(place), None)
        return _begin(task, place)
    said = say("why.work.stopped", what=what)
    if state != "cancelled":
        said = say("why.work.takes", what=what, duration=_duration(task.size))
    st.info(said, icon=":material/timer:")
    st.button(
        say("why.work.begin"),
        icon=":material/play_arrow:",
        type="primary",
        key=f"{place}_begin",
        on_click=_wanting(key, place),
    )
    return None


def _begin(task: Task, place: str) -> Job:
    """Start the work; release an earlier job of this place that nobody else waits for."""
    me, awaited = waiting.me(place), f"{place}_awaited"
    before = session.kept(awaited)
    other = None if before in (None, task.key) else jobs().get(before)
    if other is not None:
        other.drop(me)
    session.keep(awaited, task.key)
    return jobs().start(task, me)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return say("why.work.seconds", n=max(2, round(seconds)))
    return say("why.work.minutes", n=round(seconds / 60))


# --- The picture of the chosen look

Shown = SharesShown | Integrated | LeftOut | SwitchedOff | SwappedIn
_PLACE = "why_progress"
_EDITS = "why_edits"


def shown_of(view: ViewState, score: Score) -> Shown | None:
    """Return the data of the chosen look; until then show progress or a button, and return None."""
    work = task(view, score)
    if work is None:
        return shares_at(score)
    found: Shown | None = await_result(
        work, place=_PLACE, height=HEIGHT, what=say(f"why.work.{LOOK.of(view)}")
    )
    return found


def task(view: ViewState, score: Score) -> Task | None:
    """The work behind the chosen look; None if it takes no time."""
    seconds = seconds_of(view, score, maps().token_seconds(score.card))
    return task_of(view, score, uncached(), seconds=seconds)


def picture(view: ViewState, shown: Shown) -> None:
    """Draw the picture of a look."""
    if isinstance(shown, SharesShown):
        draw_shares(view, shown)
    elif isinstance(shown, Integrated):
        draw_integrated(view, shown)
    elif isinstance(shown, LeftOut):
        draw_left_out(shown)
    elif isinstance(shown, SwitchedOff):
        draw_switched_off(view, shown)
    else:
        draw_swapped_in(shown)


def edits(score: Score, card: ModelCard) -> None:
    """Draw the edits of the first sentence, once they are computed."""
    seconds = 12 * score.first.encoding.n_tokens * maps().token_seconds(card)
    work = edits_task(score, uncached(), seconds=seconds)
    found: EditsShown | None = await_result(
        work, place=_EDITS, height=160, what=say("why.work.edits")
    )
    if found is not None:
        draw_edits(found, band_of(card, found.what))


def is_quick(view: ViewState) -> bool:
    """True if the chosen look takes no time, so that layers can be played."""
    return LOOK.of(view) == SHARES and DEPTH.of(view) == LAYER


def in_words(shown: Shown) -> None:
    """The reading, and in small type what was left out."""
    if is_there(shown):  # otherwise the picture's place says why not
        said = reading_of(shown)
        kit.reading(said.sentences, sure=said.sure)
    for note in getattr(shown, "notes", ()):
        st.caption(escape(note))


def is_there(shown: Shown) -> bool:
    """True if there is a picture, and not only a sentence on why there is none."""
    if isinstance(shown, SwappedIn):
        return shown.problem is None
    return not isinstance(shown, SwitchedOff) or bool(shown.layers)


# --- Below the picture

_FILE = "why-alike"
_EXACT = ("share", "change", "cosine", "share of the way", "start", "end", "remainder")
_MOST_ROWS = 5_000


def look_closer(view: ViewState, score: Score, card: ModelCard) -> None:
    """Edits of the first sentence."""
    kit.look_closer(view, PANEL, {"edits": lambda: edits(score, card)})


def explain(view: ViewState, shown: Shown) -> None:
    """The tabs under the picture."""
    limits = say(f"why.limits.{LOOK.of(view)}")
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(view, shown), limits)


def downloads(view: ViewState, shown: Shown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, again = passport_of(shown), _Again(view)
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: why_work.rows(again.shown()),
            arrays=lambda: why_work.arrays(again.shown()),
        )


@dataclass(frozen=True)
class _Again:
    """The settings that restore what was shown; small, without the data itself."""

    view: ViewState

    def shown(self) -> Shown:
        """The data as it was shown.

        Raises:
            JobError: it was evicted.
        """
        service = runtime.service()
        score = score_of(self.view, service, service.load(self.view.model))
        if isinstance(score, Missing):
            raise JobError(say("why.work.gone"))
        work = task(self.view, score)
        if work is None:
            return shares_at(score)
        job = jobs().get(work.key)
        if job is None or job.state != "done":
            raise JobError(say("why.work.gone"))
        found: Shown = job.result()
        return found


def _numbers(shown: Shown) -> None:
    rows = why_work.rows(shown)
    kit.table(rows[:_MOST_ROWS], key="why_table", exact=_EXACT, height=360)
    if len(rows) > _MOST_ROWS:
        st.caption(say("why.work.rows", most=_MOST_ROWS, n=len(rows)))


def _under_the_hood(view: ViewState, shown: Shown) -> None:
    formula = [FORMULA[LOOK.of(view)]]
    if isinstance(shown, Integrated):
        formula.append(INTEGRATED)
    kit.under_the_hood(
        formula=formula,
        snippet=snippet_of(shown),
        passport=passport_of(shown),
        shapes=kit.shapes(_shapes(shown), key="why_shapes"),
    )


def _shapes(shown: Shown) -> list[dict[str, str]]:
    return [
        {"array": name, "shape": str(own.shape)} for name, own in why_work.arrays(shown).items()
    ]


# --- Above the picture: the two sentences

_OPTIONS: dict[str, tuple[Choice, ...]] = {
    controls.SHARES: (controls.UNIT,),
    controls.LEAVE_OUT: (controls.OUT_OF,),
    controls.SWITCH_OFF: (controls.OFF_TO,),
}
_LONG, _TOOLBAR_HEIGHT = (
    400,
    150,
)  # characters of both sentences from which they scroll, and the height in pixels
_READY = ("python", "bank", "negation", "order")
"""The keys of the examples that are offered here."""


def compared(view: ViewState) -> tuple[int, int]:
    """The two compared sentences; the same one twice if there is no other."""
    letters = [letter(i) for i in range(max(1, len(view.sentences)))]
    first, second = (
        letters.index(control.among(letters).of(view))
        for control in (controls.FIRST, controls.SECOND)
    )
    return first, second


def toolbar(view: ViewState) -> None:
    """The sentences as chips, and the controls."""
    _chips(view)
    look = controls.LOOK.of(view)
    with kit.controls("why"):
        inputs.choice(view, controls.LOOK)
        for control in _of_look(view, look):
            inputs.choice(view, control)
        with st.container(horizontal=True, gap="small", width="content"):
            _menus(view, look)


def _of_look(view: ViewState, look: str) -> tuple[Choice, ...]:
    """The other controls of a look."""
    if look == controls.SHARES:
        return (controls.DEPTH,)
    if look == controls.LEAVE_OUT:
        return (controls.HOW_OUT,)
    if look == controls.SWITCH_OFF:
        return (controls.OVER,) if len(view.sentences) > 2 else ()
    first, second = map(letter, compared(view))
    return (
        controls.INTO.among(
            {
                controls.INTO_FIRST: f"{second} into {first}",
                controls.INTO_SECOND: f"{first} into {second}",
            }
        ),
    )


def _menus(view: ViewState, look: str) -> None:
    what = controls.WHAT.options[controls.WHAT.of(view)]
    if len(view.sentences) > 2:
        what += ": {} and {}".format(*map(letter, compared(view)))
    with st.popover(what, icon=":material/compare_arrows:", type="tertiary", key="why_compared"):
        inputs.choice(view, controls.WHAT)
        if len(view.sentences) > 2:
            letters = [letter(i) for i in range(len(view.sentences))]
            inputs.choice(view, controls.FIRST.among(letters))
            inputs.choice(view, controls.SECOND.among(letters))
        sentences.sentence_editor(view, "sentences", where="page", least=1)
    with (
        st.popover("Examples", icon=":material/lightbulb:", type="tertiary"),
        st.container(key="why_examples", gap="small"),
    ):
        _examples(view)
    if look in _OPTIONS:
        with st.popover("Options", icon=":material/tune:", type="tertiary"):
            for control in _OPTIONS[look]:
                inputs.choice(view, control)


def _examples(view: ViewState) -> None:
    """Ready pairs, opened on this page with the chosen look."""
    for example in EXAMPLES:
        if example.key in _READY:
            ready = from_example(example, view.model)
            opened = _first_two(
                replace(view, sentences=ready.sentences, references=ready.references)
            )
            navigation.link(
                navigation.row(controls.PAGE), opened, label=example.title, icon=example.icon
            )


def _first_two(view: ViewState) -> ViewState:
    for control in (controls.FIRST, controls.SECOND):
        view = control.put(view, control.default)
    return controls.PICKED.put(view, controls.PICKED.default)


def _chips(view: ViewState) -> None:
    """The two sentences; a click on a word makes it the compared one."""
    own = tuple(dict.fromkeys(compared(view))) if view.sentences else ()
    words = controls.WHAT.of(view) == controls.WORD
    texts = [view.sentences[i] for i in own]
    is_long = sum(len(each.text) for each in texts) > _LONG
    with st.container(
        height=_TOOLBAR_HEIGHT if is_long else "content", border=False, key="why_sentences"
    ):
        word_chips(
            [
                ChipRow(letter(i), each.text, color_of(i), chosen_span(each) if words else None)
                for i, each in zip(own, texts, strict=True)
            ],
            key="chips",
            on_pick=lambda row, span: _pick(own[row], span),
            on_edit=lambda row, text: sentences.retype_row(own[row], text),
        )


def _pick(index: int, span: Span) -> None:
    sentences.pick_word(index, span)
    session.write(controls.WHAT.put(session.current(), controls.WORD))
