"""The sentences of the probe; numbers are compared as computed, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from contextlens.analysis.separation import RISK, wilson
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted
from contextlens.core.schema import IntArray
from contextlens.features.probe.compute import LabelledTexts, Tried
from contextlens.features.probe.grades import GradeResult, GradeScore
from contextlens.features.probe.measures import ProbeResult, Score

_FEW = 100  # tested texts: the 95% interval of an accuracy of 80% is then 16 points wide
_UNBALANCED = 1.5  # times the share that each label would have if all were equally common


def probe_claims(labelled: LabelledTexts, result: ProbeResult) -> list[Claim]:
    """How well the best vectors tell the labels apart, compared with simpler ways."""
    senses = labelled.trial.senses
    names = {"first": quoted(senses[0]), "second": quoted(senses[1])}
    several = {"n": len(senses), "column": quoted(labelled.column)}
    is_two = len(senses) == 2
    labels = say("probe.two_labels", **names) if is_two else say("probe.all_labels", **several)
    commonest = quoted(labelled.trial.most_frequent)
    numbers = {"labels": labels, "n": result.best.n, "commonest": commonest}
    return [claim(f"probe.claim.{result.verdict}", **numbers, **_numbers(result))]


def probe_title(result: ProbeResult) -> str:
    """The finding in a few words, for the picture."""
    return say(f"probe.title.{result.verdict}", **_numbers(result))


def _numbers(result: ProbeResult) -> dict[str, Any]:
    numbers = {"accuracy": result.best.accuracy, "words": result.words.accuracy}
    return {**_names(result.best), **numbers, "guessing": result.guessing}


def _names(best: Score | GradeScore) -> dict[str, str]:
    return {
        "vectors": say(f"probe.vectors.{best.name}", layer=best.layer),
        "short": say(f"probe.short.{best.name}", layer=best.layer),
    }


def probe_sure(labelled: LabelledTexts, result: ProbeResult) -> list[Claim]:
    """How the test was made, and what else belongs to its numbers."""
    best, trial, n_choices = result.best, labelled.trial, len(result.scores)
    low, high = wilson(best.right, best.n, risk=RISK / n_choices)
    learned = int(np.count_nonzero(trial.teaches))
    return [
        claim("probe.sure.interval", low=low, high=high, choices=n_choices),
        claim(f"probe.sure.{trial.how}", learned=learned, n=best.n, n_folds=trial.n_folds),
        claim("probe.sure.f1", f1=best.macro_f1),
        *(claim(f"probe.sure.{s.name}", right=s.accuracy) for s in result.contextless),
        claim("probe.sure.shuffled", shuffled=result.shuffled.accuracy),
    ]


def grade_claims(labelled: LabelledTexts, result: GradeResult) -> list[Claim]:
    """How well the best vectors predict the grades, compared with simpler ways."""
    numbers = {"column": quoted(labelled.column), "n": result.best.n, **_grade_numbers(result)}
    return [claim(f"probe.grades.claim.{result.verdict}", **numbers)]


def grade_title(result: GradeResult) -> str:
    """The finding in a few words, for the picture."""
    return say(f"probe.grades.title.{result.verdict}", **_grade_numbers(result))


def _grade_numbers(result: GradeResult) -> dict[str, Any]:
    numbers = {"spearman": result.best.value, "words": result.words.value}
    return {**_names(result.best), **numbers}


def grade_sure(labelled: LabelledTexts, result: GradeResult) -> list[Claim]:
    """How the test of grades was made, and what else belongs to its numbers."""
    trial, (low, high) = labelled.trial, result.wide_interval
    learned = int(np.count_nonzero(trial.teaches))
    return [
        claim("probe.grades.sure.interval", low=low, high=high, choices=len(result.scores)),
        claim(f"probe.sure.{trial.how}", learned=learned, n=result.best.n, n_folds=trial.n_folds),
        *(claim(f"probe.grades.sure.{s.name}", spearman=s.value) for s in result.contextless),
        claim("probe.grades.sure.shuffled", shuffled=result.shuffled.value),
    ]


def probe_notes(labelled: LabelledTexts, result: ProbeResult | GradeResult) -> list[Claim]:
    """What makes the test less telling, a line each."""
    trial, n = labelled.trial, result.best.n
    counts = {
        "few": n if n < _FEW else 0,
        "copies": result.n_copies[0],
        "near_copies": result.n_copies[1],
        "left_out_labels": len(trial.left_out),
        "left_out": labelled.n_left_out,
        "cut": result.n_cut,
    }
    notes = [claim(f"probe.notes.{name}", n=count) for name, count in counts.items() if count]
    if labelled.grades is None and trial.chance > max(0.5, _UNBALANCED / len(trial.senses)):
        numbers = {"commonest": quoted(trial.most_frequent), "share": trial.chance}
        notes.append(claim("probe.notes.unbalanced", **numbers))
    return notes


def mixup_claims(confusion: IntArray, senses: Sequence[str]) -> list[Claim]:
    """The label that is most often taken for another one."""
    wrong = confusion * (1 - np.eye(len(confusion), dtype=np.int64))
    if not wrong.any():
        return [claim("probe.mixups.none")]
    i, j = divmod(int(wrong.argmax()), len(wrong))
    numbers = {"n": int(wrong[i, j]), "of": int(confusion[i].sum())}
    names = {"label": quoted(senses[i]), "other": quoted(senses[j])}
    return [claim("probe.mixups.most_often", **numbers, **names)]


def tried_claims(attempt: Tried, result: ProbeResult | GradeResult) -> list[Claim]:
    """The label or the grade of a sentence; none if these vectors cannot tell."""
    if result.verdict == "unclear":
        return [claim("probe.try.unclear")]
    if not attempt.chances:
        return [claim("probe.try.grade", grade=attempt.grade)]
    label, chance = attempt.chances[0]
    return [claim("probe.try.label", label=quoted(label), chance=chance)]


def curve_claims(result: ProbeResult) -> list[Claim]:
    """Whether learning from twice as many texts has helped."""
    if not result.curve:
        return [claim("probe.curve.short")]
    n, half = result.curve[-1]
    low, high = half.interval
    best = result.best.accuracy
    verdict = "helps" if best > high else "hurts" if best < low else "unclear"
    return [claim(f"probe.curve.{verdict}", n=n, half=half.accuracy, best=best)]


def calibration_claims(result: ProbeResult) -> list[Claim]:
    """Whether the probabilities fit the share that is right."""
    low, high = result.best.interval
    sure, right = float(result.best.chances.mean()), result.best.accuracy
    verdict = "too_sure" if sure > high else "too_shy" if sure < low else "fits"
    return [claim(f"probe.calibration.{verdict}", sure=sure, right=right)]
