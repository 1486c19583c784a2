"""The closer looks of the probe: mistakes, mix-ups, a sentence, fewer texts, calibration."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, quoted
from contextlens.core import ModelCard
from contextlens.features.probe.compute import LabelledTexts, mistake_rows, tried
from contextlens.features.probe.controls import SECTION, SENTENCE
from contextlens.features.probe.figures import calibration_chart, learning_chart
from contextlens.features.probe.grades import GradeResult, largest_errors
from contextlens.features.probe.measures import ProbeResult, calibration_of, confusion_of
from contextlens.features.probe.reading import (
    calibration_claims,
    curve_claims,
    mixup_claims,
    tried_claims,
)
from contextlens.figures.confusion import MAX_CONFUSED, confusion_heatmap
from contextlens.ui.models import runtime
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit

_MOST_MISTAKES = 100
_MOST_CHANCES = 6


def look_closer(
    view: ViewState, labelled: LabelledTexts, result: ProbeResult | GradeResult, card: ModelCard
) -> None:
    """Draw the chosen closer look; for grades, there are two."""
    attempt = partial(_try, view, labelled, result, card)
    if isinstance(result, GradeResult):
        few = {name: SECTION.options[name] for name in ("mistakes", "try")}
        errors = partial(_errors, labelled, result)
        kit.look_closer(view, SECTION.among(few), {"mistakes": errors, "try": attempt})
        return
    looks = {
        "mistakes": partial(_mistakes, labelled, result),
        "mixups": partial(_mixups, labelled, result),
        "try": attempt,
        "curve": partial(_curve, labelled, result),
        "calibration": partial(_calibration, labelled, result),
    }
    kit.look_closer(view, SECTION, looks)


def _errors(labelled: LabelledTexts, result: GradeResult) -> None:
    grades = np.asarray(labelled.grades)
    rows = largest_errors(labelled.texts, grades, labelled.trial, result.best, _MOST_MISTAKES)
    st.markdown(say("probe.grades.errors", shown=len(rows), n=result.best.n))
    kit.table(rows, key="probe_errors", exact=["predicted"], height=300)


def _mistakes(labelled: LabelledTexts, result: ProbeResult) -> None:
    rows = mistake_rows(labelled, result, _MOST_MISTAKES)
    n = result.best.n - result.best.right
    st.markdown(say("probe.mistakes", shown=len(rows), n=n) if rows else say("probe.no_mistake"))
    if rows:
        kit.table(rows, key="probe_mistakes", exact=["probability"], height=300)


def _mixups(labelled: LabelledTexts, result: ProbeResult) -> None:
    senses = labelled.trial.senses
    confusion = confusion_of(result.best, labelled.trial)
    title = say("probe.mixups.title", n=result.best.n)
    figure = confusion_heatmap(confusion, senses, kind="label", title=title)
    kit.chart(figure, key="probe_mixups", alt=say("probe.mixups.alt", title=title))
    kit.reading(mixup_claims(confusion, senses), key="reading_mixups")
    if len(senses) > MAX_CONFUSED:
        st.caption(say("probe.mixups.most", most=MAX_CONFUSED, n=len(senses)))


def _try(
    view: ViewState,
    labelled: LabelledTexts,
    result: ProbeResult | GradeResult,
    card: ModelCard,
) -> None:
    sentence = inputs.text(view, SENTENCE).strip()
    if not sentence:
        st.caption(say("probe.try.empty"))
        return
    attempt = tried(sentence, labelled, result, card, runtime.service())
    kit.reading(tried_claims(attempt, result), key="reading_try")
    if attempt.chances:
        name, number = say("probe.try.column_label"), say("probe.try.column_chance")
        rows = [{name: label, number: chance} for label, chance in attempt.chances[:_MOST_CHANCES]]
        bar = st.column_config.ProgressColumn(number, min_value=0, max_value=1, format="percent")
        kit.table(rows, key="probe_chances", columns={number: bar})
    st.markdown(say("probe.try.nearest"))
    for text, label, cosine in attempt.nearest:
        line = say("probe.try.text", text=quoted(text, 200), label=escape(label), cosine=cosine)
        st.markdown(line)


def _curve(labelled: LabelledTexts, result: ProbeResult) -> None:
    title = say("probe.curve.title")
    chart = learning_chart(labelled, result, title=title)
    kit.chart(chart, key="probe_curve", alt=say("probe.curve.alt", title=title))
    kit.reading(curve_claims(result), key="reading_curve")


def _calibration(labelled: LabelledTexts, result: ProbeResult) -> None:
    groups = calibration_of(result.best, labelled.trial)
    title = say("probe.calibration.title")
    chart = calibration_chart(groups, title=title)
    kit.chart(chart, key="probe_calibration", alt=say("probe.calibration.alt", title=title))
    kit.reading(calibration_claims(result), key="reading_calibration")
