"""Two real processes of the app behind the real proxy, as `make serve-app` starts them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import psutil
import pytest

from contextlens.ui.processes.__main__ import COOKIE
from tests.deploy.proxied import get
from tests.load.questions import Question, questions
from tests.load.visitor import Answer, visit
from tests.support.app_server import ROOT
from tests.support.loop import alone
from tests.support.measured import measured_data
from tests.support.ports import free_port

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PAGE = "meaning"
SECONDS = 240.0


@dataclass(frozen=True)
class Served:
    """A running `make serve-app`."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    @property
    def ports(self) -> tuple[int, int]:
        """Those of the app's two processes."""
        port = int(self.address.rpartition(":")[2])
        return port + 1, port + 2

    @property
    def cookies(self) -> tuple[str, str]:
        """The cookies of the processes."""
        return f"{COOKIE}={self.ports[0]}", f"{COOKIE}={self.ports[1]}"

    def app(self, port: int) -> psutil.Process:
        """The process that listens on a port."""
        for child in psutil.Process(self.process.pid).children(recursive=True):
            if str(port) in child.cmdline():
                return child
        raise AssertionError(f"no process listens on {port}:\n{self.logged()}")

    def until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not is_so():
            is_late = time.monotonic() > deadline or self.process.poll() is not None
            assert not is_late, self.logged()[-8000:]
            time.sleep(0.05)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    data = measured_data(tmp_path_factory, folder / "data")
    own = {"CONTEXTLENS_DATA_DIR": str(data), "CONTEXTLENS_MAX_UPLOAD_MB": "1",
           "TMPDIR": tempfile.gettempdir()}  # fmt: skip
    port, log = free_port(3), folder / "serve.log"
    command = [sys.executable, "-m", "contextlens.ui.processes"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--processes", "2", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    found = Served(f"http://localhost:{port}", process, log)
    try:
        found.until(lambda: found.logged().count("Contextlens begins") == 2)
        alone(_loaded(found))
        yield found
    finally:
        process.terminate()
        process.wait(60)


async def _loaded(served: Served) -> None:
    """The first page of a fresh process only says that its model is being loaded."""
    for cookie in served.cookies:
        await asked(served, next(questions()), cookie)


async def asked(served: Served, question: Question, cookie: str) -> Answer:
    """The answer to a question; the page is reloaded until it has all it needs."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                async with visit(served.address, PAGE, cookie=cookie) as own:
                    answer = await own.ask(question.query, question.texts)
            except OSError:
                continue
            if answer.is_settled and not answer.error:
                return answer
            await asyncio.sleep(0.1)


def asks(first: int, n: int) -> list[Question]:
    return list(islice(questions(), first, first + n))


def test_two_visitors_are_spread_and_each_works_in_its_own_process(served: Served) -> None:
    firsts = [get(f"{served.address}/{PAGE}") for _ in range(2)]
    cookies = [first.cookie for first in firsts]
    assert sorted(cookies) == list(served.cookies)
    served.until(lambda: connections(served) == [0, 0])  # the requests above closed theirs

    async def at_once() -> list[Answer]:
        async with AsyncExitStack() as stack:
            both = [await stack.enter_async_context(visit(served.address, PAGE, cookie=own))
                    for own in cookies]  # fmt: skip
            assert connections(served) == [1, 1]
            return [await own.ask(ask.query, ask.texts)
                    for ask, own in zip(asks(10, 2), both, strict=True)]  # fmt: skip

    assert [answer.error for answer in alone(at_once())] == ["", ""]


def connections(served: Served) -> list[int]:
    """Each process's number of connections through the proxy."""
    return [n_connections(served, port) for port in served.ports]


def n_connections(served: Served, port: int) -> int:
    app = served.app(port)
    found = [each for each in app.net_connections("tcp") if each.laddr.port == port]
    return sum(each.status == psutil.CONN_ESTABLISHED for each in found)


@pytest.mark.parametrize("number", [0, 1])
def test_a_file_is_taken_by_the_process_of_its_visit_alone(served: Served, number: int) -> None:
    own, other = served.cookies[number], served.cookies[1 - number]
    first = get(f"{served.address}/_stcore/health", cookie=own)
    found = re.search(r"_streamlit_xsrf=([^;']+)", str(first.headers.get_all("Set-Cookie")))
    assert found is not None
    headers = {"Content-Type": "multipart/form-data; boundary=x", "X-Xsrftoken": found[1]}
    (ask,) = asks(20 + number, 1)
    body = (
        b'--x\r\nContent-Disposition: form-data; name="a.csv"; filename="a.csv"\r\n\r\n'
        b"text\r\n--x--\r\n"
    )

    async def upload() -> list[int]:
        async with visit(served.address, PAGE, cookie=own) as visitor:
            await visitor.ask(ask.query)
            place = f"{served.address}/_stcore/upload_file/{visitor.session}/some-file"
            cookies = [f"{each}; _streamlit_xsrf={found[1]}" for each in (own, other)]
            tries = [asyncio.to_thread(get, place, cookie=each, body=body, **headers)
                     for each in cookies]  # fmt: skip
            return [answer.status for answer in await asyncio.gather(*tries)]

    assert alone(upload()) == [204, 400]  # no such visit there


def test_a_visitor_of_a_killed_process_goes_on_in_the_other_and_it_starts_again(
    served: Served,
) -> None:
    """The view is in the address."""
    (ask,) = asks(30, 1)
    gone, (cookie, other) = served.app(served.ports[0]), served.cookies
    assert alone(asked(served, ask, cookie)).error == ""
    gone.kill()
    moved = get(f"{served.address}/{PAGE}?{ask.query}", cookie=cookie)
    assert moved.cookie == other
    assert alone(asked(served, ask, moved.cookie)).error == ""
    served.until(lambda: f"exited: {served.ports[0]} (terminated by SIGKILL" in served.logged())
    both = set(served.cookies)
    served.until(lambda: {get(served.address).cookie for _ in range(4)} == both)
    assert served.app(served.ports[0]).pid != gone.pid


def test_all_processes_restart_one_by_one_and_somebody_always_answers(served: Served) -> None:
    alone(_loaded(served))
    before = [served.app(port).pid for port in served.ports]
    served.process.send_signal(signal.SIGUSR1)
    statuses = set[int]()

    def is_done() -> bool:
        statuses.add(get(f"{served.address}/{PAGE}").status)
        return "All processes were restarted." in served.logged()

    served.until(is_done)
    assert statuses == {200}
    assert not {served.app(port).pid for port in served.ports} & set(before)


def test_metrics_are_not_handed_on_and_health_is(served: Served) -> None:
    assert get(f"{served.address}/metrics").status == 404
    assert get(f"{served.address}/healthz").status == 200
    assert get(f"{served.address}/{PAGE}", Host="elsewhere.example").status == 403


def test_at_the_end_nothing_is_left_and_nothing_was_written_down(served: Served) -> None:
    """The last test: it ends the server of this file."""
    everything = psutil.Process(served.process.pid).children(recursive=True)
    assert len(everything) >= 5  # supervisord, two processes, and nginx's
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(60) == 0
    _, alive = psutil.wait_procs(everything, 30)
    assert alive == []
    logged = served.logged()
    assert logged.count('"place":"/meaning"') > 2
    assert "bank" not in logged  # each sentence has it
    assert not re.search(r"[?&]s=", logged)


def test_what_is_killed_itself_leaves_nothing_behind(tmp_path: Path) -> None:
    """Linux tells its processes of its end."""
    log, port = tmp_path / "log", free_port(2)
    command = [sys.executable, "-m", "contextlens.ui.processes", "--processes", "1"]
    with log.open("wb") as out, subprocess.Popen(
        [*command, "--port", str(port)], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT,
        env={**os.environ, "CONTEXTLENS_DATA_DIR": str(tmp_path), "TMPDIR": tempfile.gettempdir()},
    ) as process:  # fmt: skip
        own = Served(f"http://localhost:{port}", process, log)
        own.until(lambda: "Contextlens begins" in own.logged())
        everything = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    _, alive = psutil.wait_procs(everything, 60)
    assert alive == []
