"""Files of `make serve-app` for nginx and supervisord, and what it refuses to start."""

from __future__ import annotations

import configparser
import os
import re
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from contextlens.core import Settings
from contextlens.core.errors import SettingsError
from contextlens.ui.processes.__main__ import (
    MOST,
    environment,
    nginx_path,
    usable,
    write_configuration,
)
from tests.support.ports import free_port

ROOT = Path(__file__).parents[3]
LOGGED = {
    *("time_iso8601", "remote_addr", "method", "place", "status", "body_bytes_sent"),
    *("request_time", "answered"),
}
"""The log's variables: none holds a visitor's own words."""


@pytest.fixture
def nginx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name, which is found but not started."""
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)


@pytest.fixture
def written(nginx: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with both files, for three processes and uploads of 5 MB."""
    monkeypatch.setenv("CONTEXTLENS_MAX_UPLOAD_MB", "5")
    write_configuration(tmp_path, ["127.0.0.1", "::1"], 8501, [8502, 8503, 8504])
    return tmp_path


def test_the_log_says_nothing_that_a_visitor_wrote(written: Path) -> None:
    text = (written / "nginx.conf").read_text()
    (form,) = re.findall(r"log_format (.*?);", text, re.DOTALL)
    assert set(re.findall(r"\$(\w+)", form)) == LOGGED
    assert text.count("access_log ") == 1
    assert "error_log stderr emerg;" in text  # anything less quotes the request
    assert "|meaning|" in text  # pages have names


def test_files_as_large_as_is_allowed_pass_nginx_and_the_processes(written: Path) -> None:
    assert "client_max_body_size 6m;" in (written / "nginx.conf").read_text()
    assert " --server.maxUploadSize 5\n" in (written / "supervisord.conf").read_text()


def test_nginx_listens_where_visitors_come_and_the_processes_behind_it(written: Path) -> None:
    text = (written / "nginx.conf").read_text()
    assert re.findall(r"listen (.*);", text) == ["127.0.0.1:8501", "[::1]:8501"]
    assert set(re.findall(r"server (\S+) max_fails", text)) == {
        "127.0.0.1:8502", "127.0.0.1:8503", "127.0.0.1:8504",
    }  # fmt: skip


def test_the_processes_listen_on_this_machine_alone_and_start_again(written: Path) -> None:
    read = configparser.RawConfigParser(inline_comment_prefixes=(" ;",))
    read.read(written / "supervisord.conf")
    app = read["program:app"]
    assert (app["numprocs"], app["numprocs_start"]) == ("3", "8502")
    assert "--server.port %(process_num)d --server.address 127.0.0.1 " in app["command"]
    assert {app["autorestart"], read["program:nginx"]["autorestart"]} == {"true"}


def refusal(*options: str, **environ: str) -> str:
    """The output as the program refuses."""
    done = subprocess.run(
        [sys.executable, "-m", "contextlens.ui.processes", *options],
        cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode
    return done.stdout + done.stderr


@pytest.mark.slow
def test_what_cannot_be_started_is_refused_in_a_sentence() -> None:
    assert f"1 to {MOST} processes take the ports" in refusal("--processes", "0")
    assert "PROCESSES=4 PORT=65533: 1 to" in refusal("--processes", "4", "--port", "65533")
    assert "invalid int value: 'two'" in refusal("--processes", "two")
    port = free_port(3)
    with closing(socket.create_server(("127.0.0.1", port + 2))):
        assert f"Port {port + 2} of 127.0.0.1 is in use" in refusal("--port", str(port))
    assert "CONTEXTLENS_MAX_UPLOAD_MB" in refusal(CONTEXTLENS_MAX_UPLOAD_MB="many")


@pytest.mark.parametrize("host", ["192.0.2.1", "a name.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match=f"Port 8501 of {host} is in use, or is not of this"):
        usable(host, 8501)


def test_without_nginx_its_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("contextlens.ui.processes.__main__._SYSTEM_FOLDERS", ())
    with pytest.raises(SettingsError, match="sudo apt-get install nginx-light"):
        nginx_path()


def test_the_processes_share_a_secret_and_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "CONTEXTLENS_HOSTS", "STREAMLIT_SERVER_COOKIE_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    one, other = (environment("localhost", ["127.0.0.1", "::1"], n) for n in (3, 2))
    assert len(one["STREAMLIT_SERVER_COOKIE_SECRET"]) == 64
    assert one["STREAMLIT_SERVER_COOKIE_SECRET"] != other["STREAMLIT_SERVER_COOKIE_SECRET"]
    assert (one["OMP_NUM_THREADS"], other["OMP_NUM_THREADS"]) == ("2", "4")
    assert "CONTEXTLENS_HOSTS" not in one  # there is one visitor, on this machine


def test_what_the_operator_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"STREAMLIT_SERVER_COOKIE_SECRET": "own", "OMP_NUM_THREADS": "7",
             "CONTEXTLENS_HOSTS": "lens.example.org"}  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    environ = environment("localhost", ["127.0.0.1"], 2)
    assert {name: environ[name] for name in given} == given


def test_opened_to_the_network_it_answers_to_the_machines_names_and_to_many_visitors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a name in that setting the app would take everybody for the one on its machine."""
    monkeypatch.setenv("CONTEXTLENS_HOSTS", "lens.example.org")
    environ = environment("0.0.0.0", ["0.0.0.0"], 2)
    hosts = set(Settings.from_env(environ).hosts)
    assert {"lens.example.org", "localhost", "127.0.0.1", socket.gethostname().lower()} <= hosts


@pytest.mark.slow
def test_where_a_process_cannot_be_started_everything_ends_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here nginx, four times in a row: whoever supervises the server, as systemd, hears of it."""
    program = tmp_path / "nginx"
    program.write_text("#!/bin/sh\necho the reason\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    said = refusal("--processes", "1", "--port", str(free_port(2)), TMPDIR=tempfile.gettempdir())
    assert "could not be started again" in said
    assert said.count("the reason") == 4
