"""The wheel by itself: installed beside its dependencies, it opens a file from another folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.screens import DESK
from tests.browser.tabs import Tab
from tests.browser.visit import Visit
from tests.support.app_server import ROOT, AppServer
from tests.support.ports import free_port

pytestmark = pytest.mark.browser

SECONDS = 120
APP = re.compile(r"contextlens/app/(app\.py|main\.py|pages/|\.streamlit/)")
ROWS = "review,stars\n" + "".join(f"I liked the film number {i}.,{i % 2}\n" for i in range(12))


@pytest.fixture(scope="module")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and this one's other packages."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder_name in (".ci", ".streamlit", "components", "pages"):
        shutil.copytree(ROOT / folder_name, source / folder_name, ignore=ignored)
    for name in ("app.py", "main.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    apart = {**os.environ, "PYTHONPATH": ""}  # a checkout on the path counts as installed
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
    subprocess.run(build, check=True, env=apart)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    package = files_of(source / "components")
    scripts = {f"contextlens/app/{name}" for name in files_of(source)}
    assert names == package | {name for name in scripts if APP.match(name)}
    venv.create(folder / "env", with_pip=False)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    into = ["--python", str(programs / "python"), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *into], check=True, env=apart)
    (site,) = (folder / "env").glob("**/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    return programs


def files_of(folder: Path) -> set[str]:
    """The paths of the files in a folder and in those below it."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def environment(app_settings: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **app_settings, "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}


@pytest.fixture
def server(bin_folder: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[AppServer]:
    """`contextlens reviews.csv` in a folder with that file alone."""
    port, log = free_port(), tmp_path / "log.txt"
    (tmp_path / "reviews.csv").write_text(ROWS)
    asked = ["reviews.csv", "--text", "review", "--label", "stars", "--port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(bin_folder / "contextlens"), *asked, "--no-browser"],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = AppServer("wheel", f"http://localhost:{port}", process, log)
    try:
        server.wait()
        yield server
    finally:
        server.stop()


def test_a_file_is_on_the_map_and_the_service_can_be_imported(
    server: AppServer,  # first, so that it ends last
    take: Callable[..., Tab],
    bin_folder: Path,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    said = server.log.read_text(encoding="utf-8")
    address = said.split("It opens on ")[1].split()[0]
    tab = take(server.address, **DESK)
    here = Visit(tab.page, server.address, tab.runs)
    here.goto(address.removeprefix(server.address))
    expect(here.main.get_by_role("combobox", name="Texts")).to_have_value("reviews.csv")
    expect(here.main.get_by_text("reviews.csv: 12 sentences")).to_be_visible()
    here.page.wait_for_selector(".stMain .js-plotly-plot .main-svg", timeout=SECONDS * 1000)
    here.settle()
    assert "stars" in here.main.inner_text()
    assert "ERROR" not in server.log.read_text(encoding="utf-8")
    code = (
        "import contextlens; print(contextlens.__file__); "
        "print(contextlens.open_service().load('all-MiniLM-L6-v2').n_layers)"
    )
    command = [str(bin_folder / "python"), "-c", code]
    answer = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    path, n_layers = answer.stdout.split()
    assert Path(path).is_relative_to(bin_folder.parent)
    assert n_layers == "6"
