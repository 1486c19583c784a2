"""Work that a page waits for: begun at once if short, else offered; what stands in meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.jobs import Job, JobKind, Task, Visitor
from contextlens.ui.models import waiting
from contextlens.ui.models.background import jobs
from tests.support.pages import app_settings

SECONDS = 60
SUMS = JobKind("sums", n_at_once=2, large_seconds=5.0)


@pytest.fixture(autouse=True)
def server() -> Iterator[None]:
    with app_settings():
        yield
        jobs().stop(SECONDS)


def waiting_page(task: object) -> None:
    import streamlit as st

    from contextlens.ui.models.waiting import result_of

    result = result_of(task, "A minute.", place="sum", height=100)  # type: ignore[arg-type]
    st.text(f"The result is {result}.")


def page_of(work: Callable[[Any], object], *, size: float) -> AppTest:
    task = Task(("sum",), SUMS, work, size=size)
    return AppTest.from_function(waiting_page, kwargs={"task": task}, default_timeout=SECONDS).run()


@pytest.mark.parametrize("size", [5.0, 5.1])
def test_only_short_work_begins_without_a_click(size: float) -> None:
    page = page_of(lambda _: 3, size=size)
    if size > 5:
        assert [info.value for info in page.info] == ["A minute."]
        assert page.text[0].value == "The result is None."
        page.button(key="sum_begin").click().run()
    assert page.text[0].value == "The result is 3."
    assert not page.button


def test_work_under_way_can_be_cancelled_and_begun_again() -> None:
    go_on = threading.Event()

    def work(report: Callable[..., None]) -> int:
        go_on.wait(SECONDS)
        report("Adding", 0.5)
        return 3

    page = page_of(work, size=1.0)
    assert page.caption[0].value == "The picture appears here as soon as it is ready."
    page.button(key="sum_cancel").click()
    go_on.set()
    page.run()
    assert [info.value for info in page.info] == ["This was stopped. A minute."]
    page.button(key="sum_begin").click().run()
    assert page.text[0].value == "The result is 3."


def test_work_that_no_one_waited_for_is_offered_again() -> None:
    go_on, gone = threading.Event(), Visitor("a closed tab")
    for i in range(SUMS.n_at_once):
        jobs().start(Task(i, SUMS, lambda _: go_on.wait(SECONDS)))
    jobs().start(Task(("sum",), SUMS, lambda _: 3), gone).drop(gone)
    go_on.set()
    page = page_of(lambda _: 3, size=6.0)
    assert [info.value for info in page.info] == ["This was stopped. A minute."]


def test_work_that_fails_is_tried_again_on_request() -> None:
    runs: list[int] = []

    def work(_: object) -> int:
        runs.append(1)
        if len(runs) < 2:
            raise ValueError("typed")
        return 3

    page = page_of(work, size=1.0)
    assert "Something went wrong" in page.error[0].value
    page.run()
    assert page.error
    page.button(key="sum_again").click().run()
    assert page.text[0].value == "The result is 3."


# What stands in for a result that is not there yet


def latest_page(tasks: list[object]) -> None:
    import streamlit as st

    from contextlens.ui.models.waiting import WaitingTexts, latest_of

    latest = latest_of(
        tasks[-1],  # type: ignore[arg-type]
        "A minute.",
        place="sum",
        height=100,
        texts=WaitingTexts("Add", "It appears here.", "It was stopped.", "It was dropped."),
        parts=[("part",)],
        on_stale=lambda is_under_way: st.warning(f"Under way: {is_under_way}"),
    )
    st.text(f"{latest.result}, stale: {latest.is_stale}, part: {latest.follow_rest is not None}")


def page_of_latest(*tasks: Task | None) -> tuple[AppTest, list[Task | None]]:
    shown = list(tasks)
    page = AppTest.from_function(latest_page, kwargs={"tasks": shown}, default_timeout=SECONDS)
    return page.run(), shown


def sum_task(name: str, result: object, *, size: float = 1.0, after: Task | None = None) -> Task:
    return Task((name,), SUMS, lambda *_: result, size=size, after=after)


def test_the_last_result_stays_as_a_stale_one_until_another_is_there() -> None:
    page, shown = page_of_latest(sum_task("first", 3))
    assert page.text[0].value == "3, stale: False, part: False"
    assert not page.warning
    for task in (None, sum_task("second", 4, size=6.0)):
        shown.append(task)
        page.run()
        assert page.text[0].value == "3, stale: True, part: False"
        assert [warning.value for warning in page.warning] == ["Under way: False"]
    page.button(key="sum_begin").click().run()
    assert page.text[0].value == "4, stale: False, part: False"


def test_the_first_part_is_shown_until_all_is_there() -> None:
    go_on = threading.Event()
    part = sum_task("part", 3)
    page, _ = page_of_latest(Task(("all",), SUMS, lambda *_: go_on.wait(SECONDS), after=part))
    assert page.text[0].value == "3, stale: False, part: True"
    go_on.set()
    job = jobs().get(("all",))
    assert job is not None
    assert job.wait(SECONDS)
    page.run()
    assert page.text[0].value == "True, stale: False, part: False"


def test_work_whose_result_was_dropped_begins_again_twice_and_then_asks() -> None:
    page, _ = page_of_latest(sum_task("first", 3))
    for _ in range(2):
        drop_all()
        page.run()
        assert page.text[0].value == "3, stale: False, part: False"
    drop_all()
    page.run()
    assert [info.value for info in page.info] == ["It was dropped. A minute."]
    page.button(key="sum_begin").click().run()
    assert page.text[0].value == "3, stale: False, part: False"


def test_a_measurement_dropped_at_this_moment_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    task, result = sum_task("measured", 3), Job.result
    monkeypatch.setattr(waiting, "current_visitor", lambda place: Visitor("me", place))
    assert waiting.measured(task, "here", lambda job: job.wait(SECONDS)) == 3

    def dropped_first(job: Job, timeout: float | None = None) -> Any:
        drop_all()
        return result(job, timeout)

    monkeypatch.setattr(Job, "result", dropped_first)
    assert waiting.measured(task, "here", lambda job: job.wait(SECONDS)) is None


class Huge:
    nbytes = 10**12


def drop_all() -> None:
    others = JobKind("others", n_at_once=1, keeps=False)
    assert jobs().start(Task("huge", others, lambda _: Huge())).wait(SECONDS)
