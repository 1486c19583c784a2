"""An explanation of a score: what the page needs of each of them, and the job that computes one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from contextlens.analysis.shares import Doubles
from contextlens.content.language import Claim, say
from contextlens.content.wording import about_same, leading, number, two
from contextlens.core.schema import Passport
from contextlens.features.why.score import Score
from contextlens.figures.word_rows import WordRows
from contextlens.jobs import Report, Task, page_work
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState

WORK = page_work("looks into a score", "Running the model")
PARTIAL_RUN = 0.6
"""The average share of layers that a change inside the model reruns."""
NOISE = 0.01
"""Changes of a cosine up to this size are not mentioned: two decimals hardly show them."""


@dataclass(frozen=True, eq=False)
class Explanation(Panel, ABC):
    """One explanation of a score. Subclasses hold its numbers.

    Attributes:
        score: the explained score, without hidden states where the result is stored.
    """

    chart_code: ClassVar[str]
    """A line that goes on from the snippet: its numbers as a chart of plotly express, `px`."""

    score: Score

    @abstractmethod
    def title(self) -> Claim:
        """Return the finding in short, as plain text that is not escaped."""

    def in_view(self, view: ViewState) -> Self:  # noqa: ARG002
        """Return the same result with a view's choices of what is drawn."""
        return self

    @property
    def is_empty(self) -> bool:
        """True if there is no chart, but only a message on why there is none."""
        return False

    @property
    def detail(self) -> str:
        """The name of the chart behind the coloured words; "" if the chart is the main picture."""
        return ""

    def word_rows(self) -> WordRows | None:
        """Return both sentences as rows of words with values, if the explanation has them."""
        return None

    def settings(self) -> Mapping[str, Any]:
        """Return the changes made inside the model or the text, for the passport."""
        return {}

    @property
    def passport(self) -> Passport:
        """The passport of the numbers."""
        passport = self.score.passport
        return replace(passport, settings={**passport.settings, **self.settings()})

    def chart_snippet(self) -> str:
        """Return a script that goes on from `snippet` and draws its numbers; "" for none."""
        return "" if self.is_empty else f"import plotly.express as px\n\n{self.chart_code}\n"


def task_of(key: Hashable, stage: str, work: Callable[..., object], seconds: float) -> Task:
    """Return the job of an explanation.

    Args:
        key: what the result depends on; it is equal for equal requests.
        stage: its name on the page while it runs.
        work: computes the result and calls `progress` with the numbers of finished and of all runs.
        seconds: the estimated duration.
    """

    def run(report: Report) -> object:
        report(stage, 0.0)
        return work(progress=lambda done, n: report(stage, done / max(n, 1)))

    return Task(("why", key), WORK, run, size=seconds)


def leading_of(values: Sequence[float], least: float = NOISE) -> list[int]:
    """Return the indices of the highest value above a minimum, and of those about the same.

    These are within `MARGIN` of it too. Values within the noise never lead.
    """
    highest = max(values, default=0.0)
    leaders = [i for i in leading(values) if values[i] > least]
    return [i for i in leaders if about_same((values[i], highest))]


def strongest(changes: Doubles) -> list[int]:
    """Return the flat indices of the changes with the largest absolute values."""
    return leading_of(np.abs(changes).ravel().tolist())


def at_least(value: float) -> str:
    """Return a positive number with two decimals, or "under 0.01"."""
    return two(value) if round(value, 2) > 0 else say("why.shares.under")


def before_and_after(before: float, change: float) -> tuple[str, str, str]:
    """Return a number, the number after a change, and the change, as text.

    They have two decimals, or three if they would not add up.
    """
    for digits in (2, 3):
        first, last, step = (round(n, digits) for n in (before, before + change, change))
        if abs(last - first - step) < 10**-digits / 2:
            break
    form = f".{digits}f"
    return number(first, form), number(last, form), number(step, form)


def direction(change: float) -> Literal["lowers", "raises"]:
    """Return the verb of a change of a cosine."""
    return "lowers" if change < 0 else "raises"
