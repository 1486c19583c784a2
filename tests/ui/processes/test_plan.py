"""What `make serve-app` asks for, checked before anything starts."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from components.core import Settings
from components.core.errors import SettingsError
from components.ui.processes import plan as module
from components.ui.processes.plan import MOST, Plan, planned


@pytest.fixture(autouse=True)
def with_nginx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name: it is looked for, and not started."""
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def free_ports(n: int) -> int:
    """The first of so many ports in a row that nobody listens on."""
    for first in range(18_000, 60_000, 50):
        probes = [socket.socket() for _ in range(n)]
        try:
            for i, probe in enumerate(probes):
                probe.bind(("127.0.0.1", first + i))
        except OSError:
            continue
        else:
            return first
        finally:
            for probe in probes:
                probe.close()
    raise AssertionError("no ports")


def plan_of(**changes: Any) -> Plan:
    own = {"processes": "2", "port": str(free_ports(4)), "host": "127.0.0.1"}
    return planned(**{**own, **changes})


def test_the_processes_get_the_ports_behind_the_proxys_on_this_machine_alone() -> None:
    port = free_ports(4)
    plan = plan_of(processes="3", port=str(port))
    assert plan.listen == (f"127.0.0.1:{port}",)
    assert plan.address == f"http://localhost:{port}"
    assert plan.ports == (port + 1, port + 2, port + 3)
    argv = plan.app(1).argv
    assert argv[argv.index("--server.port") + 1] == str(port + 2)
    assert argv[argv.index("--server.address") + 1] == "127.0.0.1"
    assert "meaning" in plan.proxy(Path("/run"), frozenset()).pages


@pytest.mark.parametrize("processes", ["0", "-1", "two", "", "1.5", str(MOST + 1), "٢"])
def test_a_number_of_processes_that_is_none_meets_a_sentence(processes: str) -> None:
    with pytest.raises(SettingsError, match=f"PROCESSES={processes} is not a whole number"):
        plan_of(processes=processes)


@pytest.mark.parametrize("port", ["0", "abc", "65536"])
def test_a_port_that_is_none_meets_a_sentence(port: str) -> None:
    with pytest.raises(SettingsError, match=f"PORT={port} is not a whole number"):
        plan_of(port=port)


def test_there_must_be_ports_behind_it() -> None:
    with pytest.raises(SettingsError, match="leaves no room for 4 more ports"):
        plan_of(processes="4", port="65533")


def test_a_port_of_a_process_that_is_in_use_is_named() -> None:
    port = free_ports(4)
    with (
        closing(socket.create_server(("127.0.0.1", port + 2))),
        pytest.raises(SettingsError, match=f"Port {port + 2} is in use"),
    ):
        plan_of(port=str(port))


def test_a_host_of_another_machine_meets_a_sentence() -> None:
    with pytest.raises(SettingsError, match=r"HOST=192\.0\.2\.1 is not an address of this machine"):
        plan_of(host="192.0.2.1")


def test_without_the_proxy_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(module, "_SYSTEM_FOLDERS", ())
    with pytest.raises(SettingsError, match="sudo apt-get install nginx-light"):
        plan_of()


def test_the_processes_share_a_secret_and_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 8)
    one, other = plan_of(processes="3").environ, plan_of().environ
    assert len(one["STREAMLIT_SERVER_COOKIE_SECRET"]) == 64
    assert one["STREAMLIT_SERVER_COOKIE_SECRET"] != other["STREAMLIT_SERVER_COOKIE_SECRET"]
    assert (one["OMP_NUM_THREADS"], other["OMP_NUM_THREADS"]) == ("2", "4")


def test_what_the_operator_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"STREAMLIT_SERVER_COOKIE_SECRET": "own", "OMP_NUM_THREADS": "7",
             "CONTEXTLENS_HOSTS": "lens.example.org"}  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    plan = plan_of()
    assert {name: plan.environ[name] for name in given} == given


def test_opened_to_the_network_it_answers_to_the_machines_names_and_to_many_visitors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a name in that setting the app would take everybody for the one on its machine."""
    monkeypatch.setenv("CONTEXTLENS_HOSTS", "lens.example.org")
    plan = plan_of(host="0.0.0.0")
    hosts = Settings.from_env(plan.environ).hosts
    assert {"lens.example.org", "localhost", "127.0.0.1", socket.gethostname().lower()} <= set(
        hosts
    )
    assert plan.listen[0].startswith("0.0.0.0:")


def test_on_this_machine_alone_there_is_one_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTEXTLENS_HOSTS", raising=False)
    assert "CONTEXTLENS_HOSTS" not in plan_of(host="localhost").environ


def test_uploads_are_bounded_by_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_MAX_UPLOAD_MB", "7")
    plan = plan_of()
    argv = plan.app(0).argv
    assert plan.max_upload_mb == 7
    assert argv[argv.index("--server.maxUploadSize") + 1] == "7"
