"""The proxy at work, before servers that say which of them answered."""

from __future__ import annotations

import gzip
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect

from components.ui.processes.proxy import COOKIE
from tests.deploy.proxied import Proxied, Stub, get, nginx, proxied
from tests.support.loop import alone
from tests.support.ports import free_port

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
SECRET = "my-private-sentence"


@pytest.fixture(scope="module")
def served() -> Iterator[Proxied]:
    with proxied(pages=("meaning",), max_upload_mb=1) as own:
        yield own


async def stream(address: str, cookie: str = "") -> tuple[str, str, str]:
    """A WebSocket: who answered, an echo of what was sent, and the cookie that came."""
    headers = {"Cookie": cookie} if cookie else {}
    place = f"ws://{urlsplit(address).netloc}/_stcore/stream?s={SECRET}"
    async with connect(place, additional_headers=headers, proxy=None) as own:
        number = await own.recv()
        await own.send("hello")
        said = own.response.headers.get("Set-Cookie", "") if own.response else ""
        return str(number), str(await own.recv()), said.partition(";")[0]


# Who gets whom


def test_new_visitors_are_spread_and_each_keeps_its_process(served: Proxied) -> None:
    firsts = [get(f"{served.address}/meaning") for _ in range(10)]
    assert Counter(first.process for first in firsts) == {0: 5, 1: 5}
    for first in firsts:
        assert first.cookie == f"{COOKIE}={first.process}"
        again = [get(f"{served.address}/", cookie=first.cookie) for _ in range(3)]
        assert {(own.process, own.cookie) for own in again} == {(first.process, "")}


@pytest.mark.parametrize("value", ["7", "new", "process_0", "", "0,1", "../0"])
def test_a_cookie_that_names_no_process_is_replaced(served: Proxied, value: str) -> None:
    answer = get(served.address, cookie=f"{COOKIE}={value}")
    assert answer.cookie == f"{COOKIE}={answer.process}"


def test_a_websocket_comes_to_the_visitors_process_and_stays_open(served: Proxied) -> None:
    for number in ("0", "1"):
        own = alone(stream(served.address, f"{COOKIE}={number}"))
        assert own == (number, "hello", "")
    number, echo, cookie = alone(stream(served.address))
    assert (echo, cookie) == ("hello", f"{COOKIE}={number}")


def test_the_cookie_is_for_encrypted_connections_only_where_visitors_have_one(
    served: Proxied,
) -> None:
    plain = get(served.address).headers["Set-Cookie"]
    behind = get(served.address, **{"X-Forwarded-Proto": "https"}).headers["Set-Cookie"]
    assert plain.endswith("; Path=/; HttpOnly; SameSite=Lax")
    assert behind.endswith("; Path=/; HttpOnly; SameSite=Lax; Secure")


def test_who_lost_its_process_gets_another_and_stays_there() -> None:
    with proxied() as own:
        cookie = f"{COOKIE}=0"
        assert get(own.address, cookie=cookie).process == 0
        own.stubs[0].stop()
        moved = get(own.address, cookie=cookie)
        assert (moved.process, moved.cookie) == (1, f"{COOKIE}=1")
        assert alone(stream(own.address, cookie)) == ("1", "hello", f"{COOKIE}=1")
        assert {get(own.address).process for _ in range(4)} == {1}
        own.stubs[0].start()
        assert get(own.address, cookie=moved.cookie).process == 1
        own.stubs[0].stop()
        own.stubs[1].stop()
        away = get(f"{own.address}/meaning?s={SECRET}", cookie=cookie)
        assert away.status == 503
        assert away.headers["Retry-After"] == "5"
        assert b"Reload this page in a moment." in away.body
        assert SECRET not in own.log.read_text()


def test_one_that_restarts_keeps_its_visitors_and_gets_no_new_ones() -> None:
    with proxied(leaving=frozenset({0})) as own:
        assert {get(own.address).process for _ in range(4)} == {1}
        assert get(own.address, cookie=f"{COOKIE}=0").process == 0


# What passes, and what does not


def test_the_app_hears_the_visitors_own_host_and_address(served: Proxied) -> None:
    heard = get(served.address, Host="lens.example.org:8501").said["headers"]
    assert isinstance(heard, dict)
    assert heard["host"] == heard["x-forwarded-host"] == "lens.example.org:8501"
    assert heard["x-forwarded-for"] == "127.0.0.1"
    assert heard["x-forwarded-proto"] == "http"
    behind = get(served.address, **{"X-Forwarded-For": "192.0.2.7"}).said["headers"]
    assert isinstance(behind, dict)
    assert behind["x-forwarded-for"] == "192.0.2.7, 127.0.0.1"


def test_the_apps_own_headers_reach_the_browser(served: Proxied) -> None:
    answer = get(served.address)
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert answer.headers["Server"] == "nginx"  # and no version


def test_a_file_as_large_as_is_allowed_passes_and_a_larger_one_does_not(served: Proxied) -> None:
    place = f"{served.address}/_stcore/upload_file/a/b"
    assert get(place, body=bytes(2 << 20)).said["bytes"] == 2 << 20
    assert get(place, body=bytes((2 << 20) + 1)).status == 413


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/metrics/", "/%6Detrics", "//metrics", "/a/../metrics", "/_stcore/metrics"],
)
def test_metrics_are_for_whoever_runs_it(served: Proxied, path: str) -> None:
    assert get(f"{served.address}{path}").status == 404


def test_an_address_of_8000_characters_passes(served: Proxied) -> None:
    assert get(f"{served.address}/meaning?s={'x' * 8_000}").status == 200


def test_static_files_are_packed_and_asked_for_once(served: Proxied) -> None:
    place = f"{served.address}/static/one.0a1b.js"
    packed = [get(place, **{"Accept-Encoding": "gzip"}) for _ in range(3)]
    plain = get(place)
    assert sum(stub.n_static for stub in served.stubs) == 1
    assert {own.headers["Content-Encoding"] for own in packed} == {"gzip"}
    assert {gzip.decompress(own.body) for own in packed} == {plain.body}
    assert len(packed[0].body) < len(plain.body) / 10


# What is written down


def test_the_log_says_the_place_and_nothing_that_was_typed() -> None:
    with proxied(pages=("meaning",)) as own:
        get(f"{own.address}/meaning?s={SECRET}", Referer=f"{own.address}/meaning?s={SECRET}",
            **{"User-Agent": SECRET})  # fmt: skip
        get(f"{own.address}/{SECRET}", cookie=f"a={SECRET}; {COOKIE}={SECRET}")
        get(f"{own.address}/export/{SECRET}.parquet", cookie=f"{COOKIE}=0")
        get(f"{own.address}/metrics/?{SECRET}")
        alone(stream(own.address, f"{COOKIE}=1"))
        raw(own, f"{SECRET} /{SECRET} HTTP/1.1\r\nHost: {SECRET}\r\n\r\n")
        raw(own, f"GET /{SECRET} HTTP/9.9\r\n{SECRET}\r\n\r\n")
        for stub in own.stubs:
            stub.stop()
        get(f"{own.address}/meaning?s={SECRET}")
        logged = own.logged(8)
        assert SECRET not in own.log.read_text()
    assert [(line["method"], line["place"], line["status"]) for line in logged[:5]] == [
        ("GET", "/meaning", "200"),
        ("GET", "other", "200"),
        ("GET", "/export", "200"),
        ("GET", "other", "404"),
        ("GET", "/_stcore/stream", "101"),
    ]
    assert logged[2]["process"] == "0"
    assert (logged[-1]["place"], logged[-1]["status"]) == ("/meaning", "503")


def raw(own: Proxied, request: str) -> None:
    """Send what no client would, and wait until the connection is closed or answered."""
    place = urlsplit(own.address)
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=20) as sent:
        sent.sendall(request.encode())
        sent.recv(100)


def test_nothing_that_is_uploaded_is_written_down() -> None:
    with proxied() as own:
        get(f"{own.address}/_stcore/upload_file/a/b", body=SECRET.encode() * 100_000)
        held = [path for path in own.folder.rglob("*") if path.is_file()]
        assert not [path for path in held if SECRET.encode() in path.read_bytes()]


# The files that are handed out


def checked(path: Path) -> str:
    done = subprocess.run(
        [nginx(), "-e", "stderr", "-t", "-c", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr


def test_the_containers_configuration_is_one(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    path = tmp_path / "nginx.conf"
    path.write_text(text.replace("/run/contextlens", str(tmp_path)), encoding="utf-8")
    assert "test is successful" in checked(path)


def test_the_site_with_tls_is_one_and_logs_no_address(tmp_path: Path) -> None:
    certificate(tmp_path)
    site = (ROOT / "deploy" / "nginx-tls.conf").read_text(encoding="utf-8")
    stub, port = Stub(0), free_port()
    parts = {
        "/etc/letsencrypt/live/lens.example.org": str(tmp_path),
        "127.0.0.1:8501": stub.address,
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen [::]:443 ssl": f"listen 127.0.0.1:{free_port()} ssl",
        "listen 80": f"listen 127.0.0.1:{free_port()}",
        "listen [::]:80": f"listen 127.0.0.1:{free_port()}",
        "/var/log/nginx": str(tmp_path),
    }
    for ours, here in parts.items():
        assert ours in site
        site = site.replace(f"{ours};", f"{here};").replace(f"{ours}/", f"{here}/")
    own = [f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi",
                                                               "uwsgi", "scgi")]  # fmt: skip
    frame = f"daemon off; pid {tmp_path}/pid; events {{}} http {{ {' '.join(own)} {site} }}"
    path = tmp_path / "nginx.conf"
    path.write_text(frame, encoding="utf-8")
    assert "test is successful" in checked(path)


def certificate(folder: Path) -> None:
    """One that signs itself."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-days", "1", "-subj", "/CN=localhost",
               "-keyout", str(folder / "privkey.pem"),
               "-out", str(folder / "fullchain.pem")]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
