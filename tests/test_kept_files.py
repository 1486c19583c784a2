"""Every file that the app keeps, cut to nothing and to half: made again, or refused in a sentence.

Those of stored corpora are tried in `tests/corpus/store`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numba
import pytest
from numba.core.caching import NullCache

from contextlens.core import EncoderService
from contextlens.core.encoder import devices
from contextlens.core.errors import StateError
from contextlens.core.hub import fetch
from contextlens.maps import compiled
from contextlens.ui.models import tasks
from contextlens.ui.state.address import from_json, to_json
from contextlens.ui.state.view import DEFAULT
from tests.support.hub_server import hub_server

Use = Callable[[Path], object]
"""Makes the files of a folder where they are not there, reads them where they are."""


def add(first: float, second: float) -> float:
    return first + second


@pytest.fixture
def uses(
    monkeypatch: pytest.MonkeyPatch, open_with: Callable[..., EncoderService], tiny_root: Path
) -> dict[str, Use]:
    """The code that keeps files, by their kind."""

    def code(folder: Path) -> object:
        with compiled.umap_functions():
            monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
        monkeypatch.setattr(compiled, "_cleared", set())  # as at a start of the process
        function = numba.njit(cache=True)(add)
        assert not isinstance(function._cache, NullCache)
        return function(1.0, 2.0), function(1, 2)

    def measures(folder: Path) -> object:
        service = open_with()
        card = service.load("folder:bert")
        tasks.keep_measures(card, service, folder)
        paths = tasks.baseline_path(card, folder), tasks.ruler_path(card, folder)
        return [path.read_bytes() for path in paths]

    def precision(folder: Path) -> object:
        devices.fast_precision.__wrapped__(folder)
        return devices._read(folder / devices.FILE) is not None

    def model(folder: Path) -> object:
        name = "org/tiny-bert"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        with hub_server({name: tiny_root / "bert"}) as server:
            files = fetch(
                name, endpoint=server.endpoint, allow_downloads=True, cache_dir=folder
            ).folder
        return {path.name: path.read_bytes() for path in files.iterdir()}

    return {"code": code, "measures": measures, "precision": precision, "model": model}


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.5], ids=["to nothing", "to half"])
@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("code", "*.nbi"),
        ("code", "*.nbc"),
        ("measures", "*"),
        ("precision", "*"),
        ("model", "*"),
    ],
)
def test_a_kept_file_that_is_cut_is_made_again(
    uses: dict[str, Use], what: str, pattern: str, share: float, tmp_path: Path
) -> None:
    use = uses[what]
    before = use(tmp_path)
    paths = [path for path in tmp_path.rglob(pattern) if path.is_file()]
    assert paths
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
    assert use(tmp_path) == before
    assert use(tmp_path) == before


@pytest.mark.parametrize("share", [0.0, 0.5], ids=["to nothing", "to half"])
def test_a_state_file_that_is_cut_is_refused_in_a_sentence(share: float) -> None:
    text = to_json(DEFAULT)
    with pytest.raises(StateError, match=r"not a view that Contextlens wrote, or it was changed"):
        from_json(text[: int(share * len(text))])
