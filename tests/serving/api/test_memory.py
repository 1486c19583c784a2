"""What questions may hold of a service's memory, and who is served while somebody asks too much."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import closing
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.errors import BusyError, RequestError
from components.core.remote.service import RemoteService
from components.core.remote.wire import MEDIA_TYPE, pack
from components.serving.api import create_app
from components.serving.bounds import Bounds, answer_bytes
from tests.serving.api.asking import asking, post
from tests.support.remote_server import serving


def half_a_body(url: str) -> socket.socket:
    """A question whose body never comes to its end."""
    parts = urlsplit(url)
    client = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20)
    client.sendall(
        b"POST /v1/encode HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n"
        b"content-type: " + MEDIA_TYPE.encode() + b"\r\n\r\n" + b"a" * 1000
    )
    return client


def nested(n: int) -> bytes:
    """A body of so many empty lists."""
    value = f"[{','.join(['[]'] * n)}]"
    header = json.dumps({"__metadata__": {"contextlens": "1", "value": value}}).encode()
    return len(header).to_bytes(8, "little") + header


def test_a_place_is_taken_before_a_body_is_read(local: EncoderService) -> None:
    with serving(create_app(local, bounds=Bounds(n_questions=1))) as url:
        first = half_a_body(url)
        answers = []
        end = time.monotonic() + 10
        while not answers and time.monotonic() < end:  # until the first has the place
            with closing(half_a_body(url)) as second:
                second.settimeout(0.5)
                try:
                    answers.append(second.recv(4000))
                except TimeoutError:
                    continue
        first.close()
    assert answers[0].startswith(b"HTTP/1.1 503")
    assert b"more to do than it can" in answers[0]


def test_a_body_of_countless_lists_is_refused_and_holds_nobody_up(local: EncoderService) -> None:
    with serving(create_app(local)) as url:
        seconds: list[float] = []
        done = threading.Event()

        def look() -> None:
            with httpx2.Client(trust_env=False) as client:
                while not done.is_set():
                    begun = time.monotonic()
                    assert client.get(f"{url}/healthz").status_code == 200
                    seconds.append(time.monotonic() - begun)
                    time.sleep(0.02)

        thread = threading.Thread(target=look)
        thread.start()
        answer = post(url, "encode", nested(2_600_000))
        done.set()
        thread.join()
    assert answer.status_code == 400
    assert max(seconds) < 2


@pytest.mark.parametrize(
    ("method", "arguments", "n_bytes"),
    [
        ("encode", {"texts": ["abc", "d" * 99]}, 4 * 3 * 5 * (7 + 20)),
        ("encode", {"texts": ["abc"], "pairs": ["de"], "layers": [1]}, 4 * 5 * 9),
        ("encode", {"texts": [""], "pad_to": 10, "layers": []}, 0),
        ("encode", {"texts": [""], "attentions": True, "layers": []}, 4 * 8 * 4 * 4),
        ("encode", {"texts": [""], "attentions": [(1, 0)], "layers": []}, 4 * 4 * 4),
        ("intervene", {"texts": ["", ""], "layers": [0, 2]}, 4 * 2 * 2 * 5 * 4),
        ("word_rows", {"token_ids": np.arange(7)}, 4 * 7 * 5),
        ("encode", {"texts": 5}, 0),
        ("load", {}, 0),
    ],
)
def test_the_size_of_an_answer_is_known_before(method: str, arguments: Any, n_bytes: int) -> None:
    card: Any = SimpleNamespace(n_layers=2, n_dims=5, n_heads=4, max_length=20)
    assert answer_bytes(method, arguments, card) == n_bytes


@pytest.mark.parametrize("attentions", [False, True, [(1, 0), (2, 3)]])
def test_no_answer_is_larger_than_was_foretold(local: EncoderService, attentions: Any) -> None:
    texts = ["A python sleeps.", "", "naïve café 北京", "long " * 600]
    encodings = local.encode(BUNDLED_ID, texts, attentions=attentions)
    given = {"texts": texts, "attentions": attentions}
    arrays = [e.hidden for e in encodings] + [e.attentions for e in encodings if attentions]
    most = answer_bytes("encode", given, local.load(BUNDLED_ID))
    assert 0 < sum(a.nbytes for a in arrays if a is not None) <= most


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("encode", {"texts": ["a"] * 4096, "pad_to": 512, "attentions": True}),
        ("word_rows", {"token_ids": np.zeros(1_500_000, np.int64)}),
    ],
)
def test_too_large_an_answer_is_refused_before_it_is_made(
    local: EncoderService, method: str, arguments: Any
) -> None:
    with (
        serving(create_app(local)) as url,
        asking(url) as client,
        pytest.raises(RequestError, match=r"The answer could have .* MB, and one may have 2,000"),
    ):
        client.ask(method, {"model": BUNDLED_ID, **arguments})


def test_answers_together_are_bounded(local: EncoderService) -> None:
    with (
        serving(create_app(local, bounds=Bounds(total_bytes=200_000))) as url,
        asking(url) as client,
    ):
        texts = {"model": BUNDLED_ID, "texts": ["a"] * 8}
        with pytest.raises(BusyError, match="more to do than it can"):
            client.ask("encode", texts)
        for _ in range(5):  # what is refused or answered gives its part back
            assert len(client.ask("encode", {**texts, "texts": ["a"]})) == 1


def test_an_honest_client_meets_no_bound_on_answers(local: EncoderService) -> None:
    """It asks for large answers in parts."""
    bounds = Bounds(answer_bytes=80_000_000)
    with serving(create_app(local, bounds=bounds)) as url, closing(RemoteService(url)) as service:
        texts = ["one text", "another", "a third"]
        found = service.encode(BUNDLED_ID, texts, pad_to=512, layers=[6], attentions=True)
        expected = local.encode(BUNDLED_ID, texts, pad_to=512, layers=[6], attentions=True)
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one.hidden, other.hidden, atol=1e-5)
        assert one.attentions is not None
        assert one.attentions.shape == (6, 12, 512, 512)


@pytest.mark.slow
def test_honest_clients_are_served_beside_hostile_ones(local: EncoderService) -> None:
    """Slow, many, nested and huge at once, for some seconds, from this machine alone."""
    bounds = Bounds(n_questions=40)
    with serving(create_app(local, bounds=bounds)) as url:
        slow = [half_a_body(url) for _ in range(20)]

        def attack() -> None:
            post(url, "encode", nested(1_200_000))
            huge = {"model": BUNDLED_ID, "texts": ["a"] * 4096, "attentions": True, "pad_to": 512}
            post(url, "encode", pack(huge))
            post(url, "encode", b"a" * 17_000_000)

        threads = [threading.Thread(target=attack) for _ in range(6)]
        for thread in threads:
            thread.start()
        with httpx2.Client(trust_env=False) as client, closing(RemoteService(url)) as service:
            while any(thread.is_alive() for thread in threads):
                assert client.get(f"{url}/healthz", timeout=10).status_code == 200
                assert len(service.encode(BUNDLED_ID, ["An honest question."])) == 1
        for thread in threads:
            thread.join()
        for each in slow:
            each.close()
