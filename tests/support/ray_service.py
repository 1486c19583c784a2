"""The service on Ray as `make serve` starts it, for the tests and measurements that need it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from contextlens.serving.__main__ import MISSING
from tests.support.ports import free_port

__all__ = ["MISSING", "RayService", "has_ray", "ray_service"]

ROOT = Path(__file__).parents[2]
START_SECONDS = 240.0
_SHRINK = """
import sys
import ray
from ray import serve
from contextlens.serving.deployment import NAME, build

ray.init(address=sys.argv[1], log_to_driver=False)
print("ready", flush=True)
sys.stdin.readline()
serve.run(build({"replicas": 1, "cores": 1}), name=NAME, route_prefix="/", blocking=False)
"""


def has_ray() -> bool:
    """True if the extra is installed."""
    return find_spec("ray") is not None


@dataclass(frozen=True)
class RayService:
    """A running service: its address, and its processes."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path

    def replicas(self) -> list[psutil.Process]:
        """The processes that hold models."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if _title(child).startswith("ray::ServeReplica")]

    def controller(self) -> psutil.Process | None:
        """The process of Ray Serve that starts replicas and watches over them."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        found = (each for each in children if _title(each).startswith("ray::ServeController"))
        return next(found, None)

    @property
    def head(self) -> str:
        """The address by which programs connect to its Ray."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        flags = [flag for child in children for flag in _title(child).split()]
        return next(flag for flag in flags if flag.startswith("--gcs-address=")).split("=")[1]

    @contextmanager
    def shrinker(self) -> Iterator[Callable[[], None]]:
        """Ready to leave one replica, as who deploys it anew with fewer does; call it to begin."""
        command = [sys.executable, "-c", _SHRINK, self.head]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        env = {**os.environ, "RAY_AUTH_MODE": "token"}  # which the service's own Ray asks for
        with subprocess.Popen(command, cwd=ROOT, env=env, **pipes) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert "ready" in process.stdout.readline()

            def begin() -> None:
                process.stdin.write("begin\n")
                process.stdin.flush()

            try:
                yield begin
            finally:
                process.kill()  # Ray's controller does the rest

    def kill(self) -> None:
        """All of it at once: Ray's head, proxy, controller and replicas."""
        everything = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        for each in everything:
            with suppress(psutil.Error):
                each.kill()
        self.process.wait(10)
        psutil.wait_procs(everything, timeout=10)


@contextmanager
def ray_service(
    log: Path,
    *,
    replicas: int = 1,
    cores: int = 2,
    port: int = 0,
    env: Mapping[str, str] | None = None,
) -> Iterator[RayService]:
    """A service on a port of this machine, by default a free one.

    Raises:
        AssertionError: it does not start, with its log; or the extra is missing, and how to get it.
    """
    assert has_ray(), MISSING
    port = port or free_port()
    options = {"port": port, "replicas": replicas, "cores": cores}
    flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    own = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "contextlens.serving", *flags],
            cwd=ROOT,
            env={**own, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    service = RayService(f"http://127.0.0.1:{port}", process, log)
    try:
        _wait(service)
        yield service
    finally:
        _stop(process)


def _wait(service: RayService) -> None:
    deadline = time.monotonic() + START_SECONDS
    while "serves models on" not in service.log.read_text(encoding="utf-8", errors="replace"):
        if service.process.poll() is not None or time.monotonic() > deadline:
            report = service.log.read_text(encoding="utf-8", errors="replace")[-8000:]
            raise AssertionError(f"The service did not start:\n{report}")
        time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl+C does; whatever is left after that is ended."""
    if process.poll() is not None:
        return
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)
    _, left = psutil.wait_procs(children, timeout=20)
    for child in left:
        child.kill()
    psutil.wait_procs(left, timeout=10)


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
