"""Visitors at once on a real server: each is answered, with what is its own."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urlsplit

import pytest

from tests.load.questions import Question, questions
from tests.load.visitor import PATIENCE, Answer, check_is_here, visit
from tests.support.app_server import ROOT, launch
from tests.support.loop import alone
from tests.support.measured import measured_data

PAGE = "meaning"
TURNS = 3


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("load")
    data = measured_data(tmp_path_factory, folder / "data")
    env = {**os.environ, "CONTEXTLENS_DATA_DIR": str(data)}
    server = launch(ROOT / "app.py", folder / "app.log", env)
    try:
        server.wait()
        alone(until_loaded(server.address))
        yield server.address
    finally:
        server.stop()


def test_visitors_who_ask_at_once_each_see_their_own_texts(address: str) -> None:
    asks = list(islice(questions(), 1, 2 + 2 * TURNS))
    groups = asks[1::2], asks[2::2]
    both = alone(in_company(address, groups, asks[0]))
    for own, answers, foreign in zip(groups, both, reversed(groups), strict=True):
        assert [answer.error for answer in answers] == [""] * TURNS
        for ask, answer in zip(own, answers, strict=True):
            assert not [text for text in ask.texts if text.encode() not in answer.shown]
            others = [text for other in (*foreign, asks[0]) for text in other.texts]
            assert not [text for text in others if text.encode() in answer.shown]


def test_who_leaves_in_the_middle_changes_nothing_for_the_next(address: str) -> None:
    first, second, third = islice(questions(), 100, 103)

    async def leave_and_come_again() -> Answer:
        for ask in (first, second):
            async with visit(address, PAGE) as gone:
                await gone.begin(ask.query)
                gone.leave()
        async with visit(address, PAGE) as visitor:
            return await visitor.ask(third.query, third.texts)

    assert alone(leave_and_come_again()).error == ""


def test_who_takes_no_answer_holds_up_nobody(address: str) -> None:
    """As a phone whose line is gone: it asked, and what comes is not read."""
    slow, asks = list(islice(questions(), 300, 320)), list(islice(questions(), 320, 323))

    async def in_company_of_a_slow_one() -> list[Answer]:
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("localhost", urlsplit(address).port))
        async with visit(address, PAGE, line=line) as idle, visit(address, PAGE) as visitor:
            answers = []
            for n, ask in enumerate(slow):
                await idle.begin(ask.query)
                await asyncio.sleep(0.2)
                if n % 7 == 6:
                    own = asks[n // 7 % len(asks)]
                    answers.append(await visitor.ask(own.query, own.texts))
            idle.leave()
            return answers

    answers = alone(in_company_of_a_slow_one())
    assert [answer.error for answer in answers] == [""] * 2


def test_an_answer_that_lacks_what_was_asked_for_is_an_error(address: str) -> None:
    (ask,) = islice(questions(), 200, 201)

    async def look_for_another_text() -> Answer:
        async with visit(address, PAGE) as visitor:
            return await visitor.ask(ask.query, ["A text that nobody asked for."])

    assert "A text that nobody asked for." in alone(look_for_another_text()).error


def test_another_page_than_the_one_asked_for_is_an_error(address: str) -> None:
    (ask,) = islice(questions(), 210, 211)

    async def look_at_the_first_page_instead() -> list[Answer]:
        async with visit(address, "") as first, visit(address, PAGE) as visitor:
            answers = [await first.ask(""), await visitor.ask(ask.query)]
            visitor.script = first.script
            return [*answers, await visitor.ask(ask.query)]

    first, own, other = alone(look_at_the_first_page_instead())
    assert [first.error, own.error] == ["", ""]
    assert other.error == "the page 'Start here' came, not 'meaning'"


@pytest.mark.parametrize("place", ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"])
def test_visitors_go_to_this_machine(place: str) -> None:
    check_is_here(place)


@pytest.mark.parametrize(
    "place",
    ["http://192.168.1.7:8501", "https://example.com", "http://localhost.example.com", "file:///x"],
)
def test_visitors_go_nowhere_else(place: str) -> None:
    with pytest.raises(ValueError, match="this machine only"):
        check_is_here(place)


def test_no_two_questions_are_alike() -> None:
    asks = list(islice(questions(), 1000))
    assert len({ask.query for ask in asks}) == 1000
    assert len({text for ask in asks for text in ask.texts}) == 2000


async def in_company(
    address: str, groups: Sequence[Sequence[Question]], left: Question
) -> list[list[Answer]]:
    """Everybody's answers, asked at once, while one more asks and leaves in the middle."""

    async def ask_all(own: Sequence[Question]) -> list[Answer]:
        async with visit(address, PAGE, keeps=True) as visitor:
            return [await visitor.ask(ask.query, ask.texts) for ask in own]

    async with visit(address, PAGE) as gone:
        await gone.begin(left.query)
        asking = asyncio.gather(*map(ask_all, groups))
        await asyncio.sleep(0)
        gone.leave()
        return await asking


async def until_loaded(address: str) -> None:
    """The first page of a fresh server only says that its model is being loaded."""
    (first,) = islice(questions(), 1)
    async with asyncio.timeout(2 * PATIENCE), visit(address, PAGE) as visitor:
        while not (answer := await visitor.ask(first.query)).is_settled or answer.error:
            await asyncio.sleep(0.2)
