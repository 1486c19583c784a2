"""The proxy at work, before servers that say which of them answered."""

from __future__ import annotations

import asyncio
import gzip
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect

from contextlens.ui.processes.__main__ import COOKIE, nginx_path
from tests.deploy.proxied import Proxied, Stub, get, proxied, until_it_listens, unverified
from tests.support.loop import alone
from tests.support.ports import free_port

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
SECRET = "my-private-sentence"


@pytest.fixture(scope="module")
def served() -> Iterator[Proxied]:
    with proxied(max_upload_mb=1) as own:
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
    assert Counter(first.process for first in firsts) == {stub.port: 5 for stub in served.stubs}
    for first in firsts:
        assert first.cookie == f"{COOKIE}={first.process}"
        again = [get(f"{served.address}/", cookie=first.cookie) for _ in range(3)]
        assert {(own.process, own.cookie) for own in again} == {(first.process, "")}


@pytest.mark.parametrize("value", ["7", "next", "process_0", "", "0,1", "../0"])
def test_a_cookie_that_names_no_process_is_replaced(served: Proxied, value: str) -> None:
    answer = get(served.address, cookie=f"{COOKIE}={value}")
    assert answer.cookie == f"{COOKIE}={answer.process}"


def test_a_websocket_comes_to_the_visitors_process_and_stays_open(served: Proxied) -> None:
    for stub in served.stubs:
        own = alone(stream(served.address, f"{COOKIE}={stub.port}"))
        assert own == (str(stub.port), "hello", "")
    port, echo, cookie = alone(stream(served.address))
    assert (echo, cookie) == ("hello", f"{COOKIE}={port}")


def test_the_cookie_is_for_encrypted_connections_only_where_visitors_have_one(
    served: Proxied,
) -> None:
    plain = get(served.address).headers["Set-Cookie"]
    behind = get(served.address, **{"X-Forwarded-Proto": "https"}).headers["Set-Cookie"]
    assert plain.endswith("; Path=/; HttpOnly; SameSite=Lax")
    assert behind.endswith("; Path=/; HttpOnly; SameSite=Lax; Secure")


def test_a_visitor_whose_process_ended_gets_another_and_stays_there() -> None:
    with proxied() as own:
        first, other = own.stubs
        cookie, other_cookie = f"{COOKIE}={first.port}", f"{COOKIE}={other.port}"
        assert get(own.address, cookie=cookie).process == first.port
        first.stop()
        moved = get(own.address, cookie=cookie)
        assert (moved.process, moved.cookie) == (other.port, other_cookie)
        assert alone(stream(own.address, cookie)) == (str(other.port), "hello", other_cookie)
        assert {get(own.address).process for _ in range(4)} == {other.port}
        first.start()
        assert get(own.address, cookie=moved.cookie).process == other.port
        first.stop()
        other.stop()
        away = get(f"{own.address}/meaning?s={SECRET}", cookie=cookie)
        assert away.status == 503
        assert away.headers["Retry-After"] == "5"
        assert b"Reload this page in a moment." in away.body
        assert SECRET not in own.log.read_text()


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


@pytest.mark.parametrize("n_cookies", [1, 4, 12])
def test_the_cookies_of_a_sign_in_pass_in_both_directions(served: Proxied, n_cookies: int) -> None:
    """Streamlit splits them at 4 KB; twelve are what a token with 12 KB of claims comes to."""
    answer = get(f"{served.address}/?cookies={n_cookies}")
    kept = "; ".join(f"own_{i}={'x' * 4_000}" for i in range(n_cookies))
    assert answer.status == 200
    assert len(answer.headers.get_all("Set-Cookie")) == n_cookies + 1
    again = get(served.address, cookie=f"{kept}; {COOKIE}={answer.process}")
    assert again.process == answer.process
    headers = again.said["headers"]
    assert isinstance(headers, dict)
    assert kept in headers["cookie"]


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
    with proxied() as own:
        get(f"{own.address}/meaning?s={SECRET}", Referer=f"{own.address}/meaning?s={SECRET}",
            **{"User-Agent": SECRET})  # fmt: skip
        get(f"{own.address}/{SECRET}", cookie=f"a={SECRET}; {COOKIE}={SECRET}")
        get(f"{own.address}/export/{SECRET}.parquet", cookie=f"{COOKIE}={own.stubs[0].port}")
        get(f"{own.address}/metrics/?{SECRET}")
        alone(stream(own.address, f"{COOKIE}={own.stubs[1].port}"))
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
    assert logged[2]["process"] == str(own.stubs[0].port)
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


# The site before it, which encrypts


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    """deploy/nginx-tls.conf before one server; three connections from an address, not 300."""
    with TemporaryDirectory(prefix="contextlens-tls-") as name:
        folder, port, stub = Path(name), free_port(), Stub()
        folder.chmod(0o711)
        (folder / "nginx.conf").write_text(site(folder, port, stub.port), encoding="utf-8")
        certificate(folder)
        stub.start()
        command = [nginx_path(), "-e", "stderr", "-c", str(folder / "nginx.conf")]
        with subprocess.Popen(command) as process:
            try:
                until_it_listens(port)
                log = folder / "contextlens.log"
                yield Proxied(f"https://localhost:{port}", [stub], folder, log)
            finally:
                process.terminate()
                stub.stop()


def site(folder: Path, port: int, process: int) -> str:
    text = (ROOT / "deploy" / "nginx-tls.conf").read_text(encoding="utf-8")
    replaced = {
        "/etc/letsencrypt/live/lens.example.org": str(folder),
        "127.0.0.1:8501": f"127.0.0.1:{process}",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen [::]:443 ssl": f"listen 127.0.0.1:{free_port()} ssl",
        "listen 80": f"listen 127.0.0.1:{free_port()}",
        "listen [::]:80": f"listen 127.0.0.1:{free_port()}",
        "/var/log/nginx": str(folder),
        "limit_conn contextlens 300": "limit_conn contextlens 3",
    }
    for ours, here in replaced.items():
        assert ours in text
        text = text.replace(f"{ours};", f"{here};").replace(f"{ours}/", f"{here}/")
    own = [f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi",
                                                             "uwsgi", "scgi")]  # fmt: skip
    return f"daemon off; pid {folder}/pid; events {{}} http {{ {' '.join(own)} {text} }}"


def certificate(folder: Path) -> None:
    """One that signs itself."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
               "-nodes", "-days", "1", "-subj", "/CN=localhost",
               "-keyout", str(folder / "privkey.pem"),
               "-out", str(folder / "fullchain.pem")]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)


def test_the_site_with_tls_passes_the_cookies_of_a_sign_in(encrypted: Proxied) -> None:
    answer = get(f"{encrypted.address}/?cookies=12")
    assert answer.status == 200
    assert len(answer.headers.get_all("Set-Cookie")) == 12
    assert answer.headers["Strict-Transport-Security"]
    kept = "; ".join(f"own_{i}={'x' * 4_000}" for i in range(12))
    headers = get(encrypted.address, cookie=kept).said["headers"]
    assert isinstance(headers, dict)
    assert headers["cookie"] == kept
    assert headers["x-forwarded-proto"] == "https"


def test_the_site_with_tls_logs_the_place_and_nothing_that_was_typed(encrypted: Proxied) -> None:
    get(f"{encrypted.address}/meaning?s={SECRET}", Referer=f"{encrypted.address}/?s={SECRET}")
    get(f"{encrypted.address}/{SECRET}")
    logged = encrypted.log.read_text()
    assert " GET /meaning 200 " in logged
    assert SECRET not in logged


def test_the_site_with_tls_bounds_the_connections_of_an_address(encrypted: Proxied) -> None:
    async def open_all() -> int:
        place = f"wss://{urlsplit(encrypted.address).netloc}/_stcore/stream"
        async with AsyncExitStack() as stack:
            for _ in range(3):
                opening = connect(place, ssl=unverified(), proxy=None)
                await stack.enter_async_context(opening)
            return (await asyncio.to_thread(get, encrypted.address)).status

    assert alone(open_all()) == 503
    assert get(encrypted.address).status == 200
