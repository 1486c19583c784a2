"""The parts of Start here: the sentences with what moves their word, and cards to guess first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.ruler import Ruler
from contextlens.content.examples import EXAMPLES, Example
from contextlens.content.glossary import unmarked
from contextlens.content.language import claim, say, table
from contextlens.content.wording import escape
from contextlens.core import ModelCard
from contextlens.core.schema import FloatArray
from contextlens.features.home import flows, guesses, reading, tug
from contextlens.features.home.figures import drawing_of
from contextlens.features.home.guesses import Guesses, Judgement
from contextlens.features.home.widgets import Card, Picture, guess_cards
from contextlens.features.home.widgets import story as story_component
from contextlens.jobs import Task
from contextlens.ui.models import runtime, waiting
from contextlens.ui.models.background import jobs
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import of_example
from contextlens.ui.state.services import uncached
from contextlens.ui.state.view import ViewState, from_example
from contextlens.ui.widgets import export, kit, sentences
from contextlens.ui.widgets.comparison.answer import Answer, evidence, of_senses, source
from contextlens.ui.widgets.comparison.answer import answer as answer_of
from contextlens.ui.widgets.comparison.compute import Portrait, meaning_of, portrait_of
from contextlens.ui.widgets.comparison.ruler import RulerShown, ruler_of
from contextlens.ui.widgets.comparison.senses import NamedUses, covered_word, named_uses
from contextlens.ui.widgets.layer_bar import layer_bar

_GUESSES = "home_guesses"
_PLAY = "home_play"  # the number of plays so far, and whether the next run begins one
_ARCS = "home_arcs"
_EXAMPLE = "home_example"
_AWAITED = "home_awaited"
"""The session key for whether the cards with the model's answers are still to come."""


# --- This app and its terms


def basics() -> None:
    """Draw what this app is for, and the meaning of token, vector, layer and similarity."""
    st.caption(say("home.intro"))
    texts = table("home.basics").values()
    for column, text in zip(st.columns(len(texts)), texts, strict=True):
        column.caption(text)


# --- Guess first


def are_cards_awaited(view: ViewState) -> bool:
    """Return True from the time that the model loads until its answers are on the cards."""
    return bool(session.kept(_AWAITED)) or not runtime.is_loaded(view.model)


def cards(view: ViewState, card: ModelCard | None) -> None:
    """Draw the examples as cards that ask before they show the model's answer.

    Args:
        view: the current view.
        card: its model, or None while that is not loaded.
    """
    session.keep(_AWAITED, card is None)
    seen: Guesses = session.kept(_GUESSES) or {}
    current = _shown_example(view)
    judgements = {}
    if card is not None:
        judgements = {
            example.key: guesses.judgement_of(example, runtime.service(), card)
            for example in EXAMPLES
            if example.key in seen or example is current
        }
    drawn = [
        _card(example, judgements.get(example.key), seen.get(example.key), example is current)
        for example in EXAMPLES
    ]
    drawn.append(Card("", say("home.cards.own"), says=say("home.cards.own_how")))
    guess_cards(
        drawn,
        _title(seen if card is not None else {}, judgements),
        say("home.cards.show"),
        key="guesses" if card else "guesses_waiting",
        on_pick=_open,
    )


def _card(
    example: Example, judgement: Judgement | None, guess: int | None, is_current: bool
) -> Card:
    question = example.question
    if judgement is None:
        return Card(example.key, example.title, is_current, question.text, question.options)
    said = [guesses.reply(guess, judgement), guesses.reason(example, judgement)]
    return Card(
        example.key,
        example.title,
        is_current,
        verdict=str(guesses.verdict(judgement)),
        sign=judgement.answer.value,
        says=" ".join(str(each) for each in said if each) if is_current else "",
    )


def _title(seen: Guesses, judgements: dict[str, Judgement]) -> str:
    score = guesses.score(seen, judgements)
    if not score.n:
        return say("home.cards.title")
    return say("home.cards.score", n=score.n, visitor=score.visitor, model=score.model)


def _shown_example(view: ViewState) -> Example | None:
    for example in EXAMPLES:
        opened = from_example(example, view.model)
        if (opened.sentences, opened.references) == (view.sentences, view.references):
            return example
    return None


def _open(key: str, option: int | None) -> None:
    """Open an example and play it, with what was guessed of it; a first answer counts."""
    view = session.current()
    seen = dict(session.kept(_GUESSES) or {})
    current = _shown_example(view)
    if current is not None and current.key != key:
        seen.setdefault(current.key, None)  # its answer was on the page
    seen.setdefault(key, option)
    session.keep(_GUESSES, seen)
    n_plays, _ = session.kept(_PLAY) or (0, False)
    session.keep(_PLAY, (n_plays + 1, True))
    example = next(example for example in EXAMPLES if example.key == key)
    session.write(of_example(example, view))


def _play_now() -> int:
    """Return the number of the play that this run begins; 0 for none."""
    n_plays, is_new = session.kept(_PLAY) or (0, False)
    session.keep(_PLAY, (n_plays, False))
    return n_plays if is_new else 0


# --- The words of the view


def story(
    view: ViewState,
    portrait: Portrait,
    card: ModelCard,
    ruler: Ruler | None,
    answer: Answer | None,
    uses: NamedUses | None,
    own: Task | None,
) -> Picture:
    """Draw the picture and what is said below it; return the picture."""
    rows = flows.rows_of(portrait.meaning)
    task = flows.task_of(portrait.meaning, rows, uncached(), card)
    changes: list[FloatArray] | None = waiting.measured(task, _ARCS)
    picture = _picture_of(portrait, rows, changes, uses)
    says = {
        "start": say(f"home.tug.start.{'alone' if len(rows) == 1 else 'shared'}"),
        "line": say(f"home.tug.{'senses' if uses is not None else 'references'}"),
        "alike": say("home.alike.title"),
        "unrelated": say("home.alike.unrelated"),
    }
    with st.container(key="drawn_two" if len(picture.rows) > 1 else "drawn_one"):
        story_component(picture, says, alt=reading.in_words(picture), key="home_story")
    layer_bar(view, picture.layers, followed=True, start=_play_now())
    _words(portrait, picture, answer, uses, ruler_of(portrait, ruler))
    if changes is None:
        _await_arcs(task)
    is_pending = answer is not None and answer.key == "answer.pending"
    runtime.await_measures(card, covered_word(portrait.comparison), own, is_pending=is_pending)
    return picture


def _picture_of(
    portrait: Portrait,
    rows: Sequence[flows.Row],
    changes: Sequence[FloatArray] | None,
    uses: NamedUses | None,
) -> Picture:
    comparison = portrait.comparison
    pairs = reading.drawn_pairs(comparison)
    band = portrait.meaning.band(pairs[0]) if pairs else None
    items = comparison.items
    return Picture(
        layers=comparison.layers,
        layer=portrait.layer,
        rows=rows,
        changes=changes,
        tug=tug.of_references(comparison) if uses is None else tug.of_senses(uses),
        alike=[(items[p.first], items[p.second], comparison.along(p)) for p in pairs],
        random=None if band is None else band.mean,
    )


def example_of(view: ViewState, card: ModelCard) -> tuple[str, str, str] | None:
    """Return the answer of a view, what its arcs show, and its picture; None until all are there.

    Args:
        view: a view of two or more sentences.
        card: its model.
    """
    of, example = session.kept(_EXAMPLE) or (None, None)
    if of == (view, card.checksum):
        return example  # which takes as long as the rest of the page
    baseline = runtime.baseline(card)
    meaning = meaning_of(view, runtime.service(), card, baseline)
    portrait = portrait_of(meaning, view)
    if baseline is None or portrait is None:
        return None
    rows = flows.rows_of(meaning)
    task = flows.task_of(meaning, rows, uncached(), card)
    changes: list[FloatArray] | None = waiting.measured(task, _ARCS)
    word = covered_word(portrait.comparison)
    uses = named_uses(portrait, runtime.sense_names(card, baseline, word))
    if changes is None or runtime.are_senses_pending(card, word):
        return None
    picture = _picture_of(portrait, rows, changes, uses)
    answer, arcs = answer_of(portrait, uses), claim("home.flow.about", word=escape(rows[0].name))
    example = unmarked(str(answer)), str(arcs), drawing_of(picture)
    session.keep(_EXAMPLE, ((view, card.checksum), example))
    return example


def _await_arcs(task: Task) -> None:
    """Draw the progress of the arcs, which may be there by now, and run again when they are."""
    job = jobs().get(task.key)
    if job is not None and job.state != "failed":
        waiting.follow(job, _ARCS, cancel="")


def headline(
    view: ViewState, portrait: Portrait, answer: Answer | None, uses: NamedUses | None
) -> None:
    """Draw the answer, or what is known of one word, what arcs show, and fields to decide."""
    items = (item for item in portrait.comparison.items if item.role == "sentence")
    names = list(dict.fromkeys(flows.named(item.word) for item in items))
    about = "home.flow.about" if len(names) == 1 else "home.flow.about_several"
    one = () if uses is None else of_senses(uses)
    found = answer or (Answer(one) if one else reading.of_one(portrait)[0])
    arcs = claim(about, word=escape(names[0]))
    kit.headline(*filter(None, (found, source(uses), arcs)))
    if answer is not None and answer.asks:
        sentences.meaning_fields(view, answer.suggestions, where="home")


def _words(
    portrait: Portrait,
    picture: Picture,
    answer: Answer | None,
    uses: NamedUses | None,
    on_ruler: RulerShown | None,
) -> None:
    """Draw what is left out and, folded, how sure the answer is."""
    pairs = portrait.comparison.pairs("sentences")
    sure: list[object] = [claim("home.flow.sure")]
    if pairs and not portrait.comparison.has_unknown(pairs[0]):
        sure += evidence(portrait, uses)
        if uses is None or answer is None or answer.asks:  # else the senses say more
            sure.append(reading.how_much(portrait, pairs[0], on_ruler))
    kit.claims(flows.cut_note(picture.rows), sure=sure, key="reading_home")


def downloads(
    portrait: Portrait,
    picture: Picture,
    container: DeltaGenerator,
    snippets: Sequence[tuple[str, str]],
    files: Callable[[], None],
) -> None:
    """Draw the page's Download menu.

    Args:
        portrait: what the page shows.
        picture: its picture.
        container: where the menu is drawn.
        snippets: see `kit.downloads`.
        files: draws the buttons for the numbers.
    """
    meaning = portrait.meaning
    kit.downloads(
        container,
        f"{meaning.key}\n{export.caption(meaning.passport)}",
        page="home",
        name="start-here",
        svg=drawing_of(picture),
        snippets=snippets,
        unused=("lines",),
        reading_key="headline",
        files=files,
    )


def open_meaning(view: ViewState) -> None:
    """Draw a link to the Meaning page, which has all lines and numbers."""
    navigation.link(navigation.row("meaning"), view, label=say("home.more"))
