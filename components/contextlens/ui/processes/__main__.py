"""`python -m contextlens.ui.processes`: what `make serve-app` starts.

This process starts supervisord and hands on what it prints. SIGUSR1 restarts the app's processes
one by one; SIGINT, SIGTERM and SIGHUP end everything.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
import psutil
from jinja2 import StrictUndefined, Template

from contextlens.core import Settings
from contextlens.core.errors import ContextlensError, SettingsError
from contextlens.ui.app_files import app_folder

COOKIE = "contextlens_process"
"""The cookie that holds the port of a visitor's process."""
MOST = 64
"""The largest number of processes."""
_LOOPBACK = "127.0.0.1"
_READY_SECONDS = 180.0
_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
_ENDS_WITH_PARENT = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()
"""Prefix of a command that ends when its parent process is killed (on Linux)."""


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser(prog="python -m contextlens.ui.processes", description=__doc__)
    parser.add_argument("--processes", type=int, default=2, help="of the app (2)")
    parser.add_argument("--port", type=int, default=8501, help="the processes take those behind it")
    parser.add_argument("--host", default="localhost", help="the address to listen on (localhost)")
    options = parser.parse_args()
    try:
        _serve(options.processes, options.port, options.host)
    except ContextlensError as exc:
        sys.exit(str(exc))


def _serve(n: int, port: int, host: str) -> None:
    if find_spec("supervisor") is None:
        raise SettingsError(
            "Several processes need the extra `server`: pip install contextlens[server]"
        )
    if not (1 <= n <= MOST and 1 <= port <= 65_535 - n):
        raise SettingsError(
            f"PROCESSES={n} PORT={port}: 1 to {MOST} processes take the ports behind PORT."
        )
    addresses, ports = usable(host, port), range(port + 1, port + 1 + n)
    for app_port in ports:
        usable(_LOOPBACK, app_port)
    with TemporaryDirectory(prefix="contextlens-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # if root starts nginx, its workers are another user's
        write_configuration(folder, addresses, port, ports)
        _supervise(folder, environment(host, addresses, n), ports)


def usable(host: str, port: int) -> list[str]:
    """Return the addresses of a host that this machine can listen on.

    Raises:
        SettingsError: there is none, or the port is in use.
    """
    addresses = []
    with suppress(socket.gaierror, UnicodeError):
        for family, *_, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with suppress(OSError), socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
                addresses.append(str(place[0]))
    if not addresses:
        raise SettingsError(
            f"Port {port} of {host} is in use, or is not of this machine. Choose others, for "
            "instance: make serve-app PORT=9000 HOST=localhost"
        )
    return addresses


def nginx_path() -> str:
    """Return the path of nginx: on the PATH, or in its usual folders.

    Raises:
        SettingsError: it is not installed; the message says how to install it.
    """
    path = shutil.which("nginx", path=os.pathsep.join([os.environ["PATH"], *_SYSTEM_FOLDERS]))
    if path is None:
        raise SettingsError(
            "nginx is not on this machine. On Debian and Ubuntu: sudo apt-get install nginx-light; "
            "on macOS: brew install nginx. Its own service is not needed."
        )
    return path


def write_configuration(
    folder: Path, addresses: Sequence[str], port: int, ports: Sequence[int]
) -> None:
    """Write nginx.conf and supervisord.conf, from the templates beside this module.

    Args:
        folder: the folder for them, and for the files of nginx and supervisord.
        addresses: the addresses for visitors.
        port: the port for visitors.
        ports: the ports of the app's processes, on this machine alone.

    Raises:
        SettingsError: nginx is not installed, or a setting has a value that is not allowed.
    """
    folder_of_app = app_folder()
    values = {
        "addresses": addresses,
        "cookie": COOKIE,
        "folder": folder,
        "max_upload_mb": Settings.from_env().max_upload_bytes // 1_000_000,
        "nginx": _as_supervisord_reads_it(nginx_path()),
        "pages": sorted(path.stem for path in (folder_of_app / "pages").glob("*.py")),
        "port": port,
        "ports": ports,
        "python": _as_supervisord_reads_it(sys.executable),
        "root": str(folder_of_app).replace("%", "%%"),
    }
    for name in ("nginx.conf", "supervisord.conf"):
        text = Path(__file__).with_name(name).read_text(encoding="utf-8")
        filled_in = Template(text, undefined=StrictUndefined).render(values)
        (folder / name).write_text(filled_in, encoding="utf-8")


def _as_supervisord_reads_it(program: str) -> str:
    return shlex.join([*_ENDS_WITH_PARENT, program]).replace("%", "%%")


def environment(host: str, addresses: Sequence[str], n: int) -> dict[str, str]:
    """Return the environment that all processes share: a secret, processor shares, names."""
    environ = {
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),  # shared: each reads all cookies
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n)),
        **os.environ,
    }
    if not all(ip_address(address).is_loopback for address in addresses):
        # nginx connects to the app by a local address, so the app must be told this machine's
        # names.
        from contextlens.ui.server.hosts import names

        cards = [address for card in psutil.net_if_addrs().values() for address in card]
        inet = [card for card in cards if card.family in {socket.AF_INET, socket.AF_INET6}]
        own_names = names(host) | {card.address.partition("%")[0] for card in inet}
        hosts = (environ.get("CONTEXTLENS_HOSTS", ""), *sorted(own_names))
        environ["CONTEXTLENS_HOSTS"] = ",".join(filter(None, hosts))
    return environ


def _supervise(folder: Path, environ: Mapping[str, str], ports: Sequence[int]) -> None:
    """Run supervisord until it ends; exit with an error if no signal asked for that."""
    command = (sys.executable, "-m", "supervisor.supervisord", "-c", f"{folder}/supervisord.conf")
    is_wanted, restarting = threading.Event(), threading.Lock()
    reading, writing = os.pipe()
    with subprocess.Popen(
        [*_ENDS_WITH_PARENT, *command], env=environ, stdout=writing, start_new_session=True
    ) as supervisord:
        os.close(writing)

        def end(*_: object) -> None:
            is_wanted.set()
            supervisord.terminate()

        def restart(*_: object) -> None:
            threading.Thread(target=_restart, args=(folder, ports, restarting), daemon=True).start()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        signal.signal(signal.SIGUSR1, restart)
        # supervisord opens its output by name, which the socket from systemd does not allow.
        while printed := os.read(reading, 65_536):
            sys.stdout.buffer.write(printed)
            sys.stdout.buffer.flush()
    if not is_wanted.is_set():
        sys.exit("A process could not be started again, and all have ended. The reason is above.")


def _restart(folder: Path, ports: Sequence[int], restarting: threading.Lock) -> None:
    """Restart the app's processes, each once the one before it is ready for visitors."""
    command = (sys.executable, "-m", "supervisor.supervisorctl", "-c", f"{folder}/supervisord.conf")
    with restarting, httpx2.Client(trust_env=False) as client:
        for port in ports:
            subprocess.run([*command, "restart", f"app:{port}"], check=False)
            deadline = time.monotonic() + _READY_SECONDS  # then go on: the others may lack the same
            while time.monotonic() < deadline:
                with suppress(httpx2.HTTPError):
                    if client.get(f"http://{_LOOPBACK}:{port}/readyz").is_success:
                        break
                time.sleep(0.2)
        print("All processes were restarted.", flush=True)


if __name__ == "__main__":
    main()
