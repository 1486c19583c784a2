"""Clients that mean harm: memory stays bounded, and whoever asks honestly is answered."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import numpy as np
import psutil
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.caller import Caller, calling
from contextlens.core.errors import BusyError, RequestError
from contextlens.core.remote.service import Connection, RemoteService
from contextlens.core.remote.wire import REQUEST_TYPE, pack_request
from contextlens.serving import bounds
from contextlens.serving.api import create_app
from contextlens.serving.bounds import Bounds, Places
from tests.serving.api.asking import CARD, asking, post
from tests.support.ports import free_port
from tests.support.remote_server import serving

ROOT = Path(__file__).parents[3]
LARGE = pack_request({"model": BUNDLED_ID, "texts": ["a " * 3_900_000]})
"""As large as a body may be."""
SERVER = """
import sys
import uvicorn
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from contextlens.serving.api import create_app
from contextlens.serving.bounds import Bounds

bounds = Bounds(n_requests=16, shared_bytes=200_000_000, wait_seconds=2.0, seconds=5.0)
app = create_app(LocalService(Settings(allow_downloads=False)), bounds=bounds)
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


START = b'{"model": "all-MiniLM-L6-v2", "texts": ["a"], "layers": '
NESTED = START + b"[" * 7_000_000
"""Lists, each in the one before, in place of a list of layers."""
MARKS = "a" + "\u0323\u0301" * 99_999
"""A text of marks that Unicode's normal form sorts, in a time that grows with their square."""
LONG_BODIES: dict[str, tuple[str, bytes]] = {
    "nested lists": ("encode", NESTED),
    "numbers": ("encode", START + b"[" + b"1," * 3_900_000 + b"1]}"),
    "empty lists": ("intervene", b'{"interventions": [' + b"[]," * 2_600_000 + b"[]]}"),
    "marks": ("encode", pack_request({"model": BUNDLED_ID, "texts": [MARKS], "layers": [99]})),
    "a long text": ("normalize", pack_request({"model": BUNDLED_ID, "texts": ["a " * 3_900_000]})),
}
"""Requests within the bounds, by what is in them."""


@contextmanager
def begun(address: str, n: int, *, n_bytes: int = 10_000) -> Iterator[list[socket.socket]]:
    """Questions whose bodies begin to come, and go on no more."""
    port = int(address.rsplit(":", 1)[1])
    head = f"POST /v1/encode HTTP/1.1\r\nhost: x\r\ncontent-type: {REQUEST_TYPE}\r\n"
    with ExitStack() as stack:
        lines = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(n)
        ]
        for line in lines:
            line.sendall(f"{head}content-length: {n_bytes}\r\n\r\na".encode())
        yield lines


class Waiting:
    """A service whose one answer comes once the test says so."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def load(self, _: str) -> Any:
        return CARD

    def encode(self, **_: Any) -> list[Any]:
        self.begun.set()
        self.go.wait(20)
        return []


def test_a_place_is_taken_before_a_body_is_read() -> None:
    """Bodies for which there is no place are not held in memory, however many there are."""
    service: Any = Waiting()
    question = pack_request({"model": "m", "texts": ["a"]})
    with (
        serving(create_app(service, bounds=Bounds(n_requests=1))) as url,
        ThreadPoolExecutor(1) as first,
        watching(psutil.Process()) as peak,
    ):
        asked = first.submit(post, url, "encode", question)
        assert service.begun.wait(20)
        before = peak()
        with begun(url, 30, n_bytes=len(LARGE)) as lines:
            for line in lines:
                with suppress(OSError):  # it closes the connection once it has said no
                    line.sendall(LARGE[1:])
                assert b" 503 " in line.recv(100)
        assert peak() - before < 100e6
        service.go.set()
        assert asked.result().status_code == 200


@contextmanager
def watching(process: psutil.Process) -> Iterator[Callable[[], float]]:
    """The most memory that a process has had so far."""
    over, most = threading.Event(), [float(process.memory_info().rss)]

    def watch() -> None:
        while not over.wait(0.02):
            most.append(process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield lambda: max(most)
    finally:
        over.set()
        thread.join()


def is_refused(client: Connection) -> bool:
    try:
        client.request("normalize", {"model": BUNDLED_ID, "texts": ["A"]})
    except BusyError:
        return True
    return False


def test_who_is_slow_to_ask_gives_way_to_who_is_not(
    local: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serving(create_app(local, bounds=Bounds(n_requests=4))) as url,
        begun(url, 4) as lines,
        asking(url) as client,
    ):
        monkeypatch.setattr(bounds, "_UNDISTURBED_SECONDS", 600.0)
        assert any(is_refused(client) for _ in range(1000))  # until the four have their places
        monkeypatch.setattr(bounds, "_UNDISTURBED_SECONDS", 0.0)
        for _ in range(3):
            assert client.request("normalize", {"model": BUNDLED_ID, "texts": ["A"]}) == ["a"]
        assert b" 408 " in lines[0].recv(100)


@pytest.mark.parametrize(("method", "body"), LONG_BODIES.values(), ids=LONG_BODIES)
def test_a_long_body_is_refused_and_holds_nobody_up(
    local: EncoderService, method: str, body: bytes
) -> None:
    with (
        serving(create_app(local)) as url,
        ThreadPoolExecutor(2) as pool,
        httpx2.Client(trust_env=False, timeout=120) as client,
    ):
        healthy(url, client)
        answers = [pool.submit(post, url, method, body) for _ in range(2)]
        longest = 0.0
        while not all(answer.done() for answer in answers):
            longest = max(longest, healthy(url, client))
        assert {answer.result().status_code for answer in answers} == {400}
    assert longest < 1


def healthy(url: str, client: httpx2.Client) -> float:
    """Seconds until the service says that it is there."""
    start = time.monotonic()
    assert client.get(f"{url}/healthz").status_code == 200
    return time.monotonic() - start


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("encode", {"texts": ["a " * 600] * 4096, "attentions": True}),
        ("encode", {"texts": ["a"] * 4096, "pad_to": 512}),
        ("encode", {"texts": ["\ufdfa" * 200] * 4096}),
        ("encode", {"texts": ["a " * 600], "attentions": [(1, 1)] * 4096}),
        ("encode", {"texts": ["a " * 600] * 2, "layers": [6] * 4096}),
        ("intervene", {"texts": ["a " * 600] * 4096, "interventions": [[]] * 4096}),
    ],
)
def test_too_large_an_answer_is_refused_before_it_is_made(
    local: EncoderService, method: str, arguments: dict[str, Any]
) -> None:
    def never(**_: Any) -> None:
        raise AssertionError

    service: Any = SimpleNamespace(load=local.load, **{method: never})
    sentence = r"up to [\d,]+ MB, and an answer may have 1,000 MB. Ask in parts"
    with (
        serving(create_app(service)) as url,
        asking(url) as client,
        pytest.raises(RequestError, match=sentence),
    ):
        client.request(method, {"model": BUNDLED_ID, **arguments})


def test_room_for_answers_is_shared_and_given_back() -> None:
    places = Places(Bounds(free_bytes=10, shared_bytes=100))
    with places.taken() as first, places.taken() as second:
        first.hold(90)
        second.hold(30)
        with pytest.raises(BusyError, match="Try again"):
            second.hold(60)
        first.hold(50)
        second.hold(60)
        with places.taken() as small:
            small.hold(10)  # there is room for so much in any case
            with pytest.raises(BusyError):
                small.hold(30, seconds=0.01)
    assert places.n_free_bytes == 100
    with places.taken() as whole:
        whole.hold(10**6)  # what is allowed alone finds room once there is nothing else
        with places.taken() as other, pytest.raises(BusyError):
            other.hold(11)
    assert places.n_free_bytes == 100


def test_who_waits_for_room_has_it_once_another_is_done() -> None:
    places = Places(Bounds(free_bytes=0, shared_bytes=100))
    with places.taken() as waiting:
        with places.taken() as first:
            first.hold(80)
            threading.Timer(0.1, first.hold, [0]).start()
            waiting.hold(80, seconds=20)
        assert places.n_free_bytes == 20


@pytest.mark.slow
def test_a_service_under_a_hostile_load_stays_within_its_memory_and_serves(
    tmp_path: Path,
) -> None:
    """Slow, large, nested, and with huge answers, all at once; 127.0.0.1 only, some ten seconds."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    over = threading.Event()
    env = {**os.environ, "CONTEXTLENS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SERVER, str(port)]
    text = "a " * 500
    attentions = pack_request({"model": BUNDLED_ID, "texts": [text] * 2, "attentions": True})
    huge = pack_request({"model": BUNDLED_ID, "texts": [text] * 4096, "attentions": True})

    def attack(method: str, body: bytes) -> int:
        n = 0
        with httpx2.Client(trust_env=False, timeout=60) as client:
            while not over.is_set() and n < 200:
                with suppress(httpx2.TransportError):
                    client.post(
                        f"{url}/v1/{method}", content=body, headers={"content-type": REQUEST_TYPE}
                    )
                n += 1
        return n

    def dawdle() -> int:
        n = 0
        while not over.is_set() and n < 20:
            with suppress(OSError), begun(url, 20):
                over.wait(1.0)
            n += 1
        return n

    with subprocess.Popen(command, cwd=ROOT, env=env) as process, ExitStack() as stack:
        stack.callback(process.kill)
        ready(url)
        client = stack.enter_context(httpx2.Client(trust_env=False, timeout=20))
        remote = stack.enter_context(closing(RemoteService(url)))
        honest = remote.encode(BUNDLED_ID, [text], attentions=True)[0].hidden
        peak = stack.enter_context(watching(psutil.Process(process.pid)))
        before = peak()
        pool = stack.enter_context(ThreadPoolExecutor(12))
        stack.callback(over.set)
        attacks = [pool.submit(dawdle)]
        for method, body in (
            ("encode", LARGE),
            ("encode", NESTED),
            ("encode", attentions),
            ("encode", huge),
            ("encode", b"\x08" * 15_000_000),
        ):
            n = 1 if body is attentions else 2  # what is allowed takes the machine's time
            attacks += [pool.submit(attack, method, body) for _ in range(n)]
        served, longest = 0, 0.0
        end = time.monotonic() + 10
        while time.monotonic() < end:
            longest = max(longest, healthy(url, client))
            try:
                with calling(Caller("honest")):
                    found = remote.encode(BUNDLED_ID, [f"The python sleeps, {served}"])
            except BusyError:
                time.sleep(0.5)
            else:
                served += bool(np.isfinite(found[0].hidden).all())
        over.set()
        n_attacks = [each.result() for each in attacks]
        assert all(n_attacks)
        assert served >= 2
        assert longest < 10
        assert peak() - before < 900e6
        again = remote.encode(BUNDLED_ID, [text], attentions=True)[0].hidden
        np.testing.assert_allclose(again, honest, atol=1e-4)


def ready(url: str) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with suppress(httpx2.TransportError), httpx2.Client(trust_env=False) as client:
            healthy(url, client)
            return
        time.sleep(0.2)
    raise AssertionError("The service did not start.")
