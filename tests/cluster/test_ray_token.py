"""Ray asks for a token when it starts with the commands and environments of the deploy files."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.deploy.deployment import COMPOSE, instructions
from tests.support.ports import free_port
from tests.support.ray_service import RayService

pytestmark = [pytest.mark.cluster, pytest.mark.ray]

TOKEN = "a-token-of-tests"
STRANGERS: tuple[dict[str, str], ...] = (
    {},
    {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "another"},
)
SECONDS = 120.0
BIN = Path(sys.executable).parent
CLIENT = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
print("nodes:", len(ray.nodes()))
"""


def of_compose() -> tuple[str, dict[str, str]]:
    """Command and environment of compose.yaml's head, with local address and token."""
    head = COMPOSE["services"]["ray-head"]
    command = head["command"][-1].replace("172.30.16.20", "127.0.0.1")
    environ = {name: str(value) for name, value in head["environment"].items()}
    return command, {name: re.sub(r"^\$\{RAY_TOKEN:.*", TOKEN, v) for name, v in environ.items()}


def of_the_image() -> tuple[str, dict[str, str]]:
    """The command of the service's image, and its environment, which has no token."""
    (command,) = re.findall(r'"(ray start [^"]*)"', " ".join(instructions("CMD")))
    return command, dict(re.findall(r"\b(RAY_\w+)=(\S+)", " ".join(instructions("ENV"))))


@dataclass(frozen=True)
class Head:
    """A running head of a cluster."""

    address: str
    dashboard: str
    folder: Path


def ray_start(command: str, folder: Path, *options: str) -> list[str]:
    """The part of a command that starts Ray, without the deployment of the service."""
    program, *given = shlex.split(command.partition("&&")[0])
    assert program == "ray"
    return [str(BIN / "ray"), *given, f"--temp-dir={folder}/ray", *options]


def environment(folder: Path, own: Mapping[str, str]) -> dict[str, str]:
    """That of a container: no home with a token in it, and no settings of Ray."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {**kept, "HOME": str(folder), **own}


@contextmanager
def head(command: str, own: Mapping[str, str]) -> Iterator[Head]:
    """Ray's head, until the end of the block."""
    with TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True, dir="/tmp") as name:
        folder = Path(name)
        names = ("port", "dashboard-port", "ray-client-server-port", "dashboard-agent-listen-port")
        ports = {each: free_port() for each in names}
        options = [f"--{each}={port}" for each, port in ports.items()]
        log = folder / "log.txt"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*ray_start(command, folder), *options, "--block",
                 "--object-store-memory=100000000"],
                env=environment(folder, own), stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        try:
            deadline = time.monotonic() + SECONDS
            while "Ray runtime started" not in (said := log.read_text(errors="replace")):
                assert process.poll() is None, said
                assert time.monotonic() < deadline, said
                time.sleep(0.1)
            dashboard = f"http://127.0.0.1:{ports['dashboard-port']}/api/version"
            yield Head(f"127.0.0.1:{ports['port']}", dashboard, folder)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def asked_by_a_client(address: str, folder: Path, own: Mapping[str, str]) -> str:
    """Output of a program that connects to the cluster, or "no answer" after some time."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, address], env=environment(folder, own),
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "no answer"
    return done.stdout + done.stderr


def dashboard_status(ray: Head, token: str = "") -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(ray.dashboard, headers=headers)) as own:
            return int(own.status)
    except urllib.error.HTTPError as exc:
        with exc:
            return exc.code


@pytest.mark.timeout(900)
def test_ray_of_the_deploy_files_serves_only_who_has_its_token() -> None:
    command, environ = of_compose()
    with head(command, environ) as ray:
        for stranger in STRANGERS:
            assert "nodes:" not in asked_by_a_client(ray.address, ray.folder, stranger)
        known = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}
        assert "nodes: 1" in asked_by_a_client(ray.address, ray.folder, known)
        assert dashboard_status(ray) in {401, 403}
        assert dashboard_status(ray, TOKEN) == 200


@pytest.mark.timeout(900)
def test_ray_of_make_serve_answers_nobody_without_its_token(
    on_ray: RayService, tmp_path: Path
) -> None:
    for stranger in STRANGERS:
        assert "nodes:" not in asked_by_a_client(on_ray.head, tmp_path, stranger)


def test_without_a_token_the_image_does_not_start_ray(tmp_path: Path) -> None:
    command, environ = of_the_image()
    done = subprocess.run(
        ray_start(command, tmp_path, f"--port={free_port()}"), env=environment(tmp_path, environ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode
    assert "no authentication token was found" in done.stderr
