"""Servers run as their users run them, each on a free port with a log of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.support.ports import free_port

__all__ = [
    "ROOT",
    "START_SECONDS",
    "AppServer",
    "end_of",
    "launch",
    "launch_service",
    "launch_several",
]

ROOT = Path(__file__).parents[2]
START_SECONDS = 180.0


@dataclass(frozen=True)
class AppServer:
    """A running app, or the service that runs its models."""

    name: str
    address: str
    process: subprocess.Popen[bytes]
    log: Path
    health: str = "/_stcore/health"

    def stop(self) -> None:
        """Ends it and its children."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)

    def report(self) -> str:
        """The end of its log."""
        return end_of(self.log)

    def wait(self) -> None:
        """Until it answers.

        Raises:
            AssertionError: Where it does not start, with its log.
        """
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.address}{self.health}", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        self.stop()
        raise AssertionError(f"{self.name} did not start:\n{self.report()}")


def end_of(log: Path) -> str:
    """The end of a server's log."""
    return log.read_text(encoding="utf-8", errors="replace")[-8000:]


def launch(script: Path, log: Path, env: Mapping[str, str], *, root: Path = ROOT) -> AppServer:
    """Starts `streamlit run SCRIPT` in a checkout; it may not answer yet.

    Where the environment names a base path, that is part of the server's address.
    Its log has everything, visitors' words too, unless the environment says otherwise.
    """
    port = free_port()
    options = {"port": port, "headless": "true", "address": "localhost", "fileWatcherType": "none"}
    flags = [part for name, value in options.items() for part in (f"--server.{name}", str(value))]
    server = _started(script.name, port, ["streamlit", "run", str(script), *flags], log, env, root)
    base = env.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    return replace(server, address=f"{server.address}/{base}".rstrip("/"))


def launch_several(n: int, log: Path, env: Mapping[str, str], *, root: Path = ROOT) -> AppServer:
    """Starts so many processes of the app behind nginx, as `make serve-app` does.

    "{port}" in the environment stands for the port that visitors come to.
    """
    port = free_port(1 + n)
    env = {name: value.replace("{port}", str(port)) for name, value in env.items()}
    flags = ["--processes", str(n), "--port", str(port)]
    return _started("serve-app", port, ["contextlens.ui.processes", *flags], log, env, root)


def launch_service(log: Path, env: Mapping[str, str]) -> AppServer:
    """Starts the service that runs models apart, in one process; it may not answer yet."""
    port = free_port()
    factory = ["--factory", "contextlens.serving.api:from_env"]
    module = ["uvicorn", *factory, "--port", str(port), "--log-level", "warning"]
    return replace(_started("service", port, module, log, env, ROOT), health="/healthz")


def _started(
    name: str, port: int, module: list[str], log: Path, env: Mapping[str, str], root: Path
) -> AppServer:
    command = [sys.executable, "-m", *module]
    search = filter(None, (str(root / "components"), env.get("PYTHONPATH")))
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=root,
            env={"CONTEXTLENS_LOG": "full", **env, "PYTHONPATH": os.pathsep.join(search)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that stopping it stops its children too
        )
    return AppServer(name, f"http://localhost:{port}", process, log)
