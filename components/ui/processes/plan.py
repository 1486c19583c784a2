"""What was asked for, checked and worked out: where the proxy and the processes of the app listen.

Whatever cannot be is said in one sentence before anything is started.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from components.core import Settings
from components.core.errors import SettingsError
from components.ui.processes.child import Command
from components.ui.processes.proxy import Proxy

__all__ = ["MOST", "ROOT", "Plan", "nginx_path", "planned", "proxy_elsewhere"]

ROOT = Path(__file__).resolve().parents[3]
MOST = 64
"""Processes."""
_SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
_LOOPBACK = "127.0.0.1"
_EVERYWHERE = {"0.0.0.0", "::"}
_INSTALL = (
    "nginx is not on this machine. On Debian and Ubuntu: sudo apt-get install nginx-light; on "
    "macOS: brew install nginx. Its own service is not needed."
)


@dataclass(frozen=True)
class Plan:
    """What is to run.

    Attributes:
        nginx: the program.
        listen: where the proxy listens, as nginx writes it.
        address: what a browser opens.
        ports: of the app's processes, on this machine alone.
        environ: theirs.
        max_upload_mb: the largest file that they take.
        drain_seconds: how long a process that is to restart waits for its visitors to go.
    """

    nginx: str
    listen: tuple[str, ...]
    address: str
    ports: tuple[int, ...]
    environ: Mapping[str, str]
    max_upload_mb: int
    drain_seconds: float

    def proxy(self, folder: Path, leaving: frozenset[int]) -> Proxy:
        """The proxy before them; see `Proxy`."""
        processes = tuple(f"{_LOOPBACK}:{port}" for port in self.ports)
        return Proxy(self.listen, processes, str(folder), self.max_upload_mb, _pages(), leaving)

    def app(self, number: int) -> Command:
        """One process of the app, counted from 0."""
        port = self.ports[number]
        argv = (
            *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")),
            *("--server.port", str(port), "--server.address", _LOOPBACK),
            *("--server.headless", "true", "--server.maxUploadSize", str(self.max_upload_mb)),
        )
        return Command(f"Process {number + 1} (port {port})", argv, self.environ)


def planned(
    *,
    processes: str,
    port: str,
    host: str,
    drain_seconds: float = 60.0,
    environ: Mapping[str, str] | None = None,
) -> Plan:
    """The plan for what was asked for; the processes get the ports behind the proxy's.

    Raises:
        SettingsError: it cannot be, and why.
    """
    env = dict(os.environ if environ is None else environ)
    n, first = _number("PROCESSES", processes, MOST), _number("PORT", port, 65_535)
    if first + n > 65_535:
        raise SettingsError(
            f"PORT={first} leaves no room for {n} more ports behind it. Choose a smaller one."
        )
    max_upload = Settings.from_env(env).max_upload_bytes // 1_000_000
    addresses = _addresses(host, first)
    ports = tuple(range(first + 1, first + n + 1))
    for own in ports:
        _check_free(own)
    return Plan(
        nginx=nginx_path(env.get("PATH", "")),
        listen=tuple(_listening(address, first) for address in addresses),
        address=f"http://{_browsable(host)}:{first}",
        ports=ports,
        environ=_environ(env, host, addresses, n),
        max_upload_mb=max_upload,
        drain_seconds=drain_seconds,
    )


def proxy_elsewhere(processes: Sequence[str], port: str) -> Proxy:
    """The proxy of a container, before processes in others: each a host and a port.

    Raises:
        SettingsError: a setting has a value that is not allowed.
    """
    return Proxy(
        listen=(f"0.0.0.0:{_number('PORT', port, 65_535)}",),
        processes=tuple(processes),
        folder="/run/contextlens",
        max_upload_mb=Settings.from_env().max_upload_bytes // 1_000_000,
        pages=_pages(),
    )


def _pages() -> tuple[str, ...]:
    """Names of the app's pages."""
    return tuple(sorted(path.stem for path in (ROOT / "pages").glob("*.py")))


def _number(name: str, raw: str, most: int) -> int:
    text = raw.strip()
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
        raise SettingsError(
            f"{name}={raw} is not a whole number from 1 to {most}. For instance: "
            "make serve-app PROCESSES=2 PORT=8501"
        )
    return int(text)


def _addresses(host: str, port: int) -> tuple[str, ...]:
    """The addresses that a host stands for and that this machine can listen on."""
    try:
        found = socket.getaddrinfo(host.strip(), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise _no_address(host) from exc
    usable = [str(place[0]) for family, _, _, _, place in found if _can_listen(family, place)]
    if not usable:
        raise _no_address(host)
    return tuple(dict.fromkeys(usable))


def _can_listen(family: int, place: tuple[Any, ...]) -> bool:
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError:
        return False
    return True


def _no_address(host: str) -> SettingsError:
    return SettingsError(
        f"HOST={host} is not an address of this machine that is free. Leave it out for localhost, "
        "or choose another PORT."
    )


def _check_free(port: int) -> None:
    if not _can_listen(socket.AF_INET, (_LOOPBACK, port)):
        raise SettingsError(
            f"Port {port} is in use: the app's processes take the ports behind PORT, one each. "
            f"Stop what uses it, or choose another PORT: make serve-app PORT={port + 1}"
        )


def _listening(address: str, port: int) -> str:
    if ":" not in address:
        return f"{address}:{port}"
    return f"[{address}]:{port}" + (" ipv6only=off" if address == "::" else "")


def _browsable(host: str) -> str:
    name = host.strip()
    return "localhost" if name in _EVERYWHERE or _is_loopback(name) else name


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def nginx_path(path: str | None = None) -> str:
    """The program: on a PATH, by default this process's own, or where systems keep it.

    Raises:
        SettingsError: it is not there, and what installs it.
    """
    folders = [os.environ.get("PATH", "") if path is None else path, *_SYSTEM_FOLDERS]
    found = shutil.which("nginx", path=os.pathsep.join(folders))
    if found is None:
        raise SettingsError(_INSTALL)
    return found


def _environ(
    env: Mapping[str, str], host: str, addresses: Iterable[str], n: int
) -> Mapping[str, str]:
    """What the processes share: the names they answer to, a secret, the processors."""
    own = {
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),  # or none reads another's cookies
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // n)),
        **env,
    }
    if not all(map(_is_loopback, addresses)):
        given = env.get("CONTEXTLENS_HOSTS", "")
        own["CONTEXTLENS_HOSTS"] = ",".join(filter(None, [given, *sorted(_names(host, addresses))]))
    return own


def _names(host: str, addresses: Iterable[str]) -> set[str]:
    """What visitors may call this machine: the app sees the proxy come in by a local address."""
    import psutil

    from components.ui.frame.hosts import names

    everywhere = bool(_EVERYWHERE & set(addresses))
    cards = psutil.net_if_addrs().values() if everywhere else ()
    found = {str(each.address) for card in cards for each in card}
    own = {name.partition("%")[0] for name in (*found, *names(host))}
    return {name for name in own if name and _is_name(name)}


def _is_name(name: str) -> bool:
    """Not the number of a network card, which is listed with its addresses."""
    try:
        ip_address(name)
    except ValueError:
        return ":" not in name
    return True
