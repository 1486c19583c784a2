"""Set-up as a newcomer meets it: the Makefile's sentences, README and configuration."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from streamlit import config as streamlit_config

from contextlens.core import BUNDLED_ID, Settings
from tests.support.fresh import fresh_show
from tests.support.measured import measured_data
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONFIG = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "-C", str(ROOT), *arguments],
        env={name: value for name, value in env.items() if name not in {"PORT", "MFLAGS"}},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _localhosts() -> list[str]:
    found = []
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family) as probe:
                probe.bind((address, 0))
        except OSError:
            continue
        found.append(address)
    return found


# --- make run ------------------------------------------------------------------------------


@pytest.mark.parametrize("address", _localhosts())
def test_a_port_in_use_is_named_with_a_way_out(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.create_server((address, 0), family=family)) as server:
        port = server.getsockname()[1]
        answer = _make("run", f"PORT={port}")
    assert answer.returncode != 0
    assert f"Port {port} is in use. Stop what uses it, or choose another: make run PORT=" in (
        answer.stderr
    )
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("port", ["abc", "0", "65536", "-1", "8501.5", "٨٥٠١", "1; exit 0"])
def test_a_port_that_is_none_meets_a_sentence(port: str) -> None:
    answer = _make("run", f"PORT={port}")
    assert answer.returncode != 0
    assert f"PORT={port} is not a port. Choose a whole number" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_host_of_another_machine_meets_a_sentence() -> None:
    answer = _make("run", "HOST=192.0.2.1", f"PORT={free_port()}")
    assert answer.returncode != 0
    assert "HOST=192.0.2.1 is not an address of this machine." in answer.stderr


def test_afree_port_passes_the_check() -> None:
    answer = _make("port", f"PORT={free_port()}")
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_host_of_the_environment_does_not_open_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "0.0.0.0")
    answer = _make("--print-data-base", "--dry-run", "run", f"PORT={free_port()}").stdout
    assert "\nHOST = localhost\n" in answer
    assert 'contextlens open --host "$HOST"' in answer


def test_no_browser_can_make_streamlit_write_into_the_checkout() -> None:
    """Its message `install_skills` writes `.agents/` and `.claude/`, but where it is headless."""
    code = "from streamlit import config as c; print(c.get_option('server.headless'))"
    env = {**os.environ, "DISPLAY": ":0"}
    for folder in (ROOT, ROOT / "docs"):
        script = f"c._main_script_path = {str(ROOT / 'app.py')!r}; " if folder != ROOT else ""
        started = code.replace("; ", f"; {script}")
        done = subprocess.run(
            [sys.executable, "-c", started], cwd=folder, env=env, capture_output=True, text=True
        )
        assert done.stdout == "True\n", done.stderr


def test_an_unfit_python_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    answer = _make("-C", str(tmp_path), "port", "PYTHON=/nowhere/python3")
    assert answer.returncode != 0
    assert "PYTHON=/nowhere/python3 is not a Python 3.11, 3.12 or 3.13." in answer.stderr


# --- what is installed ----------------------------------------------------------------------


def test_the_index_for_torch_brings_nothing_else() -> None:
    recipe = _make("-n", "-W", "pyproject.toml", ".venv/.dev", "INDEX=https://index.example").stdout
    installs = recipe.replace("\\\n", "").split(" -m pip install ")[1:]
    assert len(installs) == 6
    first, *others = installs
    assert re.search(r"--no-deps --extra-index-url \"\$INDEX\"\s+\"\$\(grep '\^torch=='", first)
    for other in others:
        assert "index-url" not in other
        assert "--require-hashes" in other or "-e ." in other or '"torch==$torch"' in other


# --- README, licence -----------------------------------------------------------------------


def test_readme_states_the_supported_pythons() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert PYPROJECT["project"]["requires-python"] == ">=3.11,<3.14"
    assert "Python 3.11, 3.12 or 3.13" in text


def test_the_command_for_a_class_sets_three_settings_that_are_allowed() -> None:
    text = (ROOT / "docs/deploy.md").read_text(encoding="utf-8").partition("## A class")[2]
    command = text.partition("```sh\n")[2].partition("```")[0]
    set_, _, target = command.partition(" make ")
    given = dict(part.split("=", 1) for part in set_.split())
    allowed = Settings.from_env(given)
    assert allowed.models == (BUNDLED_ID,)
    assert not allowed.allow_downloads
    assert allowed.max_upload_bytes < Settings().max_upload_bytes
    assert len(given) == 3
    assert target.split() == ["run", "HOST=0.0.0.0"]


def test_licence_is_the_full_apache_text() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    for part in ("Version 2.0, January 2004", "9. Accepting Warranty", "APPENDIX: How to apply"):
        assert part in text


# --- what the files may not name -------------------------------------------------------------


def _project_files() -> list[Path]:
    """Files that git tracks or would add; in an unpacked archive, all but made ones."""
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"]
    options = ["--cached", "--others", "--exclude-standard"]
    if (ROOT / ".git").exists():
        answer = subprocess.run([*command, *options], capture_output=True, check=True)
        names = answer.stdout.decode().split("\0")
        paths = [ROOT / name for name in names if name]
    else:
        made = {".venv", "__pycache__", "build", ".hypothesis", ".mypy_cache", ".ruff_cache"}
        paths = [p for p in ROOT.rglob("*") if not made & set(p.relative_to(ROOT).parts)]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<![\w./~-])/wor" + "k/",  # split, so that this file does not match itself
        "pypi" + r"\.org",
        "python" + r"hosted\.",
        "download" + r"\.pytorch\.",
        r"conda\." + "anaconda",
    ],
)
def test_no_file_names_a_private_path_or_a_registry_host(pattern: str) -> None:
    paths = _project_files()
    assert ROOT / "pyproject.toml" in paths
    expression = re.compile(pattern.encode())
    hits = [str(path.relative_to(ROOT)) for path in paths if expression.search(path.read_bytes())]
    assert hits == []


def test_a_checkout_has_what_every_system_can_have() -> None:
    """No links, which are text files on Windows, and no two names that differ by case alone."""
    files = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    own = [path.relative_to(ROOT) for path in files if not {".git", "build"} & {*path.parts}]
    assert [path for path in own if (ROOT / path).is_symlink() and path.name != ".venv"] == []
    assert len({path.as_posix().casefold() for path in own}) == len(own)


# --- .streamlit/config.toml ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "option", "value"),
    [
        ("browser", "gatherUsageStats", False),
        ("server", "address", "localhost"),
        ("server", "showEmailPrompt", False),
        ("server", "maxUploadSize", 100),
        ("server", "fileWatcherType", "none"),
        ("client", "showErrorDetails", "none"),
        ("client", "showErrorLinks", False),
        ("client", "showSidebarNavigation", False),
        ("client", "allowedOrigins", []),
        ("client", "toolbarMode", "viewer"),
        ("runner", "magicEnabled", False),
    ],
)
def test_configuration_keeps_private_and_safe(
    section: str, option: str, value: str | int | bool | list[str]
) -> None:
    assert CONFIG[section][option] == value


def test_configuration_leaves_the_cross_site_protections_on() -> None:
    assert (
        not {"enableCORS", "enableXsrfProtection", "corsAllowedOrigins"} & CONFIG["server"].keys()
    )


def _options(table: dict[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _options(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_streamlit_knows_every_option() -> None:
    known = set(streamlit_config.get_config_options())
    assert set(_options(CONFIG)) - known == set()


def test_chart_palettes_have_ten_colours() -> None:
    kinds = "chartCategoricalColors", "chartSequentialColors", "chartDivergingColors"
    for ground, kind in product(("light", "dark"), kinds):
        palette = CONFIG["theme"][ground][kind]
        assert len(set(palette)) == 10
        assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in palette)


def test_no_font_is_fetched() -> None:
    fonts = [value for name, value in CONFIG["theme"].items() if name.lower().endswith("font")]
    assert fonts == ["sans-serif", "monospace"]
    assert "fontFaces" not in CONFIG["theme"]


@pytest.mark.slow
def test_the_documented_python_prints_what_it_says(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = measured_data(tmp_path_factory, tmp_path_factory.mktemp("documented") / "data")
    monkeypatch.setenv("CONTEXTLENS_DATA_DIR", str(folder))
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    code = "".join(part.split("```")[0] for part in text.split("```python\n")[1:])
    with fresh_show():
        exec(compile(code, "python.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    claims = [line.split("  # ")[1] for line in code.splitlines() if "  # " in line]
    assert len(printed) == len(claims)
    for line, claim in zip(printed, claims, strict=True):
        if claim == "trustworthiness, continuity, recall":
            assert all(f"{name}=0.9" in line for name in ("trustworthiness", "continuity"))
        else:
            assert line in (claim, claim.split(":")[0])
